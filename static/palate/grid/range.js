// A range of cells beside the one that has the focus: Shift and the keys that move, Shift and a click, or a drag.
//
// As in a spreadsheet the focus stays where the range began, until Tab or Enter take it through the range; it is within one table.

import { boxOf, through } from "../core/ranges.js";
import { fill } from "../core/sentences.js";
import { placeOf } from "../page/elements.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {{x?: 0 | -1, y?: 0 | -1}} Edge of a table: 0 is the first, -1 the last line or column; else that of the cell */
/** @typedef {{cells: Cells, focus: Focus, words: Sentences, shown: HTMLElement}} Parts shown: says how many are selected */

/** @type {Record<string, Edge>} */
const EDGES = {
  ArrowLeft: { x: 0 },
  ArrowRight: { x: -1 },
  ArrowUp: { y: 0 },
  ArrowDown: { y: -1 },
  Home: { x: 0, y: 0 },
  End: { x: -1, y: -1 },
};
const EXTENDING = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

/**
 * @param {Cell} cell
 * @returns {import("../core/moves.js").Place}
 */
export const placeInLines = (cell) => ({ y: cell.line.y, x: cell.x });

export class CellRange {
  /** @param {Parts} parts */
  constructor({ cells, focus, words, shown }) {
    this.cells = cells;
    this.focus = focus;
    this.words = words;
    this.shown = shown;
    /** @type {Cell | null} */
    this.near = null; // the corner where the range began
    /** @type {Cell | null} */
    this.far = null; // the opposite one; null where nothing but the focus is selected
    /** @type {Set<Cell>} */
    this.selected = new Set();
    /** @type {(() => void)[]} */
    this.listeners = []; // called at once when another range is selected, or none
    focus.listeners.push((_cell, keep) => {
      if (this.far && !keep) this.collapse();
    });
  }

  // The cells that a command is about, line by line.
  get() {
    const { y0, y1, x0, x1 } = this.box();
    return this.cells.lines.slice(y0, y1 + 1).flatMap((line) => line.cells.slice(x0, x1 + 1));
  }

  box() {
    const [near, far] = this.near && this.far ? [this.near, this.far] : [this.focus.cell, this.focus.cell];
    return boxOf(placeInLines(near), placeInLines(far));
  }

  get isRange() {
    return this.far !== null;
  }

  /**
   * From the focused cell to another one of its table: where Tab or Enter have moved the focus, a new range begins.
   * @param {Cell | undefined} cell
   */
  extend(cell) {
    const here = this.focus.cell;
    if (!cell || cell.line.table !== here.line.table || (cell === this.far && here === this.near)) return;
    this.select(here, cell);
    this.focus.reveal(cell);
  }

  // The end that Shift and a key that moves take further.
  get end() {
    const here = this.focus.cell;
    return this.far && this.near === here ? this.far : here;
  }

  /**
   * @param {Cell} near
   * @param {Cell} far
   */
  select(near, far) {
    this.near = near;
    this.far = far === near ? null : far;
    this.paint();
  }

  /**
   * The next cell of the range, line by line or column by column, and from the last one the first.
   * @param {1 | -1} step
   * @param {boolean} byColumns
   */
  through(step, byColumns) {
    const { y, x } = through(this.box(), placeInLines(this.focus.cell), step, byColumns);
    this.focus.go(this.focus.at(y, x), { keep: true });
  }

  collapse() {
    this.far = null;
    this.paint();
  }

  paint() {
    const now = new Set(this.far ? this.get() : []);
    for (const cell of this.selected) if (!now.has(cell)) cell.td.removeAttribute("aria-selected");
    for (const cell of now) if (!this.selected.has(cell)) cell.td.setAttribute("aria-selected", "true");
    this.selected = now;
    this.shown.textContent = now.size ? fill(this.words.selected, { n: now.size }) : "";
    for (const listener of this.listeners) listener();
  }

