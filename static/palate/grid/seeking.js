// Going back over answers: `.` and then an option's key lead to the next cell with that option, so that a second pass over all
// that was "Not found" needs no mouse. `.` twice goes on with the option that was sought last.

import { optionOf } from "../core/codes.js";
import { fill } from "../core/sentences.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {{cells: Cells, focus: Focus, words: Sentences, refuse: (sentence: string) => void}} Parts */

export class Seeking {
  /** @param {Parts} parts */
  constructor({ cells, focus, words, refuse }) {
    this.cells = cells;
    this.focus = focus;
    this.words = words;
    this.refuse = refuse;
    this.waiting = false; // for the key of an option
    /** @type {Map<string, string>} */
    this.sought = new Map(); // question -> key of the option
    // Any other key, and any click, is not meant for this.
    cells.tables.addEventListener("keydown", ({ key }) => this.stop(key), { capture: true });
    cells.tables.addEventListener("mousedown", () => this.stop(""));
  }

  /** @param {Keys} keys */
  keys(keys) {
    keys.add(".", () => this.begin());
    keys.add(
      ".",
      () => this.seek(this.sought.get(this.focus.cell.question)),
      () => this.waiting,
    );
    for (const digit of "0123456789-")
      keys.add(
        digit,
        () => this.seek(this.cells.spec(this.focus.cell).options.find(({ hotkey }) => hotkey === digit)?.key),
        () => this.waiting,
      );
  }

  begin() {
    const { options } = this.cells.spec(this.focus.cell);
    if (!options.length) return false;
    this.waiting = true;
    const named = options.map(({ hotkey, label }) => `${hotkey} ${label}`);
    this.refuse(fill(this.words.seek, { options: named.join(", ") }));
    return true;
  }

  /** @param {string} key of a press; Shift and the like alone are none */
  stop(key) {
    if (!this.waiting || /^[\d.-]$|^(Shift|Alt|Control|Meta)$/.test(key)) return;
    this.waiting = false;
    this.refuse("");
  }

  /** @param {string | undefined} option its key */
  seek(option) {
    this.waiting = false;
    this.refuse("");
    if (!option) return;
    const { cell } = this.focus;
    this.sought.set(cell.question, option);
    const next = this.next(cell, option);
    if (next) this.focus.go(next);
    else this.refuse(fill(this.words.seekNone, { option: this.cells.option(cell, option)?.label ?? option }));
  }

  /**
   * The next cell of the same question with this option, in the order of the work and from its beginning after its end.
   * @param {Cell} cell
   * @param {string} option
   */
  next(cell, option) {
    const { order } = this.cells;
    return [...order.slice(cell.rank + 1), ...order.slice(0, cell.rank)].find(
      (other) => other.question === cell.question && !other.off && optionOf(other.code) === option,
    );
  }
}
