// Undo and redo over the whole sheet: the steps of this browser, kept in its store, so that they outlive a reload and are
// the same in every tab.

import { answerOf } from "./codes.js";

/** @typedef {import("./queue.js").Store} Store */
/** @typedef {{key: string, cells: [id: string, before: string, after: string][]}} NewStep cells: what rules and presets did included */
/** @typedef {NewStep & {at: number}} Step */
/**
 * What turns a step: it knows what the cells hold.
 * @template Cell
 * @typedef {object} Turner
 * @property {(step: Step, back: boolean) => boolean} fits the cells hold what the step left in them
 * @property {(step: Step) => string | undefined} lockOf the assignment that keeps the step waiting
 * @property {(step: Step, back: boolean) => Cell | null} restore gives the cell to go to; null where it does not fit
 */

export class Steps {
  static MOST = 200; // the oldest are forgotten

  /**
   * @param {Store} store
   * @param {string} name of the entry in the store
   */
  constructor(store, name) {
    this.store = store;
    this.name = name;
    /** @type {Step[]} */
    this.done = [];
    /** @type {Step[]} */
    this.undone = [];
    this.said = false; // that the last step waits
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.read();
  }

  // What the store holds, which another tab may have changed.
  read() {
    let kept = null;
    try {
      kept = JSON.parse(this.store.read(this.name) ?? "null");
    } catch {
      // Somebody else's entry.
    }
    this.done = kept?.done || [];
    this.undone = kept?.undone || [];
  }

  // After the paint: what is pressed comes first. Where the store does not take it, undo works until the page is left.
  keep() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.store.write(this.name, JSON.stringify({ done: this.done, undone: this.undone }));
    });
  }

  /** @param {NewStep} step */
  push(step) {
    if (!step.cells.length) return;
    this.done.push({ ...step, at: Date.now() });
    this.said = false;
    if (this.done.length > Steps.MOST) this.done.shift();
    this.undone = [];
    this.keep();
  }

  /**
   * What the server says of the cells of a step once it has it: a part that it refused cannot be undone.
   * @param {string} key of the step
   * @param {(id: string) => string} codeOf what a cell holds
   */
  amend(key, codeOf) {
    const step = this.done.find((other) => other.key === key);
    if (!step) return;
    const cells = step.cells.filter(([id, , after]) => answerOf(codeOf(id)) === answerOf(after));
    if (cells.length === step.cells.length) return;
    step.cells = cells;
    if (!cells.length) this.done.splice(this.done.indexOf(step), 1);
    this.keep();
  }

  /**
   * The server refused to take a step back, or to do it again. Where it `fits` still it comes back to its place, to be tried
   * later; says whether it does.
   * @param {string | null} key of the step
   * @param {(step: Step, back: boolean) => boolean} fits
   */
  returned(key, fits) {
    const back = this.undone.some((step) => step.key === key);
    const [to, from] = this.stacks(back);
    const step = from.find((other) => other.key === key);
    if (step) from.splice(from.indexOf(step), 1);
    const isKept = step !== undefined && fits(step, back);
    if (isKept) {
      to.push(step);
      to.sort((a, b) => (back ? a.at - b.at : b.at - a.at));
    }
    this.keep();
    return isKept;
  }

  /**
   * Where a step comes from and goes to.
   * @param {boolean} back
   */
  stacks(back) {
    return back ? [this.done, this.undone] : [this.undone, this.done];
  }

  /**
   * Take the last step back, or do it again. A step whose cells were changed by somebody else since is forgotten; one whose
   * document is locked waits, and once that was said it does not keep those before it waiting.
   * @template Cell
   * @param {boolean} back
   * @param {Turner<Cell>} turner
   * @returns {{cell: Cell | null, why: "" | "nothing" | "gone" | "waits", lock: string}} the cell to go to, or why there is none
   */
  turn(back, turner) {
    const [from, to] = this.stacks(back);
    /** @param {Step} step */
    const waits = (step) => (turner.fits(step, back) && turner.lockOf(step)) || "";
    const last = from.at(-1);
    const lock = last ? waits(last) : "";
    const step = lock ? (this.said ? this.free(from, waits) : undefined) : last;
    this.said = Boolean(lock);
    if (!step) return { cell: null, why: lock ? "waits" : "nothing", lock };
    from.splice(from.indexOf(step), 1);
    const cell = turner.restore(step, back);
    if (cell) to.push(step);
    this.keep();
    return { cell, why: cell ? "" : "gone", lock };
  }

  /**
   * The last step that waits for nothing, and has no cell that a later one must give back before.
   * @param {Step[]} steps
   * @param {(step: Step) => string} waits
   */
  free(steps, waits) {
    /** @type {Set<string>} */
    const held = new Set();
    return steps.findLast((step) => {
      const isFree = !waits(step) && !step.cells.some(([id]) => held.has(id));
      if (!isFree) for (const [id] of step.cells) held.add(id);
      return isFree;
    });
  }
}
