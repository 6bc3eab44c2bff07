// Saving: edits go to the server one after the other until each is acknowledged, and every cell shows how far its own is.
//
// An edit is {key, at, changes: [[id, value, what the page saw there before]], restore, step}. Where the database holds
// neither what was seen nor what is wanted, somebody has answered from elsewhere: both values are shown, and the choice of
// this page is kept in the browser until its user has decided.
class Saving {
  constructor({ cells, config, words, refuse, shown, discard }) {
    Object.assign(this, { cells, config, words, refuse, shown, discard });
    this.acknowledged = []; // listeners: (edit, answer) once the server has an edit, or has refused it
    this.changed = []; // listeners: (state of the queue)
    this.slow = null;
    this.loggedOut = false;
    this.closed = null; // while the sheet is: what the page said of locked cells before, and the documents that it locked
    this.conflicts = new Map(); // id -> the value that was chosen here
    this.conflictStore = `palate:conflict:${config.store}:`;
    this.queue = new EditQueue(
      `palate:edit:${config.store}`,
      (edit) => this.send(edit),
      (state) => this.show(state),
      (edits) => edits.forEach((edit) => this.again(edit)),
    );
    this.others = "BroadcastChannel" in window ? new BroadcastChannel(`palate:${config.store}`) : null;
    this.others?.addEventListener("message", ({ data }) => this.takeOver(data));
    discard.addEventListener("click", () => {
      if (!window.confirm(words.discard)) return;
      this.queue.discard();
      location.reload();
    });
  }

  // Paint what an earlier visit left: edits on their way, and conflicts that nobody has decided.
  start() {
    for (const edit of this.queue.edits) this.again(edit);
    for (const name of Object.keys(localStorage)) {
      if (!name.startsWith(this.conflictStore)) continue;
      const cell = this.cells.get(name.slice(this.conflictStore.length));
      if (cell) this.contest(cell, localStorage.getItem(name));
    }
    this.queue.run();
  }

  add(changes, { restore = false, step = null } = {}) {
    for (const [id] of changes) {
      this.decide(id);
      this.cells.mark(this.cells.get(id), "saving");
    }
    return this.queue.add({ changes, restore, step });
  }

  // Paint an edit that is still on its way.
  again(edit) {
    const known = edit.changes.map(([id, value]) => [this.cells.get(id), value]).filter(([cell]) => cell);
    this.cells.apply(known);
    const failed = edit.held || this.queue.state === "retrying";
    for (const [cell] of known) this.cells.mark(cell, failed ? "failed" : "saving");
  }

  // --- one edit -------------------------------------------------------------------------------------------------------

  async send(edit) {
    const body = new URLSearchParams({ key: edit.key, restore: edit.restore ? "1" : "", changes: JSON.stringify(this.wire(edit)) });
    let response, answer;
    try {
      response = await fetch(this.config.record, { method: "POST", body, headers: this.headers(), signal: AbortSignal.timeout(20000) });
      if (response.headers.get("Content-Type")?.startsWith("application/json")) answer = await response.json();
    } catch {
      return "later"; // no network, no server, or too slow
    }
    if (response.ok && answer?.key === edit.key) {
      // What other parts have said stays: how many cells of a range were left out, say.
      if (answer.refused.length) this.refuse(answer.refused.join(" "));
      else if (this.loggedOut) this.refuse("");
      this.loggedOut = false;
      this.others?.postMessage(answer);
      return this.hold(edit, answer);
    }
    if (response.status === 409 && answer) {
      this.refuse(answer.message);
      // What is not understood: the cells say again what they said before.
      const nothing = { columns: [], states: {}, conflicts: [], refused: [answer.message], held: answer.held || [], key: edit.key };
      return this.hold(edit, nothing);
    }
    this.loggedOut = isLoggedOut(response, this.config);
    if (this.loggedOut) this.refuse(this.words.loggedOut);
    return "later";
  }

  // Paint the answer. The part that the server does not take now stays in the edit, and in its cells.
  hold(edit, answer) {
    const held = new Set(edit.restore ? [] : answer.held.map(String));
    const part = edit.changes.filter(([id]) => held.has(id.split("-")[1]));
    this.close(Boolean(answer.closed));
    this.take(edit, answer, part.length ? { ...edit, changes: part, held: true } : null);
    edit.changes = part.length ? part : edit.changes;
    return part.length ? "held" : "done";
  }

