// Moving: one cell has the focus, and keys take it elsewhere.
//
// Tells whoever listens on the tables: `palate:focus-cell`, once the cell is painted, with the ids of what has the focus.

import { isDraft } from "../core/codes.js";
import { cellAt, MOVING, movedTo } from "../core/moves.js";
import { make } from "../page/elements.js";
import { light, reveal } from "../sheet/view.js";

/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {{id: string, assignment: string, column: string, question: string, section: string, about: string | null}} FocusDetail */

export class Focus {
  /** @param {Cells} cells */
  constructor(cells) {
    this.cells = cells;
    /** @type {Cell | null} */
    this.now = null; // nothing until the page has started
    this.told = 0;
    this.beam = make("div", { className: "beam", ariaHidden: "true" });
    /** @type {((cell: Cell, keep: boolean) => void)[]} */
    this.listeners = []; // called at once, before the paint: keep them quick
    /** @type {(cell: Cell) => Cell | null} */
    this.beyond = () => null; // where the answer that completes a document leads, if that is out of it
  }

  /** The focused cell: there is always one once the page has started. */
  get cell() {
    return /** @type {Cell} */ (this.now);
  }

  /**
   * `point` shows a cell without giving it the keys, while one types elsewhere; `keep` leaves a range selected; `whole`
   * shows all lines of a document that one comes to.
   * @param {Cell | null | undefined} cell nothing happens where there is none
   */
  go(cell, { scroll = true, point = false, keep = false, whole = true } = {}) {
    if (!cell) return;
    const before = this.now;
    this.now = cell;
    if (before !== cell) {
      cell.td.tabIndex = 0;
      this.light(before, cell);
    }
    const listen = () => {
      for (const listener of this.listeners) listener(cell, keep);
    };
    // Before the focus, which lays out the page: so it is laid out once for all that changes. Who opens the page waits for the
    // first focus alone.
    if (before) listen();
    if (!point && document.activeElement !== cell.td) cell.td.focus({ preventScroll: true });
    if (scroll) this.reveal(cell, whole && before?.assignment !== cell.assignment);
    // Only now: it makes a browser look at its styles once more, and of the cell that has the focus lay out the page.
    if (before !== cell) before?.td.removeAttribute("tabindex");
    if (!before) listen();
    this.tell();
  }

  // Whoever went elsewhere on the page, into a dialog say, comes back to all as it was.
  back({ scroll = true } = {}) {
    this.go(this.now, { keep: true, scroll });
  }

  // After the paint, and of many quick moves only the last one.
  tell() {
    if (this.told) return;
    this.told = requestAnimationFrame(() =>
      setTimeout(() => {
        this.told = 0;
        const { id, assignment, column, question } = this.cell;
        const { about, section } = this.cells.spec(this.cell);
        /** @type {FocusDetail} */
        const detail = { id, assignment, column, question, section, about };
        this.cells.tables.dispatchEvent(new CustomEvent("palate:focus-cell", { detail, bubbles: true }));
      }),
    );
  }

  /**
   * Softly light the focused line and column.
   * @param {Cell | null} before
   * @param {Cell} now
   */
  light(before, now) {
    /** @param {Cell} cell */
    const headings = (cell) => {
      const { tr, head, table, cells } = cell.line;
      if (!table.classList.contains("down")) return [tr, head, this.cells.columnOf(cell).head];
      const above = /** @type {HTMLTableSectionElement} */ (table.tHead).rows[0].cells;
      return [tr, head, ...tr.querySelectorAll("th.given"), above[above.length - cells.length + cell.x]];
    };
    if (before) light(headings(before), false);
    light(headings(now), true);
    const { table } = now.line;
    if (table.classList.contains("down")) {
      this.beam.remove();
      return;
    }
    if (this.beam.parentNode !== table) table.append(this.beam);
    this.beam.style.left = `calc(var(--doc) + var(--q) + ${now.x} * var(--cell))`;
  }

  /**
   * @param {Cell} cell
   * @param {boolean} [whole] all lines of its document in its table
   */
  reveal({ td, x, line }, whole = false) {
    const { lines, tables } = this.cells;
    /** @param {1 | -1} step */
    const end = (step) => {
      let { y } = line;
      while (lines[y + step]?.assignment === line.assignment && lines[y + step].table === line.table) y += step;
      return lines[y].cells[x].td;
    };
    reveal(tables, line.table, td, whole ? [end(-1), end(1)] : undefined);
  }

  // --- where keys lead ------------------------------------------------------------------------------------------------

  /**
   * @param {number} y
   * @param {number} x
   */
  at(y, x) {
    return cellAt(this.cells.lines, { y, x });
  }

