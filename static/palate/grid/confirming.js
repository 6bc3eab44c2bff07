// Drafts: what another rater's answers were taken over as is nobody's own until its person changes or confirms it. A key takes
// it as it is; another one all that is left of the document.

import { answerOf, isDraft } from "../core/codes.js";

/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./choosing.js").Choosing} Choosing */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./range.js").CellRange} CellRange */
/** @typedef {{cells: Cells, focus: Focus, range: CellRange, editing: Editing, choosing: Choosing, keys: Keys}} Parts */

export class Confirming {
  /** @param {Parts} parts */
  constructor({ cells, focus, range, editing, choosing, keys }) {
    this.cells = cells;
    this.focus = focus;
    this.range = range;
    this.editing = editing;
    this.choosing = choosing;
    keys.add("c", () => this.confirm(this.range.isRange ? this.range.get() : [this.focus.cell]));
    keys.add("C", () => this.confirm(this.cells.partsOf(this.focus.cell.assignment)));
  }

  /** @param {Cell[]} cells those of them that are drafts are meant */
  confirm(cells) {
    const drafts = cells.filter((cell) => isDraft(cell.code) && !cell.off && !this.cells.isLocked(cell));
    if (!drafts.length) return;
    this.editing.change(drafts.map((cell) => [cell, answerOf(cell.code)]));
    if (cells.length === 1) this.focus.answered(cells[0]);
    else if (!this.range.isRange) this.focus.go(this.focus.beyond(this.focus.cell) || this.focus.cell);
    this.choosing.describe();
  }
}