  // The manager has closed the sheet while this page was open, or opened it again.
  close(closed) {
    if (closed === Boolean(this.closed)) return;
    const { documents, locked } = this.cells;
    const before = this.closed;
    this.closed = closed ? { locked: this.words.locked, documents: documents.filter((one) => !locked.has(one)) } : null;
    this.words.locked = closed ? this.words.closed : before.locked;
    for (const assignment of (this.closed || before).documents) this.cells.lock(assignment, closed);
  }

  wire(edit) {
    return edit.changes.map(([id, value, seen]) => {
      const [, assignment, column, question] = id.split("-");
      return [Number(assignment), Number(column), Number(question), value, seen];
    });
  }

  // Read anew each time: a login in another tab changes the token, and may be somebody else's.
  headers() {
    const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] || "";
    return { "X-CSRFToken": token, "X-Palate-User": this.config.user };
  }

  // Paint what the server has, and on top of it the newer edits that are still on their way.
  take(edit, answer, kept) {
    const later = [...(kept ? [kept] : []), ...this.queue.edits.filter((other) => other !== edit)];
    const told = new Set(this.paint(answer));
    for (const [id, , seen] of edit.changes) {
      const cell = this.cells.get(id);
      if (!cell) continue;
      this.cells.mark(cell, "");
      if (!told.has(cell.group)) {
        this.cells.put(cell, seen);
        this.cells.switch(cell.group);
        told.add(cell.group);
      }
    }
    if (!edit.restore)
      for (const [id, mine] of answer.conflicts) if (this.cells.get(id)) this.contest(this.cells.get(id), mine);
    for (const other of later) if (other.changes.some(([id]) => told.has(this.cells.get(id)?.group))) this.again(other);
    this.acknowledged.forEach((listener) => listener(edit, answer));
  }

  // What another tab of this browser has saved.
  takeOver(answer) {
    const told = new Set(this.paint(answer));
    for (const edit of this.queue.edits) if (edit.changes.some(([id]) => told.has(this.cells.get(id)?.group))) this.again(edit);
    this.acknowledged.forEach((listener) => listener(null, answer));
  }

  // {columns: [[assignment, column, {question: value}]]} as the database has them. Gives the groups of cells painted.
  paint({ columns }) {
    return columns.flatMap(([assignment, column, values]) => {
      const group = this.cells.groups.get(`${assignment}-${column}`);
      if (!group) return [];
      for (const cell of group) this.cells.put(cell, values[cell.question] || "");
      this.cells.switch(group);
      return [group];
    });
  }

  // --- both values ----------------------------------------------------------------------------------------------------

  // The database has one value and this page wants another: keep it until somebody decides.
  contest(cell, mine) {
    if (optionOf(cell.value) === optionOf(mine)) return this.decide(cell.id);
    this.conflicts.set(cell.id, mine);
    this.cells.mark(cell, "conflict");
    try {
      localStorage.setItem(this.conflictStore + cell.id, mine);
    } catch {
      // A full or forbidden store: it is shown as long as this page is open.
    }
    this.say();
  }

  decide(id) {
    if (!this.conflicts.delete(id)) return;
    localStorage.removeItem(this.conflictStore + id);
    this.cells.mark(this.cells.get(id), "");
    this.say();
  }

  // --- the state of the sheet -----------------------------------------------------------------------------------------

  show(state) {
    if (state === "retrying")
      for (const edit of this.queue.edits)
        for (const [id] of edit.changes) if (this.cells.get(id)) this.cells.mark(this.cells.get(id), "failed");
    clearTimeout(this.slow);
    if (state === "saving") this.slow = setTimeout(() => this.say(), 300); // mostly it is saved before, and nothing flickers
    else this.say();
    this.changed.forEach((listener) => listener(state));
  }

  say() {
    const contested = ["saved", "held"].includes(this.queue.state) && this.conflicts.size;
    const state = contested ? "conflict" : this.queue.state;
    const held = new Set(this.queue.held.flatMap((edit) => edit.changes.map(([id]) => id))).size;
    const sentence = contested ? this.words.conflicts.replace("{n}", contested) : this.words[state].replace("{n}", held);
    this.discard.hidden = !held;
    if (this.shown.textContent === sentence) return;
    this.shown.dataset.state = state;
    this.shown.textContent = sentence;
  }
}

// A login page came instead of an answer, or the login is another one than this page was made for.
const isLoggedOut = (response, config) =>
  response.status === 403 || (response.redirected && new URL(response.url).pathname === config.login);
