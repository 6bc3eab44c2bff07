// Saving: edits go to the server in their order until each is acknowledged, and every cell shows how far its own is.
//
// Where the database holds neither what was seen nor what is wanted, somebody has answered from elsewhere: both answers are
// shown, and the choice of this page is kept in the browser until its user has decided.

import { answerOf } from "../core/codes.js";
import { EditQueue } from "../core/queue.js";
import { fill } from "../core/sentences.js";
import { csrfToken, isJson, isLoggedOut, isOfAnother, PATIENCE } from "../page/requests.js";
import { browserStore } from "../page/store.js";

/** @typedef {import("../core/queue.js").Change} Change */
/** @typedef {import("../core/queue.js").Edit} Edit */
/** @typedef {import("../core/queue.js").QueueState} QueueState */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {[assignment: string | number, column: string | number, codes: Record<string, string>]} ColumnCodes question -> code */
/**
 * What the database holds, or another tab has heard of it.
 * @typedef {object} Told
 * @property {ColumnCodes[]} columns as they are now
 * @property {Record<string, string>} states assignment -> its state
 * @property {import("./doubts.js").ColumnDoubts[]} [warnings] of the columns that were looked at
 */
/**
 * The server's answer to an edit.
 * @typedef {object} Outcome
 * @property {string} key
 * @property {string[]} refused sentences
 * @property {(string | number)[]} held assignments that take nothing now
 * @property {[id: string, mine: string][]} conflicts
 * @property {boolean} [closed] the sheet is
 */
/** @typedef {Told & Outcome} Answer */
/**
 * A document that is submitted behind the last edits that it waits for.
 * @typedef {object} Rider
 * @property {string} assignment
 * @property {() => unknown[]} seen its answers, as this page shows them
 * @property {(answer: Submitted) => (() => void)} heard the server's answer, before those to the edits are heard; gives what is to be done after them
 */
/** @typedef {{state?: string, message?: string, columns?: ColumnCodes[], open?: [string, string][], done?: import("./sheet_done.js").Done}} Submitted */
/** @typedef {{key: string, message: string, held: (string | number)[]}} NotUnderstood an edit of which nothing was taken */
/** @typedef {{cells: Cells, config: DOMStringMap, words: Sentences, refuse: (sentence: string) => void, shown: HTMLElement, discard: HTMLElement}} Parts */

export class Saving {
  /** @param {Parts} parts */
  constructor({ cells, config, words, refuse, shown, discard }) {
    this.cells = cells;
    this.config = config;
    this.words = words;
    this.refuse = refuse;
    this.shown = shown;
    this.discard = discard;
    /** @type {((edit: Edit | null, answer: Answer | Told) => void)[]} */
    this.acknowledged = []; // listeners: once the server has an edit, or has refused it; null for one of another tab
    /** @type {((state: QueueState) => void)[]} */
    this.changed = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.slow = undefined;
    this.loggedOut = ""; // why nothing is taken from who is at this page, in a sentence that stays until something is
    this.isSubmitting = false; // the request on its way has a submission behind its edits
    /** @type {(edits: Edit[]) => Rider | null} */
    this.rider = () => null; // what is to be submitted behind these edits, in the same request
    /** @type {{locked: string, documents: string[]} | null} */
    this.closed = null; // while the sheet is: what the page said of locked cells before, and the documents that it locked
    this.isStale = false; // the page was made while the sheet was closed, and it is open: what is locked the server alone knows
    /** @type {Map<string, string>} */
    this.conflicts = new Map(); // id -> the code that was chosen here
    this.conflictStore = `palate:conflict:${config.store}:`;
    this.queue = new EditQueue({
      store: browserStore,
      name: `palate:edit:${config.store}`,
      send: (edits, arrived, turn) => this.send(edits, arrived, turn),
      changed: (state) => this.show(state),
      adopted: (edits) => {
        for (const edit of edits) this.again(edit);
      },
    });
    setInterval(() => this.queue.adopt(EditQueue.PATIENCE), EditQueue.PATIENCE);
    window.addEventListener("online", () => this.queue.hurry());
    // Who comes back to this tab may have logged in again in another one, or the sheet may be open again.
    window.addEventListener("focus", () => {
      this.queue.release();
      this.queue.hurry();
    });
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
    for (const name of browserStore.names(this.conflictStore)) {
      const cell = this.cells.get(name.slice(this.conflictStore.length));
      if (cell) this.contest(cell, browserStore.read(name) ?? "");
    }
    this.queue.run();
  }

