// The cells of the lens: where each one stands, and what kinds of difference it is.

/**
 * @typedef {object} Line
 * @property {HTMLTableRowElement} tr
 * @property {HTMLTableElement} table
 * @property {HTMLElement} doc the heading of its row
 * @property {string} row
 * @property {string} question
 * @property {Cell[]} cells
 */
/**
 * @typedef {object} Cell
 * @property {HTMLTableCellElement} td
 * @property {Line} line
 * @property {number} x its place in the line
 * @property {number} rank its place in the order of reading
 * @property {string} row
 * @property {string} question
 * @property {string} column
 * @property {HTMLElement} col
 * @property {Set<string>} flags the kinds that it is of; "decided"; "judge-" and the number of each judge that differs
 */

export class LensCells {
  /** @param {HTMLElement} tables */
  constructor(tables) {
    this.tables = tables;
    /** @type {Line[]} */
    this.lines = [];
    /** @type {Cell[]} */
    this.order = []; // a section after the other, in it row by row, in it column by column
    /** @type {Map<string, Cell>} */
    this.byKey = new Map();
    /** @type {WeakMap<Element, Cell>} */
    this.byElement = new WeakMap();
    for (const table of tables.querySelectorAll("table")) this.read(table);
    this.order.forEach((cell, rank) => {
      cell.rank = rank;
    });
  }

  /** @param {HTMLTableElement} table */
  read(table) {
    const cols = /** @type {HTMLElement[]} */ ([...table.querySelectorAll("col[data-column]")]);
    /** @type {Cell[][]} */
    let ofRow = []; // the cells of a row, question by question
    const readColumnByColumn = () => {
      for (const x of cols.keys()) for (const line of ofRow) this.order.push(line[x]);
      ofRow = [];
    };
    /** @type {HTMLElement | null} */
    let doc = null;
    for (const tr of table.tBodies[0].rows) {
      const head = /** @type {HTMLElement | null} */ (tr.querySelector("th.doc"));
      if (head) {
        readColumnByColumn();
        doc = head;
      }
      const { r: row = "", q: question = "" } = tr.dataset;
      /** @type {Line} */
      const line = { tr, table, doc: /** @type {HTMLElement} */ (doc), row, question, cells: [] };
      line.cells = [...tr.querySelectorAll("td")].map((td, x) => {
        const column = cols[x].dataset.column ?? "";
        /** @type {Cell} */
        const cell = { td, line, x, rank: 0, row, question, column, col: cols[x], flags: flagsOf(td) };
        this.byKey.set(keyOf(row, column, question), cell);
        this.byElement.set(td, cell);
        return cell;
      });
      ofRow.push(line.cells);
      this.lines.push(line);
    }
    readColumnByColumn();
  }

  /** @param {Element | null} element */
  around(element) {
    const td = element?.closest("td");
    return td ? this.byElement.get(td) : undefined;
  }

  /**
   * @param {string} id of a cell as the server names it: c-row-column-question
   * @returns {Cell | undefined}
   */
  withId(id) {
    const [, row, column, question] = id.split("-");
    return this.byKey.get(keyOf(row, column, question));
  }

  // The lines that the filter leaves.
  shownLines() {
    return this.lines.filter((line) => !line.tr.hidden);
  }

  /**
   * A cell as the server has drawn it anew.
   * @param {[row: number, column: number, question: number, html: string]} drawn
   */
  redraw([row, column, question, html]) {
    const cell = this.byKey.get(keyOf(row, column, question));
    const holder = document.createElement("tr");
    holder.innerHTML = html;
    const td = holder.querySelector("td");
    if (!cell || !td) return;
    cell.td.replaceChildren(...td.childNodes);
    cell.td.className = td.className;
    cell.td.dataset.f = td.dataset.f ?? "";
    cell.flags = flagsOf(td);
  }
}

/**
 * @param {string | number} row
 * @param {string | number} column
 * @param {string | number} question
 */
const keyOf = (row, column, question) => `${row}/${column}/${question}`;

/** @param {HTMLElement} td */
const flagsOf = ({ dataset }) => new Set((dataset.f ?? "").split(" ").filter(Boolean));
