// Undo and redo over the whole sheet: the steps of this browser, kept in its store, so that they outlive a reload and are
// the same in every tab. A step is {key, cells: [[id, before, after]]}, what rules and presets did included.
class UndoSteps {
  constructor(store, words, refuse) {
    this.store = store;
    this.words = words;
    this.refuse = refuse;
    const kept = this.read();
    this.done = kept.done;
    this.undone = kept.undone;
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
    this.done.push(step);
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

  // A step that the server refused to take back or to do again.
  forget(key) {
    for (const steps of [this.done, this.undone]) {
      const at = steps.findIndex((step) => step.key === key);
      if (at >= 0) steps.splice(at, 1);
    }
    this.refuse(this.words.stepIsGone);
    this.keep();
  }

  // `restore(step, back)` gives the cell to go to, or null when the step's cells were changed by somebody else since.
  turn(back, restore) {
    const [from, to] = back ? [this.done, this.undone] : [this.undone, this.done];
    const step = from.pop();
    if (!step) {
      this.refuse(back ? this.words.nothingToUndo : this.words.nothingToRedo);
      return null;
    }
    const cell = restore(step, back);
    if (cell) to.push(step);
    else this.refuse(this.words.stepIsGone);
    this.keep();
    return cell;
  }
}
