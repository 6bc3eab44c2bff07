// Copy, cut and paste: between cells, and to and from Excel or Google Sheets, as tab-separated words of the answers.

import { AnswerWords } from "../core/answers.js";
import { answerOf } from "../core/codes.js";
import { targets } from "../core/ranges.js";
import { fill } from "../core/sentences.js";
import { readTabs, writeTabs } from "../core/tabs.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./choosing.js").Choosing} Choosing */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./range.js").CellRange} CellRange */
/**
 * @typedef {object} Parts
 * @property {Cells} cells
 * @property {CellRange} range
 * @property {Choosing} choosing
 * @property {Editing} editing
 * @property {Sentences} words
 * @property {(title: string, sentences: string[]) => void} refused lists what was left out
 */

const OURS = "application/x-palate-cells";

export class CellClipboard {
  /** @param {Parts} parts */
  constructor({ cells, range, choosing, editing, words, refused }) {
    this.cells = cells;
    this.range = range;
    this.choosing = choosing;
    this.editing = editing;
    this.words = words;
    this.refused = refused;
    this.answers = new AnswerWords(words);
    /** @type {(cell: Cell, text: string, seen: string) => void} */
    this.write = () => {}; // into the editor of a cell
    const inGrid = () => cells.tables.contains(document.activeElement);
    document.addEventListener("copy", (event) => inGrid() && this.copy(event));
    document.addEventListener("cut", (event) => inGrid() && this.cut(event));
    document.addEventListener("paste", (event) => inGrid() && this.paste(event));
  }

  /** @param {ClipboardEvent} event */
  copy(event) {
    const { y0, y1, x0, x1 } = this.range.box();
    const lines = this.cells.lines.slice(y0, y1 + 1).map(({ cells }) => cells.slice(x0, x1 + 1));
    const words = lines.map((line) => line.map((cell) => this.answers.write(this.cells.spec(cell), cell.code)));
    event.clipboardData?.setData("text/plain", writeTabs(words));
    event.clipboardData?.setData(OURS, "");
    event.preventDefault();
  }

  /** @param {ClipboardEvent} event */
  cut(event) {
    this.copy(event);
    this.choosing.choose("");
  }

  /** @param {ClipboardEvent} event */
  paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const rows = readTabs(text);
    event.preventDefault();
    if (!rows.length) return;
    const [cell] = this.range.get();
    if (this.isText(cell, rows) && !isOfCells(event.clipboardData)) {
      this.write(cell, text.trim(), answerOf(cell.code));
      return;
    }
    /** @type {[Cell, string][]} */
    const wanted = [];
    /** @type {[Cell, string][]} */
    const unknown = [];
    let outside = 0; // words beyond the end of the table
    const { y0 } = this.range.box();
    const { table } = this.cells.lines[y0];
    for (const { y, x, word } of targets(this.range.box(), rows)) {
      const line = this.cells.lines[y];
      const cell = line?.table === table ? line.cells[x] : undefined;
      const answer = cell && this.answers.read(this.cells.spec(cell), word);
      if (!cell) outside += 1;
      else if (answer !== undefined) wanted.push([cell, answer]);
      else if (!cell.off) unknown.push([cell, word]);
    }
    const done = this.editing.change(wanted.filter(([cell, answer]) => answer || cell.code));
    // As in any spreadsheet an empty word clears, and any other replaces; the words that went are not seen any more, so it is
    // said, but for the one cell that had the focus.
    const hasCleared = done.changed.some((cell) => !cell.code);
    this.editing.report(done, hasCleared || (done.replaced > 0 && done.changed.length > 1));
    const left = [
      ...unknown.map(([cell, word]) =>
        this.sentence(cell, fill(this.words.unknownWord, { word: word.trim().slice(0, 80) })),
      ),
      ...done.refused.map(([cell, sentence]) => this.sentence(cell, sentence)),
      ...done.off.map((cell) => this.sentence(cell, this.words.off)),
      ...done.locked.map((cell) => this.sentence(cell, this.words.submitted)),
    ];
    if (outside) left.push(fill(this.words.leftOutside, { n: outside }));
    if (unknown.length || outside || done.refused.length) this.refused(this.editing.told(done), left);
    this.choosing.describe();
  }

  /**
   * Lines that may be one text, for a cell that takes one: a column of a spreadsheet goes down, a paragraph does not.
   * @param {Cell} cell
   * @param {string[][]} rows
   */
  isText(cell, rows) {
    const isLines = rows.length > 1 && rows.every(({ length }) => length === 1);
    return isLines && !this.range.isRange && this.cells.isTyped(cell) && this.cells.spec(cell).kind !== "number";
  }

  /**
   * @param {Cell} cell
   * @param {string} reason
   */
  sentence(cell, reason) {
    return `${this.cells.title(cell)}: ${reason}`;
  }
}

/**
 * It was copied out of cells, here or in a spreadsheet.
 * @param {DataTransfer | null} data
 */
const isOfCells = (data) =>
  data !== null && (data.types.includes(OURS) || data.getData("text/html").includes("<table"));