  /**
   * Gives the key of the edit.
   * @param {Change[]} changes of cells that are here
   * @param {{restore?: boolean, step?: string | null, reopen?: boolean}} [how] reopen: a submitted document is opened for it
   */
  add(changes, { restore = false, step = null, reopen = false } = {}) {
    for (const [id] of changes) {
      this.decide(id);
      this.mark(id, "saving");
    }
    const key = this.queue.add({ changes, restore, step, ...(reopen ? { reopen } : {}) });
    if (this.queue.busy && this.rider(this.queue.waiting)) this.flush();
    return key;
  }

  // Nothing more belongs to what waits. Behind a submission it stays: as a correction it needs to know what became of that.
  flush() {
    this.queue.flush({ overtakes: !this.isSubmitting });
  }

  /**
   * @param {string} id
   * @param {import("./cells.js").MarkState} state
   */
  mark(id, state) {
    const cell = this.cells.get(id);
    if (cell) this.cells.mark(cell, state);
  }

  /**
   * Paint an edit that is still on its way.
   * @param {Edit} edit
   */
  again(edit) {
    const known = edit.changes.flatMap(([id, code]) => {
      const cell = this.cells.get(id);
      return cell ? [/** @type {[Cell, string]} */ ([cell, code])] : [];
    });
    this.cells.apply(known);
    const failed = edit.held || this.queue.state === "retrying";
    for (const [cell] of known) this.cells.mark(cell, failed ? "failed" : "saving");
  }

  // --- edits on their way ---------------------------------------------------------------------------------------------

  /**
   * @param {Edit[]} edits
   * @param {import("../core/queue.js").Arrived} arrived
   * @param {() => Promise<void> | undefined} turn
   */
  async send(edits, arrived, turn) {
    const wire = edits.map((edit) => {
      const { key, restore, reopen = false } = edit;
      return { key, restore, reopen, changes: this.wire(edit) };
    });
    const body = new URLSearchParams({ edits: JSON.stringify(wire) });
    const rider = edits.length === this.queue.waiting.length ? this.rider(edits) : null;
    this.isSubmitting = Boolean(rider);
    if (rider) {
      body.set("submit", rider.assignment);
      body.set("seen", JSON.stringify(rider.seen()));
    }
    const request = { method: "POST", body, headers: this.headers(), signal: AbortSignal.timeout(PATIENCE) };
    /** @type {Response} */
    let response;
    /** @type {(Answer | NotUnderstood)[] | undefined} */
    let answers;
    /** @type {Submitted | undefined} */
    let submitted;
    try {
      response = await fetch(/** @type {string} */ (this.config.record), request);
      if (isJson(response)) ({ answers, submitted } = await response.json());
    } catch {
      return; // no network, no server, or too slow
    }
    await turn();
    if (response.ok && answers?.every((answer, n) => answer.key === edits[n].key)) {
      this.hearLogin("");
      const after = rider && submitted ? rider.heard(submitted) : null;
      answers.forEach((answer, n) => {
        // What was overtaken has been heard of already.
        if (this.queue.edits.includes(edits[n])) arrived(edits[n], this.answered(edits[n], answer));
      });
      after?.();
      return;
    }
    this.hearLogin(this.withoutLogin(response));
  }

  /** @param {string} sentence */
  hearLogin(sentence) {
    if (sentence === this.loggedOut) return; // what else was said stays beside it
    this.loggedOut = sentence;
    this.refuse("");
  }

  /**
   * Whose login an answer misses, in a sentence; "" for none.
   * @param {Response} response
   */
  withoutLogin(response) {
    if (!isLoggedOut(response, this.config.login ?? "")) return "";
    return isOfAnother(response) ? this.words.anotherLogin : this.words.loggedOut;
  }

  /**
   * @param {Edit} edit
   * @param {Answer | NotUnderstood} answer
   */
  answered(edit, answer) {
    if ("message" in answer) {
      this.refuse(answer.message);
      // The cells say again what they said before.
      const { key, message, held } = answer;
      return this.hold(edit, { key, columns: [], states: {}, conflicts: [], refused: [message], held });
    }
    // What other parts have said stays: how many cells of a range were left out, say.
    if (answer.refused.length) this.refuse(answer.refused.join(" "));
    this.others?.postMessage(answer);
    return this.hold(edit, answer);
  }

  /**
   * Paint the answer. The part that the server does not take now stays in the edit, and in its cells.
   * @param {Edit} edit
   * @param {Answer} answer
   */
  hold(edit, answer) {
    const held = new Set(edit.restore ? [] : answer.held.map(String));
    const part = edit.changes.filter(([id]) => held.has(id.split("-")[1]));
    this.close(Boolean(answer.closed));
    this.take(edit, answer, part.length ? { ...edit, changes: part, held: true } : null);
    edit.changes = part.length ? part : edit.changes;
    return part.length ? "held" : "done";
  }

