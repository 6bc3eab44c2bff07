// Editing: every change of cells goes through here, whatever asked for it: it is painted, put on its way, and can be undone.
class Editing {
  constructor({ cells, saving, steps, words, refuse }) {
    Object.assign(this, { cells, saving, steps, words, refuse });
  }

  // Change cells as one step. `wanted` is [[cell, option key, "" to clear, or undefined where no option fits]], line by line.
  // Gives {changed, off, locked, foreign}: the cells that changed, and those that were left out and why.
  change(wanted, word = "") {
    const left = { changed: [], off: [], locked: [], foreign: [], word };
    const possible = [];
    const same = [];
    for (const [cell, option] of wanted) {
      if (this.cells.isLocked(cell)) left.locked.push(cell);
      else if (option === undefined) left.foreign.push(cell);
      else if (cell.value === option) same.push(cell);
      else possible.push([cell, option]);
    }
    this.refuse("");
    const seen = new Map(possible.map(([cell]) => [cell, optionOf(cell.value)]));
    const diff = this.cells.apply(possible, (cell) => left.off.push(cell));
    const skipped = new Set(left.off);
    const done = possible.filter(([cell]) => !skipped.has(cell));
    if (!done.length && !same.length) return left;
    left.changed = done.map(([cell]) => cell);
    // A choice of what stands there already is sent too: somewhere else it may have been changed since.
    const key = this.saving.add([
      ...done.map(([cell, option]) => [cell.id, option, seen.get(cell)]),
      ...same.map((cell) => [cell.id, cell.value, optionOf(cell.value)]),
    ]);
    this.steps.push({ key, cells: diff });
    return left;
  }

  // What taking a step back, or doing it again, changes in the cells that are here still.
  turned(step, back) {
    return step.cells
      .map(([id, before, after]) => ({ cell: this.cells.get(id), to: back ? before : after, from: back ? after : before }))
      .filter(({ cell }) => cell);
  }

  // The step's cells hold what it left in them, and those that it fills are asked, or it turns what switches them off.
  fits(step, back) {
    const wanted = this.turned(step, back);
    const ids = new Set(step.cells.map(([id]) => id));
    const isAsked = ({ assignment, column, off, question }) =>
      !off || Object.keys(this.cells.palette[question].askUnless).some((above) => ids.has(`c-${assignment}-${column}-${above}`));
    const isFitting = ({ cell, from, to }) => optionOf(cell.value) === optionOf(from) && (!to || isAsked(cell));
    return wanted.length > 0 && wanted.every(isFitting);
  }

  // The assignment that keeps a step waiting.
  lockOf(step) {
    return step.cells.map(([id]) => this.cells.get(id)).find((cell) => cell && this.cells.isLocked(cell))?.assignment;
  }

  // Take a step back, or do it again; gives the cell to go to. Null when its cells hold something else by now: nothing is touched.
  restore(step, back) {
    if (!this.fits(step, back)) return null;
    const wanted = this.turned(step, back).sort((a, b) => a.cell.line.y - b.cell.line.y || a.cell.x - b.cell.x);
    this.refuse("");
    this.cells.apply(wanted.map(({ cell, to }) => [cell, to]));
    const changes = wanted.map(({ cell, to, from }) => [cell.id, to, optionOf(from)]);
    this.saving.add(changes, { restore: true, step: step.key });
    return wanted[0].cell;
  }

  // How many cells were filled, and how many cleared.
  told({ changed }) {
    const cleared = changed.filter((cell) => !cell.value).length;
    const filled = changed.length - cleared;
    const sentences = [[filled || !cleared, this.words.filled, filled], [cleared, this.words.cleared, cleared]];
    return sentences.filter(([isSaid]) => isSaid).map(([, sentence, n]) => sentence.replace("{n}", n)).join(" ");
  }

  // Say how many cells were filled, and which were not.
  report(done, isSaid = false) {
    const { off, locked, foreign, word } = done;
    const reasons = [
      [off, this.words.leftOff],
      [locked, this.words.leftLocked],
      [foreign, this.words.leftForeign.replace("{option}", word)],
    ];
    const left = reasons.filter(([cells]) => cells.length).map(([cells, reason]) => reason.replace("{n}", cells.length));
    if (left.length || isSaid) this.refuse([this.told(done), ...left].join(" "));
  }
}
