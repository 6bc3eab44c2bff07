// Finding: `/` opens a line in which one types, and the grid goes to the columns that have these letters in them, then to the
// answers that do.

import { search } from "../core/finding.js";
import { fill } from "../core/sentences.js";
import { inside } from "../page/elements.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./focus.js").Focus} Focus */

export class Finder {
  /** @param {{cells: Cells, focus: Focus, words: Sentences, box: HTMLElement}} parts */
  constructor({ cells, focus, words, box }) {
    this.cells = cells;
    this.focus = focus;
    this.words = words;
    this.box = box;
    this.input = inside(box, "input", HTMLInputElement);
    this.count = inside(box, "output", HTMLOutputElement);
    /** @type {Cell[]} */
    this.found = []; // one of each column, then those with such an answer
    this.at = 0;
    /** @type {Cell | null} */
    this.from = null; // the cell that had the focus
    /** @type {Cell | null | undefined} */
    this.there = null; // the one that is shown
    this.input.addEventListener("input", () => this.search());
    this.input.addEventListener("keydown", (event) => {
      const action = {
        Enter: () => this.step(event.shiftKey ? -1 : 1),
        Escape: () => this.close(this.from),
        ArrowDown: () => this.close(this.there),
        Tab: () => this.close(this.there),
      }[event.key];
      if (!action || event.isComposing) return;
      event.preventDefault();
      action();
    });
    this.input.addEventListener("blur", () => {
      box.hidden = true;
    });
  }

  /** @param {Keys} keys */
  keys(keys) {
    keys.add("/", () => this.open());
  }

  open() {
    this.from = this.there = this.focus.cell;
    this.box.hidden = false;
    this.input.value = "";
    this.input.focus();
    this.search();
  }

  /** @param {Cell | null | undefined} cell */
  close(cell) {
    this.box.hidden = true;
    this.focus.go(cell);
  }

  search() {
    const columns = [...this.cells.columns].map(([column, { name }]) => /** @type {const} */ ([column, name]));
    const ofColumns = search(columns, this.input.value).flatMap((column) => this.cellOf(column) ?? []);
    const answered = this.cells.order.filter((cell) => this.cells.value(cell.code) !== undefined);
    const answers = answered.map((cell) => /** @type {const} */ ([cell, this.cells.inWords(cell, cell.code)]));
    this.found = [...new Set([...ofColumns, ...search(answers, this.input.value)])];
    this.at = 0;
    this.show();
  }

  /** @param {1 | -1} step */
  step(step) {
    this.at = (this.at + step + this.found.length) % (this.found.length || 1);
    this.show();
  }

  // Show the column in the document that had the focus, while one goes on typing.
  show() {
    const cell = this.found[this.at];
    const isTyped = this.input.value.trim() !== "";
    if (cell) this.count.textContent = fill(this.words.found, { n: this.at + 1, all: this.found.length });
    else this.count.textContent = isTyped ? this.words.notFound : "";
    this.there = cell ?? this.from;
    this.focus.go(this.there, { point: true });
  }

  /**
   * The column's cell in the document; in another one where the column's section is not asked of it.
   * @param {string} column
   */
  cellOf(column) {
    const here = this.cells.groups.get(`${this.from?.assignment}-${column}`)?.[0];
    return here ?? this.cells.order.find((cell) => cell.column === column);
  }
}
