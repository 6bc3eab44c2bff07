// Suggesting: what may be meant in a cell of text, out of what was answered before in its table and of what the row and the
// column say; and what an empty cell most likely says.

import { suggested } from "../core/completing.js";
import { partsOf } from "../core/values.js";

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./checking.js").AllChecks} AllChecks */
/** @typedef {{cells: Cells, columns: AllChecks}} Parts columns: section -> the facets of rows and columns */

export class Suggesting {
  /** @param {Parts} parts */
  constructor({ cells, columns }) {
    this.cells = cells;
    this.columns = columns;
  }

  /**
   * What may be meant: words of the line, what was answered above in this table, nearest first, then below, then what the row
   * and the scheme offer.
   * @param {Cell} cell
   * @returns {string[]}
   */
  known(cell) {
    const { text } = this.cells.spec(cell);
    const mine = this.others(cell, true);
    const above = mine.filter(({ rank }) => rank < cell.rank).reverse();
    const answered = [...above, ...mine.filter(({ rank }) => rank > cell.rank)].flatMap((one) => this.parts(one));
    return [...this.words(cell), ...answered, ...this.things(cell), ...(text?.completions ?? [])];
  }

  /**
   * What an empty cell most likely says; "" where nothing speaks for anything, or its question names no source.
   * @param {Cell} cell
   */
  suggestion(cell) {
    const { text } = this.cells.spec(cell);
    if (!text?.from.length) return "";
    const [word] = this.words(cell);
    if (word) return word;
    const above = this.others(cell, false).filter(({ rank, code }) => rank < cell.rank && code);
    const own = above.filter(({ column }) => column === cell.column);
    const nearest = [...(own.length ? own : above)].reverse().map((one) => this.parts(one));
    return suggested({
      nearest: own.length ? nearest[0] : (nearest.find((parts) => parts.length) ?? []),
      things: own.length ? [] : this.things(cell),
      line: this.cells.columns.get(cell.column)?.name ?? "",
      separator: text.separator,
      nothing: text.special[0] ?? "",
    });
  }

  /**
   * Cells of the same table that a question takes offers from.
   * @param {Cell} cell
   * @param {boolean} same the other cells of the question itself too
   */
  others(cell, same) {
    const { text, section } = this.cells.spec(cell);
    return this.cells
      .partsOf(cell.assignment)
      .filter((one) => one !== cell && this.cells.spec(one).section === section)
      .filter((one) => (same && one.question === cell.question) || text?.from.includes(this.cells.spec(one).key));
  }

  /** @param {Cell} cell */
  parts(cell) {
    const value = this.cells.value(cell.code);
    return value === undefined ? [] : partsOf(this.cells.spec(cell), value);
  }

  /**
   * The words of the column's facets that a question names.
   * @param {Cell} cell
   */
  words(cell) {
    return this.said(cell, "column", (checks) => checks.columns[cell.column])
      .flatMap((text) => text.split(/[^\p{L}\p{N}'-]+/u))
      .filter(Boolean);
  }

  /**
   * What the row's facets say that a question names.
   * @param {Cell} cell
   */
  things(cell) {
    return this.said(cell, "row", (checks) => checks.rows[cell.assignment]);
  }

  /**
   * @param {Cell} cell
   * @param {"row" | "column"} of
   * @param {(checks: import("./checking.js").SectionChecks) => import("../core/checks.js").Facets | undefined} facets
   * @returns {string[]}
   */
  said(cell, of, facets) {
    const { text, section } = this.cells.spec(cell);
    const known = this.columns[section] ? (facets(this.columns[section]) ?? {}) : {};
    const named = text?.from.filter((name) => name.startsWith(`${of}.`)) ?? [];
    return named.flatMap((name) => known[name.slice(of.length + 1)] ?? []);
  }
}