  /**
   * There is something to do in it.
   * @param {Cell} cell
   */
  isWaiting(cell) {
    return this.cells.isOwed(cell) || cell.state === "conflict" || (isDraft(cell.code) && !this.cells.isLocked(cell));
  }

  /**
   * The next waiting cell in the order of the work.
   * @param {Cell} cell
   * @param {1 | -1} step
   */
  next(cell, step) {
    const { order } = this.cells;
    for (let i = cell.rank + step; order[i]; i += step) if (this.isWaiting(order[i])) return order[i];
    return null;
  }

  /**
   * Where the work goes on after a cell: in its own document, to its end and then from its beginning. Null where nothing
   * waits there any more: a complete document is left by a key of its own, `s` as a rule.
   * @param {Cell} cell
   */
  onward(cell) {
    const mine = this.cells.partsOf(cell.assignment);
    const at = mine.indexOf(cell);
    return [...mine.slice(at + 1), ...mine.slice(0, at)].find((other) => this.isWaiting(other)) || null;
  }

  /**
   * An answer was given in a cell: on to what waits, or it stays.
   * @param {Cell} cell
   */
  answered(cell) {
    this.go(this.onward(cell) || this.beyond(cell) || cell);
  }

  /**
   * Where the key that takes what was typed leads: down, as in a spreadsheet; where that is another document, on in this
   * one, as after any answer.
   * @param {Cell} cell
   * @param {1 | -1} step
   */
  afterTyped(cell, step) {
    const there = this.target(step > 0 ? "ArrowDown" : "ArrowUp", cell);
    if (step < 0) return there || cell;
    const onward = this.onward(cell);
    const beyond = onward ? null : this.beyond(cell);
    return beyond || (there?.assignment === cell.assignment ? there : onward) || cell;
  }

  /**
   * The next waiting cell above or below, in the same column of the table.
   * @param {Cell} cell
   * @param {1 | -1} step
   */
  nextInColumn({ x, line }, step) {
    const { lines } = this.cells;
    for (let y = line.y + step; lines[y]?.table === line.table; y += step)
      if (this.isWaiting(lines[y].cells[x])) return lines[y].cells[x];
    return null;
  }

  /** @param {string} assignment */
  firstOf(assignment) {
    const mine = this.cells.partsOf(assignment);
    return mine.find((cell) => this.cells.isOwed(cell)) || mine[0];
  }

  /**
   * The same question and column in the next document that has them.
   * @param {1 | -1} step
   */
  document(step) {
    const { x, question, line } = this.cell;
    const { lines } = this.cells;
    for (let y = line.y + step; lines[y]?.table === line.table; y += step)
      if (lines[y].assignment !== line.assignment && lines[y].cells[x]?.question === question)
        return this.go(lines[y].cells[x]);
  }

  /**
   * Where a key that moves leads from a cell; undefined where it leads out of the grid.
   * @param {string} key
   * @param {Cell} cell
   */
  target(key, { x, line: { y } }) {
    return movedTo(key, this.cells.lines, { y, x });
  }

  /**
   * In the order of the lines; at either end Tab leaves the grid, as it does everywhere.
   * @param {1 | -1} step
   */
  tab(step) {
    const { x, line } = this.cell;
    return line.cells[x + step] || this.at(line.y + step, step > 0 ? 0 : Number.POSITIVE_INFINITY);
  }

  /** @param {Keys} keys */
  keys(keys) {
    for (const key of MOVING) keys.add(key, () => this.go(this.target(key, this.cell)));
    keys.add("Ctrl+ArrowRight", () => this.go(this.next(this.cell, 1)));
    keys.add("Ctrl+ArrowLeft", () => this.go(this.next(this.cell, -1)));
    keys.add("Ctrl+ArrowDown", () => this.go(this.nextInColumn(this.cell, 1)));
    keys.add("Ctrl+ArrowUp", () => this.go(this.nextInColumn(this.cell, -1)));
    keys.add("Enter", () => this.go(this.target("ArrowDown", this.cell)));
    keys.add("Shift+Enter", () => this.go(this.target("ArrowUp", this.cell)));
    /** @param {1 | -1} step */
    const tab = (step) => () => {
      const there = this.tab(step);
      this.go(there);
      return Boolean(there);
    };
    keys.add("Tab", tab(1));
    keys.add("Shift+Tab", tab(-1));
    keys.add(" ", () => {}); // a browser would scroll the focus out of sight
    keys.add("n", () => this.document(1));
    keys.add("p", () => this.document(-1));
  }
}
