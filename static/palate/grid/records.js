// The editor of a list of records: a small table, one record a line, one field a column, written by keys as a spreadsheet is.

import { completions, writtenOut } from "../core/completing.js";
import { readPlaces, wordsAt } from "../core/places.js";
import {
  appended,
  draftOfRecords,
  fieldsOf,
  filledIn,
  hasPlaces,
  inserted,
  isBlank,
  offersIn,
  pastedLines,
  placesIn,
  problemsIn,
  proposedIn,
  readLines,
  shifted,
  steppedIn,
  tiedTo,
  without,
  withPlaces,
  written,
} from "../core/records.js";
import { fill } from "../core/sentences.js";
import { saidFields } from "../core/values.js";
import { make, placeOf } from "../page/elements.js";
import { Offers } from "./offers.js";

/** @typedef {import("../core/records.js").RecordsDraft} RecordsDraft */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/values.js").ItemRecord} ItemRecord */
/** @typedef {import("../core/values.js").Value} Value */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./composing.js").Composing} Composing */
/** @typedef {import("../sheet/evidence.js").EvidencePanel} EvidencePanel */
/** @typedef {{composing: Composing, cells: Cells, words: Sentences, panel: EvidencePanel}} Parts */

/** Keys that go through the words of the document; by their place, since with Alt some keyboards write other signs. */
const STEPS = /** @type {Record<string, 1 | -1>} */ ({ Period: 1, Comma: -1 });

