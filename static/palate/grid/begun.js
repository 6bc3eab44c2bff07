// What was begun in a cell and not taken: kept in the browser with each key, so that a reload, a crash or a log-out loses none
// of it, beside the answer that stood there then, so that none that was saved since is written over.

import { answerOf } from "../core/codes.js";

/** @typedef {import("../core/queue.js").Store} Store */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {{text: string, seen: string}} Kept seen: the answer that stood in the cell */

export class Begun {
  /**
   * @param {object} parts
   * @param {Cells} parts.cells
   * @param {Store} parts.store
   * @param {string} parts.name of the entries in the store
   */
  constructor({ cells, store, name }) {
    this.cells = cells;
    this.store = store;
    this.prefix = `${name}:`;
    /** @type {(cell: Cell) => void} */
    this.changed = () => {}; // another tab has gone on with it, or has done with it
    window.addEventListener("storage", ({ key }) => {
      const cell = key?.startsWith(this.prefix) && this.cells.get(key.slice(this.prefix.length));
      if (!cell) return;
      this.mark(cell);
      this.changed(cell);
    });
  }

  /**
   * What an earlier visit left is marked.
   * @returns {Cell[]} the cells in which nothing was saved since
   */
  start() {
    const names = this.store.names(this.prefix);
    const left = names.flatMap((name) => this.cells.get(name.slice(this.prefix.length)) ?? []);
    for (const cell of left) this.mark(cell);
    return left.filter((cell) => this.read(cell)?.seen === answerOf(cell.code));
  }

  /**
   * @param {Cell} cell
   * @returns {Kept | null}
   */
  read(cell) {
    const entry = this.store.read(this.prefix + cell.id);
    if (entry === null) return null;
    try {
      const { text, seen } = JSON.parse(entry);
      if (typeof text === "string" && typeof seen === "string") return { text, seen };
    } catch {} // of a version that kept the text alone
    return { text: entry, seen: answerOf(cell.code) };
  }

  /**
   * @param {Cell} cell
   * @param {Kept} kept
   */
  write(cell, kept) {
    this.store.write(this.prefix + cell.id, JSON.stringify(kept));
  }

  /** @param {Cell} cell */
  remove(cell) {
    this.store.remove(this.prefix + cell.id);
    this.mark(cell);
  }

  /**
   * The cell shows whether something is kept for it.
   * @param {Cell} cell
   */
  mark(cell) {
    if (this.read(cell)) cell.td.dataset.typed = "";
    else delete cell.td.dataset.typed;
  }
}
