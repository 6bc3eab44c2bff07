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

  // Take a step back, or do it again. False when its cells hold something else by now: it is not touched then.
  restore(step, back) {
    const wanted = step.cells
      .map(([id, before, after]) => ({ cell: this.cells.get(id), to: back ? before : after, from: back ? after : before }))
      .filter(({ cell }) => cell)
      .sort((a, b) => a.cell.line.y - b.cell.line.y || a.cell.x - b.cell.x);
    if (wanted.some(({ cell, from }) => optionOf(cell.value) !== optionOf(from) || this.cells.isLocked(cell))) return null;
    this.refuse("");
    this.cells.apply(wanted.map(({ cell, to }) => [cell, to]));
    const changes = wanted.map(({ cell, to, from }) => [cell.id, to, optionOf(from)]);
    this.saving.add(changes, { restore: true, step: step.key });
    return wanted[0]?.cell;
  }

  // Say how many cells were filled, and which were not.
  report({ changed, off, locked, foreign, word }) {
    const reasons = [
      [off, this.words.leftOff],
      [locked, this.words.leftLocked],
      [foreign, this.words.leftForeign.replace("{option}", word)],
    ];
    const left = reasons.filter(([cells]) => cells.length).map(([cells, reason]) => reason.replace("{n}", cells.length));
    if (left.length) this.refuse(`${this.words.filled.replace("{n}", changed.length)} ${left.join(" ")}`);
  }
}
