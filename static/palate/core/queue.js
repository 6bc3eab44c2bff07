// Edits on their way to the server: those made while one is on its way travel together after it. Each has a key of its own
// and an entry of its own in the browser's store, in which it stays until the server has acknowledged it: a closed tab, a
// dropped network or a restarted server loses nothing, a resend does no harm, and two tabs on one sheet do not overwrite each
// other's. What another tab has put there and does not get through, or has left there when it was closed, is sent by this one
// too. What is urgent does not wait for the answer to those before it: it takes them along once more, and whichever arrives
// first, the server has them in their order. The answer to the overtaken request is heard after the other, if it is needed then.
//
// An edit with `held` is one that the server does not take as things stand: it is kept, and tried again when they may have
// changed.

import { newKey } from "./uuid.js";

/** @typedef {[id: string, code: string, seen: string]} Change the cell, what it is to hold, what the page saw there before */
/**
 * @typedef {object} NewEdit
 * @property {Change[]} changes
 * @property {boolean} restore it takes a step back, or does it again
 * @property {string | null} step the key of the step that it restores
 * @property {boolean} [reopen] it corrects a submitted document, which is opened for it
 */
/** @typedef {NewEdit & {key: string, at: number, held?: boolean}} Edit */
/** @typedef {"saved" | "saving" | "retrying" | "held"} QueueState */
/** @typedef {(edit: Edit, outcome: "done" | "held") => void} Arrived */
/** @typedef {(edits: Edit[], arrived: Arrived, turn: () => Promise<void> | undefined) => Promise<void>} Send */
/**
 * A place that keeps texts by name, and may be full or forbidden: then it keeps nothing.
 * @typedef {object} Store
 * @property {(prefix: string) => string[]} names
 * @property {(name: string) => string | null} read
 * @property {(name: string, text: string) => boolean} write
 * @property {(name: string) => void} remove
 */

export class EditQueue {
  static PATIENCE = 4000; // ms until the edit of another tab is taken for one that does not get through
  static TOGETHER = 50; // edits that travel together at most
  static QUIET = 40; // ms without a new edit after which those that wait for an answer set out together,
  static GATHERING = 150; // but no later than so many ms after that answer

  /**
   * @param {object} options
   * @param {Store} options.store
   * @param {string} options.name of the entries in the store
   * @param {Send} options.send waits with the server's answer until it is its turn, then tells of each that has arrived, in
   *   their order
   * @param {(state: QueueState) => void} options.changed called whenever the queue or its state changes
   * @param {(edits: Edit[]) => void} options.adopted when edits of another tab have come into it
   */
  constructor({ store, name, send, changed, adopted }) {
    this.store = store;
    this.prefix = `${name}:`;
    this.send = send;
    this.changed = changed;
    this.adopted = adopted;
    /** @type {QueueState} */
    this.state = "saved";
    this.delay = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.busy = false;
    this.added = 0; // when the last edit came
    this.isUrgent = false;
    /** @type {() => void} */
    this.wake = () => {};
    /** @type {(() => void) | null} */
    this.overtake = null; // sends all that waits behind a request that has no answer yet
    this.underway = 0; // how many edits that request has
    /** @type {Edit[]} */
    this.edits = this.read().map((edit) => ({ ...edit, held: false }));
  }

  // Edits that are on their way, or will be as soon as the server answers.
  get waiting() {
    return this.edits.filter((edit) => !edit.held);
  }

  get held() {
    return this.edits.filter((edit) => edit.held);
  }

  /** @returns {Edit[]} */
  read() {
    /** @type {Edit[]} */
    const edits = [];
    for (const name of this.store.names(this.prefix)) {
      try {
        const edit = JSON.parse(this.store.read(name) ?? "");
        if (Array.isArray(edit?.changes)) edits.push(edit);
      } catch {} // gone meanwhile, or somebody else's entry: the others are read all the same
    }
    return edits.sort((a, b) => a.at - b.at);
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
    for (const edit of this.held) this.store.remove(this.prefix + edit.key);
    this.edits = this.waiting;
  }