export class RecordsEditor {
  /** @param {Parts} parts */
  constructor({ composing, cells, words, panel }) {
    this.composing = composing;
    this.cells = cells;
    this.words = words;
    this.panel = panel;
    this.keys = words.recordKeys;
    this.told = -1; // the line whose words stand out in the document
    this.isTold = false; // what is wrong is shown at its line, since it was to be taken once
    /** @type {Cell | null} */
    this.cell = null;
    /** @type {RecordsDraft} */
    this.draft = { lines: [[""]], y: 0, x: 0 };
    this.head = make("tr");
    this.rows = make("tbody");
    this.table = make("table", { className: "records" }, make("thead", {}, this.head), this.rows);
    this.element = make("div", { className: "records-editor" }, this.table);
    this.offers = new Offers(this.element, ({ text }) => this.write(text, ""));
    this.rows.addEventListener("keydown", (event) => this.press(event));
    this.rows.addEventListener("input", (event) => {
      const field = /** @type {HTMLTextAreaElement} */ (placeOf(event));
      this.change(written(this.draft, field.value), { kind: `${this.draft.y}-${this.draft.x}`, isDrawn: true });
      this.showProblems();
      this.offer();
    });
    this.rows.addEventListener("focusin", (event) => this.come(placeOf(event)));
    this.rows.addEventListener("focusout", ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && this.rows.contains(relatedTarget))) this.offers.hide();
    });
    this.rows.addEventListener("paste", (event) => this.paste(event));
    this.rows.addEventListener("click", (event) => {
      const button = placeOf(event).closest("button");
      const y = button ? [...this.rows.querySelectorAll("button")].indexOf(button) : -1;
      if (y >= 0) this.go(without({ ...this.draft, y }));
    });
    this.element.addEventListener("scroll", () => this.offers.hide());
    // Words that somebody marks in the document become those of the entry, and the keys stay where they were.
    panel.panel.addEventListener("mouseup", (event) => {
      if (!this.cell || !this.element.isConnected || !hasPlaces(this.spec)) return;
      if (placeOf(event).closest("button, a")) return;
      event.stopPropagation();
      this.tie();
    });
    panel.panel.addEventListener("shown", () => this.element.isConnected && this.showProposals());
  }

  // --- what the host asks of an editor --------------------------------------------------------------------------------

  /**
   * @param {Cell} cell
   * @param {Value | undefined} value
   * @param {boolean} isBegun
   */
  begin(cell, value, isBegun) {
    const draft = draftOfRecords(this.cells.spec(cell), /** @type {ItemRecord[]} */ (value ?? []));
    return isBegun ? appended(draft) : draft;
  }

  /**
   * @param {Cell} cell
   * @param {any} draft
   */
  fits(cell, draft) {
    const n = fieldsOf(this.cells.spec(cell)).length;
    const { lines, y, x } = draft;
    return (
      Array.isArray(lines) &&
      lines.every((line) => Array.isArray(line) && line.length === n && line.every((one) => typeof one === "string")) &&
      lines[y]?.[x] !== undefined
    );
  }

  /**
   * @param {Cell} cell
   * @param {unknown} draft
   */
  draw(cell, draft) {
    if (this.cell !== cell) this.isTold = false;
    this.cell = cell;
    this.draft = /** @type {RecordsDraft} */ (draft);
    const { spec } = this;
    const isCarried = fieldsOf(spec).some(({ carried }) => carried);
    const mayBeEmpty = spec.items?.fewest === 0;
    this.keys = [
      this.words.recordKeys,
      mayBeEmpty && this.words.noRecords,
      isCarried && this.words.carryKeys,
      hasPlaces(spec) && this.words.tieKeys,
    ]
      .filter(Boolean)
      .join(" · ");
    this.composing.keys.textContent = this.keys;
    const names = fieldsOf(spec).map(({ name, list }) => (list ? fill(this.words.listField, { field: name }) : name));
    this.table.ariaLabel = spec.title;
    this.head.replaceChildren(
      make("th"),
      ...names.map((textContent) => make("th", { scope: "col", textContent })),
      make("th"),
    );
    this.offers.hide();
    this.rows.replaceChildren(...this.draft.lines.map((line, y) => this.lineOf(line, y, spec)));
    this.showProblems();
    this.showProposals();
  }

  get spec() {
    return this.cells.spec(/** @type {Cell} */ (this.cell));
  }

  /** The texts of the document's blocks; none while it is not there. */
  get texts() {
    return this.cell ? this.panel.textsOf(this.cell.assignment) : [];
  }

  /**
   * @param {Cell} cell
   * @param {unknown} draft
   */
  read(cell, draft) {
    const spec = this.cells.spec(cell);
    const lines = withPlaces(spec, /** @type {RecordsDraft} */ (draft).lines, this.panel.textsOf(cell.assignment));
    return readLines(spec, lines, this.words);
  }

  left() {
    if (this.cell) this.panel.untie();
    this.cell = null;
  }

  // What is wrong is shown at its line, and the first such field has the keys.
  refused() {
    this.isTold = true;
    const [first] = this.showProblems();
    if (first) this.composing.say("");
    if (first) this.go({ ...this.draft, y: first[0], x: first[1].x }, { isSame: true });
    else this.focus();
  }

  focus() {
    const field = this.fieldAt(this.draft.y, this.draft.x);
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
    field?.scrollIntoView({ block: "nearest" });
  }

  // --- how it is drawn ------------------------------------------------------------------------------------------------

  /**
   * @param {string[]} line
   * @param {number} y
   * @param {import("./cells.js").Question} spec
   */
  lineOf(line, y, spec) {
    const n = y + 1;
    const fields = saidFields(spec).map(({ name, required }, x) => {
      const field = make("textarea", { rows: 1, dir: "auto", value: line[x], autocomplete: "off", spellcheck: true });
      field.ariaLabel = fill(this.words.entryField, { field: name, n });
      field.ariaRequired = String(required);
      field.ariaExpanded = "false";
      field.setAttribute("role", "combobox");
      field.setAttribute("aria-autocomplete", "list");
      field.setAttribute("aria-controls", "composing-offers");
      field.dataset.x = String(x);
      const place = make("td");
      place.append(field);
      return place;
    });
    const remove = make("button", { type: "button", className: "link", tabIndex: -1, textContent: "✕" });
    remove.ariaLabel = remove.title = fill(this.words.removeEntry, { n });
    const number = make("th", { scope: "row", className: "quiet n", textContent: String(n) });
    const place = fieldsOf(spec).find((field) => field.place);
    const words = make("td", { className: "words quiet" });
    if (place) words.ariaLabel = fill(this.words.wordsOf, { field: place.name, n });
    return make("tr", {}, number, ...fields, ...(place ? [words] : []), make("td", { className: "remove" }, remove));
  }

  // What earlier entries propose stands grey in empty fields, and beside each entry stand the words that it comes from; those
  // of the entry that has the focus stand out in the document, those of the others are marked faintly.
  showProposals() {
    if (!this.cell) return;
    const { spec, texts } = this;
    const { lines, y: now } = this.draft;
    this.told = now;
    const places = placesIn(spec, lines, texts);
    for (const [y, line] of [...this.rows.querySelectorAll("tr:not(.problem)")].entries()) {
      const proposed = proposedIn(spec, lines, y, texts);
      for (const field of line.querySelectorAll("textarea")) {
        const text = proposed.get(Number(field.dataset.x)) ?? "";
        if (field.placeholder === text) continue;
        field.placeholder = text;
        if (text) field.setAttribute("aria-description", fill(this.words.proposed, { text }));
        else field.removeAttribute("aria-description");
      }
      const cell = line.querySelector(".words");
      if (!(cell instanceof HTMLElement)) continue;
      const words = wordsAt(texts, readPlaces(places[y].place) ?? []);
      cell.textContent = words || (texts.length && !isBlank(lines[y]) ? this.words.notTied : "");
      cell.title = places[y].isFound ? fill(this.words.foundWords, { words }) : words;
      cell.classList.toggle("found", places[y].isFound);
      cell.classList.toggle("untied", !words);
    }
    if (!hasPlaces(spec)) return;
    const others = places.flatMap(({ place }, y) => (y === now ? [] : (readPlaces(place) ?? [])));
    this.panel.tie(this.cell.assignment, readPlaces(places[now].place) ?? [], others);
  }

  // The words that are selected in the document become those of the entry.
  tie() {
    const places = this.panel.selected();
    if (places.length) this.change(tiedTo(this.spec, this.draft, places, this.texts));
    this.focus();
  }

  /**
   * @param {number} y
   * @param {number} x
   */
  fieldAt(y, x) {
    const line = [...this.rows.querySelectorAll("tr:not(.problem)")][y];
    return line?.querySelectorAll("textarea")[x];
  }

  // A sentence below each line that is wrong, once they are to be told.
  showProblems() {
    if (!this.cell) return [];
    const problems = this.isTold ? problemsIn(this.cells.spec(this.cell), this.draft.lines, this.words) : new Map();
    for (const old of this.rows.querySelectorAll(".problem")) old.remove();
    const lines = [...this.rows.children];
    for (const [y, line] of lines.entries())
      for (const field of line.querySelectorAll("textarea")) {
        const problem = problems.get(y);
        const isWrong = problem?.x === Number(field.dataset.x);
        if (isWrong) field.setAttribute("aria-invalid", "true");
        else field.removeAttribute("aria-invalid");
        if (isWrong) field.setAttribute("aria-describedby", `problem-${y}`);
        else field.removeAttribute("aria-describedby");
      }
    for (const [y, { sentence }] of problems) {
      const place = make("td", { colSpan: this.draft.lines[0].length + 1, id: `problem-${y}`, textContent: sentence });
      lines[y].after(make("tr", { className: "problem" }, make("td"), place));
    }
    return [...problems];
  }

  // --- how it is written ----------------------------------------------------------------------------------------------

  /**
   * @param {RecordsDraft} draft
   * @param {{kind?: string, isDrawn?: boolean}} [how]
   */
  change(draft, how) {
    this.draft = draft;
    this.composing.change(draft, how);
    if (how?.isDrawn) this.showProposals();
  }

  /**
   * Another draft, with the keys in its caret.
   * @param {RecordsDraft} draft
   * @param {{isSame?: boolean}} [how] `isSame`: but for the caret it is the one that stands there
   */
  go(draft, { isSame = false } = {}) {
    this.offers.hide();
    if (isSame) this.draft = draft;
    else this.change(draft);
    this.focus();
  }

  /** @param {Element} field */
  come(field) {
    const line = field.closest("tr");
    const { x } = /** @type {HTMLElement} */ (field).dataset;
    if (!line || x === undefined) return;
    const y = [...this.rows.querySelectorAll("tr:not(.problem)")].indexOf(line);
    if (y !== this.draft.y || Number(x) !== this.draft.x) this.offers.hide();
    this.draft = { ...this.draft, y, x: Number(x) };
    if (this.told !== y) this.showProposals();
    if (this.cell && fieldsOf(this.spec)[Number(x)].options && !this.fieldAt(y, Number(x))?.value) this.offer();
  }

  /**
   * @param {string} text
   * @param {string} [kind]
   */
  write(text, kind) {
    const { y, x } = this.draft;
    const field = this.fieldAt(y, x);
    if (field) field.value = text;
    this.change(written(this.draft, text), { kind, isDrawn: true });
    this.showProblems();
    this.offers.hide();
    field?.focus();
  }

  /** @param {boolean} [all] also where nothing is typed yet, as options always are */
  offer(all = false) {
    const { cell, draft } = this;
    const field = this.fieldAt(draft.y, draft.x);
    if (!cell || !field) return;
    const spec = this.cells.spec(cell);
    const { list, options } = fieldsOf(spec)[draft.x];
    const known = offersIn(spec, draft, this.earlier(cell));
    const how = { separator: list ? "," : "", escapes: list, all: all || !!options, most: options?.length };
    this.offers.show(field, completions(known, field.value, how));
  }

  /**
   * What was answered to the same question: above in this document, then in the others.
   * @param {Cell} cell
   */
  earlier(cell) {
    return /** @type {ItemRecord[][]} */ (this.cells.answersTo(cell));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { key, shiftKey, altKey, isComposing } = event;
    if (isComposing || !placeOf(event).matches("textarea")) return;
    const ctrl = event.ctrlKey || event.metaKey;
    if ((key === "Enter" || key === "Tab") && !altKey && (ctrl || !this.offers.picked)) this.writeOut();
    const { draft, offers } = this;
    const { lines, y, x } = draft;
    const isUp = key === "ArrowUp";
    const isArrow = isUp || key === "ArrowDown";
    const step = isUp || shiftKey ? -1 : 1;
    if (altKey && isArrow && !ctrl) this.go(shifted(draft, step));
    else if (altKey && key === "Enter") this.go(inserted(draft));
    else if (altKey && !ctrl && hasPlaces(this.spec) && STEPS[event.code])
      this.go(steppedIn(this.spec, draft, STEPS[event.code], shiftKey, this.texts));
    else if (ctrl && key === "Delete") this.go(without(draft));
    else if (ctrl && key === " ") this.offer(true);
    else if (ctrl || altKey) return;
    else if (isArrow && offers.offers.length) offers.move(step);
    else if ((key === "Enter" || key === "Tab") && offers.picked && !shiftKey) this.write(offers.picked.text, "");
    else if (key === "Escape" && offers.picked) offers.hide();
    else if (isArrow) {
      if (lines[y + step]) this.go({ lines, y: y + step, x }, { isSame: true });
    } else if (key === "Enter") this.enter(step);
    else if (key === "ArrowRight" && !shiftKey && this.proposedAt(y, x)) this.write(this.proposedAt(y, x));
    else if (key === "Tab" && !shiftKey && y === lines.length - 1 && x === this.lastX && !isBlank(lines[y]))
      this.go(appended(draft));
    else return; // Tab goes from field to field by itself, and out of an empty last line
    event.preventDefault();
  }

  // The beginning of one of a field's options becomes that option.
  writeOut() {
    const { lines, y, x } = this.draft;
    const { options, list } = fieldsOf(this.spec)[x];
    const text = options && writtenOut(options, lines[y][x], list);
    if (text !== undefined && text !== lines[y][x]) this.write(text);
  }

  /** The last field that is written in. */
  get lastX() {
    return saidFields(this.spec).length - 1;
  }

  /**
   * What is proposed in a field, which is empty then.
   * @param {number} y
   * @param {number} x
   */
  proposedAt(y, x) {
    const field = this.fieldAt(y, x);
    return field && !field.value ? field.placeholder : "";
  }

  /**
   * The next line; below the last one a new one, and an empty last one takes the list.
   * @param {1 | -1} step
   */
  enter(step) {
    const { lines, y } = this.draft;
    if (lines[y + step]) this.go({ lines, y: y + step, x: 0 }, { isSame: true });
    else if (step < 0) return;
    else if (!isBlank(lines[y])) this.go(appended(this.draft));
    else if (!lines.every(isBlank)) this.composing.take();
  }

  /** @param {ClipboardEvent} event */
  paste(event) {
    event.stopPropagation();
    const pasted = pastedLines(event.clipboardData?.getData("text/plain") ?? "");
    if (!pasted) return; // one text goes in where the caret is
    event.preventDefault();
    const { draft, left } = filledIn(this.draft, pasted);
    this.go(draft);
    if (left) this.composing.say(fill(this.words.notPasted, { n: left }));
  }
}
