// The focus of the lens: one cell has it, keys take it elsewhere, and beside it stands what is said of it and its document.

import { MOVING, movedTo } from "../core/moves.js";
import { byId } from "../page/elements.js";
import { light, reveal } from "../sheet/view.js";

/** @typedef {import("../sheet/evidence.js").EvidencePanel} EvidencePanel */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").LensCells} LensCells */
/** @typedef {{timer: ReturnType<typeof setTimeout> | undefined, request: AbortController}} Asking */
/**
 * @typedef {object} Parts
 * @property {LensCells} cells
 * @property {EvidencePanel} panel
 * @property {(cell: Cell) => string | null} aboutOf the facet that the cell's question is about
 * @property {string} address of what is said of a cell
 * @property {string} failed what is said where that does not come
 */

const PAUSE = 60; // ms on a cell before it is asked what is said of it: not for each one that is run over

export class LensFocus {
  /** @param {Parts} parts */
  constructor({ cells, panel, aboutOf, address, failed }) {
    this.cells = cells;
    this.panel = panel;
    this.aboutOf = aboutOf;
    this.address = address;
    this.failed = failed;
    /** @type {Cell | null} */
    this.now = null; // nothing on a sheet without cells
    /** @type {Asking | null} */
    this.asking = null;
    /** @type {(() => void)[]} */
    this.leaving = []; // listeners: before another cell, or the same one again, has the focus
    /** @type {((cell: Cell) => void)[]} */
    this.listeners = [];
    /** @type {((cell: Cell) => void)[]} */
    this.told = []; // listeners: what is said of the cell stands beside it by now
    /** @type {Cell | null} */
    this.toldOf = null; // the cell that the detail is of
    this.detail = byId("detail");
  }

  /**
   * `keys`: give it the keys too.
   * @param {Cell | null | undefined} cell
   */
  go(cell, { keys = true } = {}) {
    if (!cell) return;
    for (const listener of this.leaving) listener();
    if (this.now) {
      this.now.td.removeAttribute("tabindex");
      light(headingsOf(this.now), false);
    }
    this.now = cell;
    cell.td.tabIndex = 0;
    light(headingsOf(cell), true);
    if (keys) this.back();
    reveal(this.cells.tables, cell.line.table, cell.td);
    for (const listener of this.listeners) listener(cell);
    if (this.toldOf !== cell) this.toldOf = null; // of the same cell the detail stands still, and its answers can be taken
    clearTimeout(this.asking?.timer);
    this.asking?.request.abort();
    /** @type {Asking} */
    const mine = { timer: undefined, request: new AbortController() };
    mine.timer = setTimeout(() => this.tell(cell, mine), PAUSE);
    this.asking = mine;
  }

  // The keys come back to the cell.
  back() {
    this.now?.td.focus({ preventScroll: true });
  }

  /**
   * What is said of a cell, and the document beside it.
   * @param {Cell} cell
   * @param {Asking} mine
   */
  async tell(cell, mine) {
    const { row, column, question } = cell;
    this.panel.show(row, column, this.aboutOf(cell));
    const query = new URLSearchParams({ row, column, question });
    try {
      const request = { signal: mine.request.signal, credentials: /** @type {const} */ ("same-origin") };
      const answer = await fetch(`${this.address}?${query}`, request);
      if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
      const html = await answer.text();
      if (this.asking !== mine) return;
      this.detail.innerHTML = html;
      this.detail.scrollTop = 0;
      this.toldOf = cell;
      for (const listener of this.told) listener(cell);
    } catch {
      // What is asked no more was stopped by us.
      if (this.asking === mine) this.detail.textContent = this.failed;
    }
  }

  /** @param {Keys} keys */
  keys(keys) {
    for (const key of MOVING)
      for (const name of [key, key.startsWith("Ctrl+") ? key.replace("Ctrl+", "Ctrl+Shift+") : `Shift+${key}`])
        keys.add(name, () => this.move(key));
  }

  /** @param {string} key */
  move(key) {
    if (!this.now) return false;
    const shown = this.cells.shownLines();
    this.go(movedTo(key, shown, { y: shown.indexOf(this.now.line), x: this.now.x }));
    return true;
  }
}

/** @param {Cell} cell */
const headingsOf = ({ line, col, column }) => [line.tr, line.doc, col, byId(`h-${column}`)];
