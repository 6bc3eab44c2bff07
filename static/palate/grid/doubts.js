// What the scheme warns of, found here at once (see checking.js) and told by the server with every change that it saves. A cell
// in doubt has a mark, and the line below the grid says why; nothing is refused for it.

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {[assignment: string | number, column: string | number, said: Record<string, string[]>]} ColumnDoubts question -> sentences */

export class Doubts {
  /**
   * @param {Cells} cells
   * @param {ColumnDoubts[]} told of all cells, as the page was made
   */
  constructor(cells, told) {
    this.cells = cells;
    /** @type {Map<string, string[]>} */
    this.said = new Map(); // id of a cell -> sentences
    this.tell(told);
  }

  /** @param {ColumnDoubts[]} told the columns that were looked at: what is not told of their cells any more is over */
  tell(told) {
    for (const [assignment, column, said] of told)
      for (const cell of this.cells.groups.get(`${assignment}-${column}`) ?? [])
        this.say(cell, said[cell.question] ?? []);
  }

  /**
   * @param {Cell} cell
   * @param {string[]} sentences none where nothing is doubtful
   */
  say(cell, sentences) {
    if (sentences.length) this.said.set(cell.id, sentences);
    else if (!this.said.delete(cell.id)) return;
    cell.td.toggleAttribute("data-doubt", sentences.length > 0);
  }

  /** @param {Cell} cell */
  of(cell) {
    return this.said.get(cell.id) ?? [];
  }
}