  /**
   * The manager has closed the sheet while this page was open, or opened it again.
   * @param {boolean} closed
   */
  close(closed) {
    this.isStale = !closed && this.cells.isClosed && !this.closed;
    if (closed === Boolean(this.closed)) return;
    if (!closed) this.refuse("");
    const { documents, locked } = this.cells;
    const open = documents.filter((one) => !locked.has(one));
    const { locked: said, documents: touched } = this.closed ?? { locked: this.words.locked, documents: open };
    this.closed = closed ? { locked: said, documents: touched } : null;
    this.words.locked = closed ? this.words.closed : said;
    this.cells.isClosed = closed;
    for (const assignment of touched) this.cells.lock(assignment, closed);
  }

  /**
   * An edit as it travels: [[assignment, column, question, code, code seen before]].
   * @param {Edit} edit
   */
  wire(edit) {
    return edit.changes.map(([id, code, seen]) => {
      const [, assignment, column, question] = id.split("-");
      return [Number(assignment), Number(column), Number(question), code, seen];
    });
  }

  // Also who this page was made for: a login in another tab may be somebody else's.
  headers() {
    return { "X-CSRFToken": csrfToken(), "X-Palate-User": this.config.user ?? "" };
  }

  /**
   * Paint what the server has, and on top of it the newer edits that are still on their way.
   * @param {Edit} edit
   * @param {Answer} answer
   * @param {Edit | null} kept the part of the edit that is held
   */
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
    // What its user has answered since, behind this edit, decides: the server says what becomes of that.
    const answered = new Set(later.flatMap(({ changes }) => changes.map(([id]) => id)));
    if (!edit.restore)
      for (const [id, mine] of answer.conflicts) {
        const cell = this.cells.get(id);
        if (cell && !answered.has(id)) this.contest(cell, mine);
      }
    this.over(told, later);
    for (const listener of this.acknowledged) listener(edit, answer);
  }

  /**
   * What another tab of this browser has saved.
   * @param {Told} told
   */
  takeOver(told) {
    this.over(new Set(this.paint(told)), this.queue.edits);
    for (const listener of this.acknowledged) listener(null, told);
  }

  /**
   * Edits are painted again over what they touch.
   * @param {Set<Cell[]>} painted groups of cells
   * @param {Edit[]} edits
   */
  over(painted, edits) {
    /** @param {string} id */
    const isTouched = (id) => {
      const cell = this.cells.get(id);
      return cell !== undefined && painted.has(cell.group);
    };
    for (const edit of edits) if (edit.changes.some(([id]) => isTouched(id))) this.again(edit);
  }

  /**
   * Gives the groups of cells painted.
   * @param {Told} told
   */
  paint({ columns }) {
    return columns.flatMap(([assignment, column, codes]) => {
      const group = this.cells.groups.get(`${assignment}-${column}`);
      if (!group) return [];
      for (const cell of group) this.cells.put(cell, codes[cell.question] || "");
      this.cells.switch(group);
      return [group];
    });
  }

  // --- both answers ---------------------------------------------------------------------------------------------------

  /**
   * The database has one answer and this page wants another: keep it until somebody decides.
   * @param {Cell} cell
   * @param {string} mine
   */
  contest(cell, mine) {
    if (answerOf(cell.code) === answerOf(mine)) {
      this.decide(cell.id);
      return;
    }
    this.conflicts.set(cell.id, mine);
    this.cells.mark(cell, "conflict");
    browserStore.write(this.conflictStore + cell.id, mine); // else it is shown as long as this page is open
    this.say();
  }

  /** @param {string} id */
  decide(id) {
    if (!this.conflicts.delete(id)) return;
    browserStore.remove(this.conflictStore + id);
    this.mark(id, "");
    this.say();
  }

  // --- the state of the sheet -----------------------------------------------------------------------------------------

  /** @param {QueueState} state */
  show(state) {
    if (state === "retrying")
      for (const edit of this.queue.edits) for (const [id] of edit.changes) this.mark(id, "failed");
    clearTimeout(this.slow);
    if (state === "saving")
      this.slow = setTimeout(() => this.say(), 300); // mostly it is saved before, and nothing flickers
    else this.say();
    for (const listener of this.changed) listener(state);
    if (this.isStale && (state === "saved" || state === "held")) location.reload();
  }

  say() {
    const contested = ["saved", "held"].includes(this.queue.state) ? this.conflicts.size : 0;
    const state = contested ? "conflict" : this.queue.state;
    const held = new Set(this.queue.held.flatMap((edit) => edit.changes.map(([id]) => id))).size;
    const { words } = this;
    const sentence = contested ? fill(words.conflicts, { n: contested }) : fill(words[state], { n: held });
    this.discard.hidden = !held;
    if (this.shown.textContent === sentence) return;
    this.shown.dataset.state = state;
    this.shown.textContent = sentence;
  }
}
