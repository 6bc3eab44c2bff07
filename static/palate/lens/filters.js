// The filters of the lens: which cells stand out, how many of each kind there are, and the address that says so.

import { isAsked, isOf, isShown, isTarget } from "../core/differences.js";
import { fill } from "../core/sentences.js";
import { byId, elementOf } from "../page/elements.js";

/** @typedef {import("../core/differences.js").Filter} Filter */
/** @typedef {import("../core/differences.js").Row} Row */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").LensCells} LensCells */

export class Filters {
  /**
   * @param {LensCells} cells
   * @param {Record<string, Row>} rows
   * @param {Sentences} words
   */
  constructor(cells, rows, words) {
    this.cells = cells;
    this.rows = rows;
    this.words = words;
    /** @type {Cell[]} */
    this.targets = []; // where the keys lead to
    /** @type {Cell[]} */
    this.shown = []; // all that the filter shows
    this.form = elementOf("filters", HTMLFormElement);
    const counts = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-count]"));
    this.counts = new Map([...counts].map((element) => [element.dataset.count ?? "", element]));
    this.form.addEventListener("submit", (event) => event.preventDefault());
  }

  /**
   * A field of the form, by name: radio buttons, a list, a box to tick. Not every page has each of them.
   * @param {string} name
   */
  field(name) {
    const field = this.form.elements.namedItem(name);
    return /** @type {RadioNodeList | HTMLSelectElement | null} */ (field);
  }

  /** @returns {HTMLSelectElement[]} a list for each facet of the rows */
  get facets() {
    return [...this.form.querySelectorAll("select")].filter(({ name }) => name.startsWith(FACET));
  }

  get undecided() {
    return /** @type {HTMLInputElement} */ (this.form.elements.namedItem("undecided"));
  }

  /** @returns {Filter} */
  get now() {
    /** @param {string} name */
    const value = (name) => this.field(name)?.value ?? "";
    return {
      kind: value("kind"),
      judge: value("judge"),
      rater: value("rater"),
      question: value("question"),
      facets: Object.fromEntries(
        this.facets.filter((list) => list.value).map(({ name, value }) => [name.slice(FACET.length), value]),
      ),
      undecided: this.undecided.checked,
    };
  }

  // Those that the address asks for.
  read() {
    const asked = new URLSearchParams(location.search);
    for (const name of ["kind", "judge", "question"]) {
      const [field, value] = [this.field(name), asked.get(name)];
      if (field && value !== null) field.value = value;
    }
    // Of a rater the address has the code, which is the same on every sheet.
    for (const list of /** @type {HTMLSelectElement[]} */ ([this.field("rater"), ...this.facets].filter(Boolean))) {
      const meant = [...list.options].find((option) => wordOf(list, option) === asked.get(list.name));
      if (meant) list.value = meant.value;
    }
    this.undecided.checked = asked.has("undecided");
  }

  // To ask for a judge is to ask where it differs.
  complete() {
    const kind = this.field("kind");
    if (kind && this.now.judge && !this.now.kind) kind.value = "judge";
  }

  apply() {
    const { now } = this;
    const narrow = Boolean(
      now.kind || now.question || now.undecided || now.rater || Object.keys(now.facets).length > 0,
    );
    /** @type {Set<HTMLElement>} */
    const rows = new Set();
    this.targets = [];
    this.shown = [];
    for (const cell of this.cells.order) {
      const seen = this.seen(cell);
      const shown = isShown(seen, now);
      if (shown) {
        rows.add(cell.line.doc);
        this.shown.push(cell);
      }
      cell.td.classList.toggle("dim", narrow && !shown);
      if (isTarget(seen, now)) this.targets.push(cell);
    }
    for (const line of this.cells.lines) line.tr.hidden = narrow && !rows.has(line.doc);
    for (const table of this.cells.tables.querySelectorAll("table"))
      table.hidden = [...table.tBodies[0].rows].every((tr) => tr.hidden);
    byId("nothing").hidden = !narrow || rows.size > 0;
    this.count(now);
    this.keepInAddress(now);
  }

  /**
   * @param {Cell} cell
   * @returns {import("../core/differences.js").Seen}
   */
  seen({ row, question, flags, td }) {
    return { question, flags, off: td.classList.contains("off"), row: this.rows[row] };
  }

  /** @param {Filter} now */
  count(now) {
    const asked = this.cells.order.map((cell) => this.seen(cell)).filter((cell) => isAsked(cell, now));
    for (const [kind, element] of this.counts)
      element.textContent = String(asked.filter((cell) => isOf(cell, kind, now)).length);
  }

  /** @param {Filter} now */
  keepInAddress(now) {
    const query = new URLSearchParams();
    for (const name of /** @type {const} */ (["kind", "judge", "question"])) if (now[name]) query.set(name, now[name]);
    for (const list of /** @type {HTMLSelectElement[]} */ ([this.field("rater"), ...this.facets].filter(Boolean)))
      if (list.value) query.set(list.name, wordOf(list, list.selectedOptions[0]));
    if (now.undecided) query.set("undecided", "1");
    // Another part of a large sheet comes under the same filter, and the page stays at its own.
    const partLinks = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-part]"));
    for (const link of partLinks) {
      const there = new URLSearchParams(query);
      there.set("part", new URLSearchParams(link.search).get("part") ?? "");
      link.search = String(there);
    }
    const { part } = byId("lens-config").dataset; // whichever way the page was asked for
    const next = new URLSearchParams(query);
    if (part) query.set("part", part);
    history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
    // The next sheet comes under the same filter.
    const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-sheet]"));
    for (const link of links) link.search = String(next);
  }

  /**
   * Which target the focus is on.
   * @param {Cell | null} focused
   */
  showPlace(focused) {
    const here = focused ? this.targets.indexOf(focused) : -1;
    const all = this.targets.length;
    const sentence = !all ? this.words.none : here < 0 ? this.words.of : this.words.place;
    byId("place").textContent = fill(sentence, { here: here + 1, all });
    for (const id of ["next", "previous"]) elementOf(id, HTMLButtonElement).disabled = !all;
  }

  // Where the focus belongs: a target, or at least a cell that the filter shows.
  get wanted() {
    return this.targets.length ? this.targets : this.shown;
  }

  /**
   * The next target after a cell in the order of reading, or before it; from the last one on to the first.
   * @param {Cell | null} cell
   * @param {1 | -1} step
   */
  next(cell, step) {
    const rank = cell ? cell.rank : -1;
    if (step > 0) return this.targets.find((other) => other.rank > rank) ?? this.targets[0];
    return this.targets.findLast((other) => other.rank < rank) ?? this.targets.at(-1);
  }
}

const FACET = "facet."; // the beginning of the names of their lists

/**
 * What the address says of a choice.
 * @param {HTMLSelectElement} list
 * @param {HTMLOptionElement} option
 */
const wordOf = (list, option) => (list.name === "rater" && option.value ? option.text : option.value);
