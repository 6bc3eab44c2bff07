// Edits on their way to the server. Each has a key of its own and an entry of its own in the browser's store, in which it
// stays until the server has acknowledged it: a closed tab, a dropped network or a restarted server loses nothing, a resend
// does no harm, and two tabs on one sheet do not overwrite each other's.
class EditQueue {
  // send(edit) resolves to "done", "refused" or "later"; changed(state) is called whenever the queue or its state changes.
  constructor(store, send, changed) {
    this.prefix = `${store}:`;
    this.send = send;
    this.changed = changed;
    this.state = "saved";
    this.delay = 0;
    this.timer = null;
    this.busy = false;
    this.edits = this.read();
    window.addEventListener("online", () => this.hurry());
    // Who comes back to this tab may have logged in again in another one.
    window.addEventListener("focus", () => this.hurry());
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

  add(edit) {
    // Later than the one before, even in the same millisecond or when the clock was set back.
    const at = Math.max(Date.now(), (this.edits.at(-1)?.at ?? 0) + 1);
    const whole = { ...edit, at, key: newKey() };
    this.edits.push(whole);
    try {
      localStorage.setItem(this.prefix + whole.key, JSON.stringify(whole));
    } catch {
      // A full or forbidden store: the edit still stands in memory and is sent.
    }
    if (this.timer) this.set(this.state); // the server did not answer just now; the timer tries it again
    else this.run();
    return whole.key;
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
    while (this.edits.length) {
      if (this.state !== "retrying") this.set("saving");
      const edit = this.edits[0];
      const outcome = await this.send(edit);
      if (outcome === "later") {
        this.delay = Math.min(Math.max(this.delay * 2, 1000), 15000);
        this.timer = setTimeout(() => this.run(), this.delay);
        this.set("retrying");
        break;
      }
      this.delay = 0;
      this.edits.shift();
      localStorage.removeItem(this.prefix + edit.key);
      this.set(this.edits.length ? "saving" : "saved");
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
