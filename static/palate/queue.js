// Edits on their way to the server. Each has a key of its own and an entry of its own in the browser's store, in which it
// stays until the server has acknowledged it: a closed tab, a dropped network or a restarted server loses nothing, a resend
// does no harm, and two tabs on one sheet do not overwrite each other's. What another tab has put there and does not get
// through, or has left there when it was closed, is sent by this one too.
//
// An edit with `held` is one that the server does not take as things stand: it is kept, and tried again when they may have
// changed.
class EditQueue {
  static PATIENCE = 4000; // ms until the edit of another tab is taken for one that does not get through

  // send(edit) resolves to "done", "held" or "later"; changed(state) is called whenever the queue or its state changes;
  // adopted(edits) when edits of another tab have come into it.
  constructor(store, send, changed, adopted) {
    this.prefix = `${store}:`;
    this.send = send;
    this.changed = changed;
    this.adopted = adopted;
    this.state = "saved";
    this.delay = 0;
    this.timer = null;
    this.busy = false;
    this.edits = this.read().map((edit) => ({ ...edit, held: false }));
    window.addEventListener("online", () => this.hurry());
    // Who comes back to this tab may have logged in again in another one, or the sheet may be open again.
    window.addEventListener("focus", () => {
      this.release();
      this.hurry();
    });
    setInterval(() => this.adopt(EditQueue.PATIENCE), EditQueue.PATIENCE);
  }

  // Edits that are on their way, or will be as soon as the server answers.
  get waiting() {
    return this.edits.filter((edit) => !edit.held);
  }

  get held() {
    return this.edits.filter((edit) => edit.held);
  }

  read() {
    try {
      return Object.keys(localStorage)
        .filter((name) => name.startsWith(this.prefix))
        .map((name) => JSON.parse(localStorage.getItem(name)))
        .sort((a, b) => a.at - b.at);
    } catch {
      return [];
    }
  }

  // Take over what other tabs have put into the store, if it has been there for so many ms.
  adopt(age = 0) {
    const known = new Set(this.edits.map((edit) => edit.key));
    const found = this.read().filter((edit) => !known.has(edit.key) && Date.now() - edit.at >= age);
    if (!found.length) return;
    this.edits = [...this.edits, ...found].sort((a, b) => a.at - b.at);
    this.adopted(found);
    if (!this.timer) this.run();
  }

  // Throw the held edits away.
  discard() {
    for (const edit of this.held) localStorage.removeItem(this.prefix + edit.key);
    this.edits = this.waiting;
  }

  // Let held edits be tried again.
  release(which = () => true) {
    const found = this.held.filter(which);
    for (const edit of found) edit.held = false;
    if (found.length && !this.timer) this.run();
  }

  add(edit) {
    // Later than the one before, even in the same millisecond or when the clock was set back.
    const at = Math.max(Date.now(), (this.edits.at(-1)?.at ?? 0) + 1);
    const whole = { ...edit, at, key: newKey() };
    this.edits.push(whole);
    this.keep(whole);
    if (this.timer) this.set(this.state); // the server did not answer just now; the timer tries it again
    else this.run();
    return whole.key;
  }

  keep(edit) {
    try {
      localStorage.setItem(this.prefix + edit.key, JSON.stringify(edit));
    } catch {
      // A full or forbidden store: the edit still stands in memory and is sent.
    }
  }

  hurry() {
    if (!this.timer) return;
    this.delay = 0;
    this.run();
  }

  async run() {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    this.timer = null;
    let edit;
    while ((edit = this.waiting[0])) {
      if (this.state !== "retrying") this.set("saving");
      const outcome = await this.send(edit);
      if (outcome === "later") {
        this.delay = Math.min(Math.max(this.delay * 2, 1000), 15000);
        this.timer = setTimeout(() => this.run(), this.delay);
        this.set("retrying");
        break;
      }
      this.delay = 0;
      if (outcome === "held") {
        edit.held = true;
        this.keep(edit);
      } else {
        this.edits.splice(this.edits.indexOf(edit), 1);
        localStorage.removeItem(this.prefix + edit.key);
      }
      this.set(this.waiting.length ? "saving" : this.edits.length ? "held" : "saved");
    }
    this.busy = false;
  }

  set(state) {
    this.state = state;
    this.changed(state);
  }
}

// A version-4 UUID. crypto.randomUUID exists only over HTTPS and on localhost.
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
