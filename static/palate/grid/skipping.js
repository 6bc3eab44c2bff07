// Skipping: the rater cannot tell, and says why; of one cell, of the open cells of a range, or of what is left of a document.
// A skip goes the way of every other change: through the queue, with undo.

import { reasonFrom, reasonOf, skipCode } from "../core/codes.js";
import { fill } from "../core/sentences.js";
import { byId, elementOf, inside, make } from "../page/elements.js";
import { browserStore } from "../page/store.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./choosing.js").Choosing} Choosing */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./range.js").CellRange} CellRange */
/** @typedef {{focus: Focus, cells: Cells, range: CellRange, editing: Editing, choosing: Choosing, keys: Keys, words: Sentences}} Parts */

const STORE = "palate:skip-reasons";
const OFFERED = 8; // reasons that were given last

export class Skipping {
  /** @param {Parts} parts */
  constructor({ focus, cells, range, editing, choosing, keys, words }) {
    this.focus = focus;
    this.cells = cells;
    this.range = range;
    this.editing = editing;
    this.choosing = choosing;
    this.words = words;
    this.dialog = elementOf("skip", HTMLDialogElement);
    this.form = inside(this.dialog, "form", HTMLFormElement);
    this.reason = elementOf("skip-reason", HTMLInputElement);
    this.scopeHere = inside(this.form, "[name=scope][value=here]", HTMLInputElement);
    this.scopeRest = inside(this.form, "[name=scope][value=rest]", HTMLInputElement);
    /** @type {Cell[]} */
    this.here = []; // what is skipped: the cell, or the open cells of the range
    /** @type {Cell[]} */
    this.rest = []; // or all that is open in the document
    keys.add("x", () => this.open());
    byId("open-skip").addEventListener("click", () => this.open());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (/** @type {HTMLButtonElement | null} */ (event.submitter)?.value === "cancel") this.dialog.close();
      else this.skip();
    });
  }

  /** @returns {string[]} */
  reasons() {
    try {
      return JSON.parse(browserStore.read(STORE) ?? "[]") || [];
    } catch {
      return []; // somebody else's entry
    }
  }

  open() {
    const { cell } = this.focus;
    if (cell.off || !this.cells.takesAnswers(cell)) return this.choosing.describe();
    const { isRange } = this.range;
    this.here = isRange ? this.range.get().filter((other) => this.cells.isOpen(other)) : [cell];
    this.rest = this.cells.order.filter((other) => other.assignment === cell.assignment && this.cells.isOwed(other));
    const reasons = this.reasons();
    const row = this.cells.nameOf(cell.assignment);
    /**
     * @param {HTMLInputElement} scope
     * @param {string} sentence
     */
    const describe = (scope, sentence) => {
      if (scope.nextElementSibling) scope.nextElementSibling.textContent = sentence;
    };
    describe(this.scopeHere, isRange ? fill(this.words.skipRange, { n: this.here.length }) : this.cells.title(cell));
    describe(this.scopeRest, fill(this.words.skipRest, { row, n: this.rest.length }));
    this.scopeHere.checked = true;
    this.scopeRest.disabled = !this.rest.length;
    this.reason.value = reasonOf(cell.code) || reasons[0] || "";
    byId("skip-reasons").replaceChildren(...reasons.map((value) => make("option", { value })));
    this.dialog.showModal();
    this.reason.select();
  }

  skip() {
    const reason = reasonFrom(this.reason.value);
    if (!reason) return;
    // What the column presets is filled in by itself once something else of the column is said.
    const wanted = this.scopeRest.checked ? this.rest.filter((cell) => !this.cells.presetOf(cell)) : this.here;
    const reasons = [reason, ...this.reasons().filter((other) => other !== reason)];
    browserStore.write(STORE, JSON.stringify(reasons.slice(0, OFFERED))); // else it is not offered next time
    this.editing.change(wanted.map((cell) => [cell, skipCode(reason)]));
    this.dialog.close();
    const last = wanted.at(-1);
    if (last && !this.range.isRange) this.focus.answered(last);
    else this.choosing.describe();
  }
}