  /** @param {Keys} keys */
  keys(keys) {
    for (const key of EXTENDING) keys.add(`Shift+${key}`, () => this.extend(this.within(key, this.end)));
    for (const [key, edge] of Object.entries(EDGES))
      keys.add(`Ctrl+Shift+${key}`, () => this.extend(this.edge(edge, this.end)));
    // The focus stays where it is: what a number means in the range depends on it.
    /**
     * @param {Edge} from
     * @param {Edge} to
     */
    const whole = (from, to) => () => this.select(this.edge(from, this.focus.cell), this.edge(to, this.focus.cell));
    keys.add("Ctrl+a", whole({ x: 0, y: 0 }, { x: -1, y: -1 }));
    keys.add("Shift+ ", whole({ x: 0 }, { x: -1 }));
    keys.add("Ctrl+ ", whole({ y: 0 }, { y: -1 }));
    for (const key of ["Tab", "Enter"]) {
      const byColumns = key === "Enter";
      const inRange = () => this.isRange;
      keys.add(key, () => this.through(1, byColumns), inRange);
      keys.add(`Shift+${key}`, () => this.through(-1, byColumns), inRange);
    }
    keys.add("Escape", () => this.isRange && this.collapse());
  }

  /**
   * The cell at an edge of the table.
   * @param {Edge} edge
   * @param {Cell} cell
   */
  edge({ x, y }, cell) {
    const lines = this.linesOf(cell.line.table);
    const line = y === undefined ? cell.line : /** @type {typeof cell.line} */ (lines.at(y));
    return /** @type {Cell} */ (line.cells.at(x ?? cell.x));
  }

  /** @param {Element | null} table */
  linesOf(table) {
    return this.cells.lines.filter((line) => line.table === table);
  }

  /**
   * Where a key leads; out of the table it leads to the table's first or last line.
   * @param {string} key
   * @param {Cell} from
   */
  within(key, from) {
    const cell = this.focus.target(key, from);
    const { table } = this.focus.cell.line;
    if (!cell || cell.line.table === table) return cell;
    const lines = this.linesOf(table);
    return (cell.line.y < lines[0].y ? lines[0] : lines[lines.length - 1]).cells[from.x];
  }

  /**
   * A click on a heading selects the column, the document's lines or the line; on the corner the table. The focus stays in its
   * line or column as far as it can, so that the document beside the grid stays too.
   * @param {HTMLTableCellElement} head
   */
  selectBy(head) {
    const here = this.focus.cell;
    const lines = this.linesOf(head.closest("table"));
    const inHead = head.closest("thead");
    // Before the headings of the cells stand the corner and, in a table that is read downwards, those of what is given.
    const place = head.cellIndex - ((head.parentElement?.children.length ?? 0) - lines[0].cells.length);
    const isDocument = head.matches(".doc");
    const picked = inHead
      ? lines
      : lines.filter((line) => (isDocument ? line.head === head : line.tr === head.parentNode));
    const column = inHead && place >= 0 ? place : null;
    const own =
      picked.find((line) => line === here.line) ||
      picked.find((line) => line.assignment === here.assignment) ||
      picked[0];
    this.focus.go(this.focus.at(own.y, column ?? here.x), { scroll: false });
    const [first, last] = [picked[0].cells.at(column ?? 0), picked[picked.length - 1].cells.at(column ?? -1)];
    if (first && last) this.select(first, last);
  }

  /** @param {HTMLElement} tables */
  mouse(tables) {
    let dragging = false;
    tables.addEventListener("mousedown", (event) => {
      if (event.button) return;
      const place = placeOf(event);
      const head = place.closest("th");
      if (head) {
        event.preventDefault(); // the keys stay in the grid
        this.selectBy(head);
        return;
      }
      const cell = this.cells.around(place);
      if (!cell) return;
      event.preventDefault();
      if (event.shiftKey) this.extend(cell);
      else this.focus.go(cell, { whole: false }); // what is under the hand stays there
      dragging = true;
    });
    tables.addEventListener("mouseover", (event) => {
      if (!dragging) return;
      if (event.buttons & 1) this.extend(this.cells.around(placeOf(event)));
      else dragging = false;
    });
    window.addEventListener("mouseup", () => {
      dragging = false;
    });
  }
}
