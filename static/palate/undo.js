// Undo and redo over the whole sheet: the steps of this browser, kept in its store, so that they outlive a reload and are
// the same in every tab. A step is {key, at, cells: [[id, before, after]]}, what rules and presets did included.
class UndoSteps {
  constructor(store, words, refuse) {
    this.store = store;
    this.words = words;
    this.refuse = refuse;
    const kept = this.read();
    this.done = kept.done;
    this.undone = kept.undone;
    this.said = false; // that the last step waits
    window.addEventListener("storage", (event) => {
      if (event.key === store) Object.assign(this, this.read());
    });
  }

  static MOST = 200; // steps; the oldest are forgotten

  read() {
    try {
      const { done, undone } = JSON.parse(localStorage.getItem(this.store)) || {};
      return { done: done || [], undone: undone || [] };
    } catch {
      return { done: [], undone: [] };
    }
  }

  // After the paint: what is pressed comes first.
  keep() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      try {
        localStorage.setItem(this.store, JSON.stringify({ done: this.done, undone: this.undone }));
      } catch {
        // A full or forbidden store: undo works until the page is left.
      }
    });
  }

  push(step) {
    if (!step.cells.length) return;
    this.done.push({ ...step, at: Date.now() });
    this.said = false;
    if (this.done.length > UndoSteps.MOST) this.done.shift();
    this.undone = [];
    this.keep();
  }

  // What the server says of the cells of a step once it has it: a part that it refused cannot be undone.
  amend(key, valueOf) {
    const step = this.done.find((other) => other.key === key);
    if (!step) return;
    const cells = step.cells.filter(([id, , after]) => optionOf(valueOf(id)) === optionOf(after));
    if (cells.length === step.cells.length) return;
    step.cells = cells;
    if (!cells.length) this.done.splice(this.done.indexOf(step), 1);
    this.keep();
  }

  // The server refused to take a step back, or to do it again. Where it `fits` still it comes back to its place, to be tried later.
  returned(key, fits) {
    const back = this.undone.some((step) => step.key === key);
    const [to, from] = this.stacks(back);
    const step = from.find((other) => other.key === key);
    if (step) from.splice(from.indexOf(step), 1);
    const isKept = Boolean(step) && fits(step, back);
    if (isKept) {
      to.push(step);
      to.sort((a, b) => (back ? a.at - b.at : b.at - a.at));
    }
    this.keep();
    return isKept;
  }

  // Where a step comes from and goes to.
  stacks(back) {
    return back ? [this.done, this.undone] : [this.undone, this.done];
  }

  // Take the last step back, or do it again. Gives the cell to go to, or null. A step whose cells were changed by somebody else
  // since is forgotten; one whose document is submitted waits: `why(assignment)` is the sentence that says so.
  turn(back, editing, why) {
    const [from, to] = this.stacks(back);
    const waits = (step) => editing.fits(step, back) && editing.lockOf(step);
    const last = from.at(-1);
    const lock = last && waits(last);
    // Once that was said, it does not keep those before it waiting.
    const step = lock ? this.said && this.free(from, waits) : last;
    this.said = Boolean(lock);
    if (!step) {
      const nothing = back ? this.words.nothingToUndo : this.words.nothingToRedo;
      this.refuse(lock ? why(lock) : nothing);
      return null;
    }
    from.splice(from.indexOf(step), 1);
    const cell = editing.restore(step, back);
    if (cell) to.push(step);
    else this.refuse(this.words.stepIsGone);
    this.keep();
    return cell;
  }

  // The last step that waits for nothing, and has no cell that a later one must give back before.
  free(steps, waits) {
    const held = new Set();
    return steps.findLast((step) => {
      const isFree = !waits(step) && !step.cells.some(([id]) => held.has(id));
      if (!isFree) for (const [id] of step.cells) held.add(id);
      return isFree;
    });
  }
}
