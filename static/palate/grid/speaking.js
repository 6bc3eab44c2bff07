// For who hears the page: the focused cell is described by what the bottom line says of it, and one polite region says what
// a key has done. What an alert says already is not said twice.

import { fill } from "../core/sentences.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./choosing.js").Choosing} Choosing */
/** @typedef {import("./editing.js").Changed} Changed */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./hints.js").Hints} Hints */
/** @typedef {import("./saving.js").Saving} Saving */
/**
 * @typedef {object} Parts
 * @property {Cells} cells
 * @property {Choosing} choosing
 * @property {Editing} editing
 * @property {Saving} saving
 * @property {Hints} hints
 * @property {DOMStringMap} config
 * @property {Sentences} words
 * @property {Record<string, string>} states state of a note -> what is said of its cell
 * @property {HTMLElement} region
 * @property {HTMLElement} alert
 */

const LONGEST_ANSWER = 120; // characters

export class Speaking {
  /** @param {Parts} parts */
  constructor({ cells, choosing, editing, saving, hints, config, words, states, region, alert }) {
    this.cells = cells;
    this.choosing = choosing;
    this.editing = editing;
    this.hints = hints;
    this.config = config;
    this.words = words;
    this.states = states;
    this.region = region;
    this.alert = alert;
    /** @type {Cell | null} */
    this.described = null; // the focused cell
    this.sentence = ""; // what waits to be said
    this.waiting = 0;
    choosing.described.push((cell) => this.describe(cell));
    editing.changed.push((changes) => this.changed(changes));
    saving.changed.push((state) => {
      if (state === "retrying" && this.described) this.describe(this.described);
    });
  }

  // --- the focused cell -------------------------------------------------------------------------------------------------

  /** @param {Cell} cell that has the focus, or gets it now */
  describe(cell) {
    const before = this.described;
    this.described = cell;
    if (before && before !== cell) this.noted(before);
    this.put(cell, [this.note(cell), ...this.state(cell), this.keys(cell)].filter(Boolean).join(". "));
  }

  /**
   * What a cell is described by while another one has the focus.
   * @param {Cell} cell
   */
  noted(cell) {
    if (cell === this.described) this.describe(cell);
    else this.put(cell, this.note(cell) || (cell.td.dataset.judgeSaid ?? ""));
  }

  /**
   * @param {Cell} cell
   * @param {string} description
   */
  put({ td }, description) {
    if ((td.getAttribute("aria-description") ?? "") === description) return;
    if (description) td.setAttribute("aria-description", description);
    else td.removeAttribute("aria-description");
  }

  /** @param {Cell} cell */
  note({ td }) {
    return this.states[td.dataset.note ?? ""] ?? "";
  }

  /**
   * What stands behind its name in the bottom line, and what only its mark says.
   * @param {Cell} cell
   */
  state({ td, state }) {
    const [, ...behind] = this.choosing.where.childNodes;
    const said = behind.map(({ textContent }) => textContent).join("");
    const marks = [
      state === "failed" ? this.words.cellFailed : "",
      td.dataset.typed === undefined ? "" : this.words.cellTyped,
    ];
    return [said.replace(/^[ ·]+/, ""), ...marks];
  }

  /**
   * What each key does: the options with their keys, or what the line says in their place.
   * @param {Cell} cell
   */
  keys(cell) {
    const { choices, drawn } = this.choosing;
    const { options } = this.cells.spec(cell);
    if (drawn && options.length)
      return options.map(({ hotkey, label }) => (label === hotkey ? label : `${hotkey} ${label}`)).join(", ");
    const parts = [...choices.childNodes].filter(
      (part) => !(part instanceof HTMLElement && part.dataset.choose === ""),
    );
    return parts.map(({ textContent }) => textContent).join(" ");
  }

  // --- what a key has done ----------------------------------------------------------------------------------------------

  /** @param {Changed[]} changes none where a step of undo was taken */
  changed(changes) {
    const [one] = changes;
    if (!one) return;
    const said =
      changes.length > 1 ? this.editing.told({ changed: changes.map(({ cell }) => cell) }) : this.answer(one.cell);
    const { cell } = changes.find(({ before }) => !before) ?? {};
    const isDone = cell && !this.cells.left.get(cell.assignment) && !("submits" in this.config);
    const done = this.hints.isText() ? this.words.completeTyped : this.words.complete;
    this.say(isDone ? `${said} – ${done}` : said);
  }

  /**
   * @param {boolean} back undone, or else done again
   * @param {Cell} cell the first one
   * @param {number} n cells in all
   */
  turned(back, cell, n) {
    const first = this.answer(cell);
    const what = n > 1 ? fill(this.words.andMore, { what: first, n: n - 1 }) : first;
    this.say(fill(back ? this.words.undone : this.words.redone, { what }));
  }

  /** @param {string} assignment */
  submitted(assignment) {
    this.say(fill(this.words.nowSubmitted, { row: this.cells.nameOf(assignment) }));
  }

  /**
   * "Google 1, Task, shred: Found"
   * @param {Cell} cell
   */
  answer(cell) {
    const answer = this.cells.inWords(cell, cell.code);
    const cut = answer.length > LONGEST_ANSWER ? `${answer.slice(0, LONGEST_ANSWER - 1)}…` : answer;
    return `${this.cells.title(cell, ", ")}: ${cut}`;
  }

  /**
   * After the paint, so that no key waits for it and what the focus says comes first; of several sentences the last one.
   * @param {string} sentence
   */
  say(sentence) {
    this.sentence = sentence;
    this.waiting ||= requestAnimationFrame(() =>
      setTimeout(() => {
        this.waiting = 0;
        const isSaid = !this.alert.hidden && this.alert.textContent?.includes(this.sentence.replace(/\.$/, ""));
        if (!isSaid) this.region.textContent = this.sentence;
      }),
    );
  }
}