  // Let held edits be tried again.
  release(which = (/** @type {Edit} */ _edit) => true) {
    const found = this.held.filter(which);
    for (const edit of found) edit.held = false;
    if (found.length && !this.timer) this.run();
  }

  /**
   * Gives the key of the edit.
   * @param {NewEdit} edit
   */
  add(edit) {
    // Later than the one before, even in the same millisecond or when the clock was set back.
    const at = Math.max(Date.now(), (this.edits.at(-1)?.at ?? 0) + 1);
    const whole = { ...edit, at, key: newKey() };
    this.edits.push(whole);
    this.added = Date.now();
    this.keep(whole);
    if (this.timer)
      this.set(this.state); // the server did not answer just now; the timer tries it again
    else this.run();
    return whole.key;
  }

  // Where the store does not take it, the edit still stands in memory and is sent.
  /** @param {Edit} edit */
  keep(edit) {
    this.store.write(this.prefix + edit.key, JSON.stringify(edit));
  }

  hurry() {
    if (!this.timer) return;
    this.delay = 0;
    this.run();
  }

  /**
   * What waits sets out as soon as it can: nothing more belongs to it.
   * @param {{overtakes?: boolean}} [how] overtakes: before the answer to those before it
   */
  flush({ overtakes = false } = {}) {
    const n = this.waiting.length;
    if (overtakes && this.overtake && this.underway < n && n <= EditQueue.TOGETHER) return this.overtake();
    this.isUrgent = true;
    this.wake();
  }

  // Whoever types fast goes on typing meanwhile: fewer requests, and the last answer is saved earlier.
  async gather() {
    const end = Date.now() + EditQueue.GATHERING;
    while (!this.isUrgent) {
      const rest = Math.min(this.added + EditQueue.QUIET, end) - Date.now();
      if (rest <= 0) break;
      await new Promise((resolve) => {
        this.wake = () => resolve(undefined);
        setTimeout(resolve, rest);
      });
    }
    this.isUrgent = false;
  }

  async run() {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    this.timer = undefined;
    while (!this.timer && this.waiting.length) {
      if (this.state !== "retrying") this.set("saving");
      if (await this.deliver()) {
        if (this.waiting.length) await this.gather();
        continue;
      }
      this.delay = Math.min(Math.max(this.delay * 2, 1000), 15000);
      this.timer = setTimeout(() => this.run(), this.delay);
      this.set("retrying");
    }
    this.busy = false;
  }

  // Send the first of those that wait, and what overtakes them. Gives whether all of it has arrived.
  async deliver() {
    /** @param {Edit} edit */
    const hasArrived = (edit) => edit.held || !this.edits.includes(edit);
    /**
     * @param {Edit[]} edits
     * @param {() => Promise<void> | undefined} [turn]
     */
    const send = (edits, turn = () => overtaking) =>
      this.send(edits, (edit, outcome) => this.settle(edit, outcome), turn);
    let edits = this.waiting.slice(0, EditQueue.TOGETHER);
    this.underway = edits.length;
    /** @type {Promise<void> | undefined} */
    let overtaking;
    const overtaken = new Promise((resolve) => {
      this.overtake = () => {
        this.overtake = null;
        edits = this.waiting;
        overtaking = send(edits, () => undefined);
        resolve(undefined);
      };
    });
    const first = send(edits);
    await Promise.race([first, overtaken]);
    this.overtake = null;
    await overtaking;
    if (overtaking && !edits.every(hasArrived)) await first; // it may have got through with its part
    return edits.every(hasArrived);
  }

  /**
   * @param {Edit} edit that has arrived
   * @param {"done" | "held"} outcome
   */
  settle(edit, outcome) {
    if (!this.edits.includes(edit)) return; // it has arrived before, with those that overtook it
    this.delay = 0;
    if (outcome === "held") {
      edit.held = true;
      this.keep(edit);
    } else {
      this.edits.splice(this.edits.indexOf(edit), 1);
      this.store.remove(this.prefix + edit.key);
    }
    this.set(this.waiting.length ? "saving" : this.edits.length ? "held" : "saved");
  }

  /** @param {QueueState} state */
  set(state) {
    this.state = state;
    this.changed(state);
  }
}
