// Going back: a key leads to the cell that was answered last, in a document that was submitted since too, so that putting it
// right takes that key and the answer's. Pressed again it leads to the cell before.

/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */

export class Returning {
  /** @param {{cells: Cells, focus: Focus, editing: Editing}} parts */
  constructor({ cells, focus, editing }) {
    this.cells = cells;
    this.focus = focus;
    /** @type {Set<Cell>} */
    this.answered = new Set(); // since the page was opened, the last one at the end
    /** @type {Cell | null} */
    this.at = null; // where the key has led
    editing.changed.push((changes) => {
      for (const { cell } of changes) {
        this.answered.delete(cell);
        this.answered.add(cell);
      }
    });
  }

  /** @param {Keys} keys */
  keys(keys) {
    keys.add("b", () => this.focus.go(this.before(this.focus.cell)));
  }

  /**
   * Before what this page has answered: the order of the work.
   * @param {Cell} cell
   * @returns {Cell | undefined}
   */
  before(cell) {
    const trail = [...this.answered].filter(({ code }) => code);
    // Who has gone elsewhere by other keys, or has answered since, begins anew.
    const goesOn = this.at === cell;
    const known = goesOn ? trail[trail.indexOf(cell) - 1] : trail.filter((one) => one !== cell).at(-1);
    const found = known ?? this.cells.order.slice(0, cell.rank).findLast((one) => one.code && !this.answered.has(one));
    this.at = found ?? cell;
    return found;
  }
}
