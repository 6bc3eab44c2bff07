// The cells of a sheet: where each one stands, what is in it, and what follows from it by the scheme's rules.

import { answerOf, draftCode, isDraft, optionOf, presetCode, reasonOf, skipCode, valueIn } from "../core/codes.js";
import { changed, switched } from "../core/rules.js";
import { fill } from "../core/sentences.js";
import { entriesOf, hasValues, shownValue, signOf } from "../core/values.js";
import { make } from "../page/elements.js";

/** @typedef {import("../core/answers.js").Option} Option */
/** @typedef {import("../core/rules.js").Rule} Rule */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/values.js").Value} Value */
/** @typedef {import("../core/values.js").ValueQuestion} ValueQuestion */
/**
 * A question as the server says it; questions and columns are named by the numbers that the database gives them.
 * @typedef {object} AskedQuestion
 * @property {string} key
 * @property {string | null} about the facet of the columns that it is about
 * @property {string} section
 * @property {string} means what the numbers of a scale mean, beside them
 * @property {boolean} optional its cells may stay open
 * @property {Record<string, string[]>} askUnless question -> answers
 * @property {Record<string, string>} presets column -> answer
 * @property {Option[]} options none where its answers are values
 */
/** @typedef {AskedQuestion & ValueQuestion} Question */
/** @typedef {Record<string, Question>} Palette question -> what is asked */
/**
 * A line of a table: one question of one document; of a table that is read downwards, one column of it, and no question.
 * @typedef {object} Line
 * @property {number} y its place among the lines of all tables
 * @property {HTMLTableRowElement} tr
 * @property {HTMLTableElement} table
 * @property {string} assignment
 * @property {string} question
 * @property {HTMLElement} head of the document
 * @property {Cell[]} cells
 */
/**
 * @typedef {object} Cell
 * @property {string} id "c-assignment-column-question"
 * @property {HTMLTableCellElement} td
 * @property {Line} line
 * @property {number} x its place in the line
 * @property {number} rank its place in the order of the work
 * @property {string} assignment
 * @property {string} column
 * @property {string} question
 * @property {Cell[]} group the cells of its column in its document, question by question
 * @property {string} code of the answer in it
 * @property {boolean} off not asked
 * @property {MarkState} state
 */
/** @typedef {"" | "saving" | "failed" | "conflict"} MarkState how far what a cell shows is from the database */
/** @typedef {[cell: Cell, code: string]} Wanted */
/** @typedef {{tables: HTMLElement, palette: Palette, words: Sentences}} Source */

const LINE = 32; // the height of a line in pixels, as in the style sheet

export class Cells {
  /** @param {Source} source */
  constructor({ tables, palette, words }) {
    this.tables = tables;
    this.palette = palette;
    this.words = words;
    /** @type {Map<string, Cell>} */
    this.byId = new Map();
    /** @type {Line[]} */
    this.lines = []; // of all tables, in the order of the page
    /** @type {Map<string, {name: string, head: HTMLElement}>} */
    this.columns = new Map();
    /** @type {Map<string, Cell[]>} */
    this.parts = new Map(); // assignment -> its cells, a section after the other, in it column by column
    for (const assignment of (tables.dataset.documents ?? "").trim().split(/\s+/)) this.parts.set(assignment, []);
    /** @type {Map<string, Cell[]>} */
    this.groups = new Map(); // "assignment-column" -> the cells of that column in that document, question by question
    /** @type {Map<string, Rule[]>} */
    this.rules = new Map(); // column -> the rules of its questions, once they are needed
    /** @type {Map<string, string>} */
    this.names = new Map(); // assignment -> name of its document
    /** @type {Set<string>} */
    this.locked = new Set(); // assignments that are submitted, withdrawn, or of a closed sheet
    /** @type {Set<string>} */
    this.submitted = new Set(); // of these: what a correction opens again, unless the sheet is closed
    this.isClosed = false; // the sheet
    /** @type {Map<string, number>} */
    this.left = new Map(); // assignment -> cells that owe an answer
    /** @type {((touched: Cell[]) => void)[]} */
    this.applied = []; // listeners: once answers were put, with a cell of each column that they touch
    this.asked = 0;
    this.open = 0;
    for (const table of tables.querySelectorAll("table")) this.read(table);
    this.documents = [...this.parts.keys()].filter((assignment) => this.names.has(assignment)); // in this person's order
    // The order of the work: a document after the other, in it the sections, in them column by column.
    this.order = this.documents.flatMap((assignment) => this.partsOf(assignment));
    this.order.forEach((cell, rank) => {
      cell.rank = rank;
    });
  }

  /** @param {HTMLTableElement} table */
  read(table) {
    if (table.classList.contains("down")) this.readDown(table);
    else this.readAcross(table);
  }

  /**
   * A table that is read from top to bottom: a line is one column of one document, with a cell a question.
   * @param {HTMLTableElement} table
   */
  readDown(table) {
    const heads = /** @type {NodeListOf<HTMLElement>} */ (table.tHead?.querySelectorAll("th[data-question]"));
    const questions = [...heads].map((head) => head.dataset.question ?? "");
    /** @type {HTMLElement | null} */
    let head = null;
    for (const tr of table.tBodies[0].rows) {
      const { a: assignment = "", c: column = "" } = tr.dataset;
      const first = /** @type {HTMLElement | null} */ (tr.querySelector("th.doc"));
      if (first) {
        head = first;
        this.meet(assignment, first, "locked" in tr.dataset);
      }
      const given = /** @type {HTMLElement} */ (tr.querySelector("th[data-name]"));
      this.columns.set(column, { name: given.dataset.name ?? "", head: given });
      const doc = /** @type {HTMLElement} */ (head);
      /** @type {Line} */
      const line = { y: this.lines.length, tr, table, assignment, question: "", head: doc, cells: [] };
      this.lines.push(line);
      /** @type {Cell[]} */
      const group = [];
      const start = tr.cells.length - questions.length;
      questions.forEach((question, x) => {
        this.add({ td: tr.cells[start + x], line, x, assignment, column, question, group });
      });
      this.groups.set(`${assignment}-${column}`, group);
      this.partsOf(assignment).push(...group);
    }
  }

  /**
   * A document as the first of its tables names it.
   * @param {string} assignment
   * @param {HTMLElement} head
   * @param {boolean} locked
   */
  meet(assignment, head, locked) {
    if (this.names.has(assignment)) return;
    this.names.set(assignment, head.querySelector(".name")?.textContent ?? "");
    this.left.set(assignment, 0);
    if (locked) this.locked.add(assignment);
  }

  /** @param {Pick<Cell, "td" | "line" | "x" | "assignment" | "column" | "question" | "group">} place */
  add(place) {
    const { td, line, assignment, column, question, group } = place;
    td.id = `c-${assignment}-${column}-${question}`;
    const off = td.hasAttribute("aria-disabled");
    /** @type {Cell} */
    const cell = { ...place, id: td.id, rank: 0, code: codeIn(td), off, state: "" };
    group.push(cell);
    line.cells.push(cell);
    this.byId.set(cell.id, cell);
    this.tally(cell, 1);
  }

  /** @param {HTMLTableElement} table */
  readAcross(table) {
    const heads = /** @type {NodeListOf<HTMLElement>} */ (table.tHead?.querySelectorAll("th[data-column]"));
    const columns = [...heads].map((head) => {
      const column = /** @type {string} */ (head.dataset.column);
      this.columns.set(column, { name: head.title, head });
      return column;
    });
    /** @type {Cell[][]} */
    let groups = [];
    /** @type {HTMLElement | null} */
    let head = null;
    const rows = [...table.tBodies].flatMap((body) => {
      // What is out of sight is not laid out, but has its size.
      // Where answers are values it grows with them: the browser remembers how high it was.
      const known = table.classList.contains("values") ? "auto " : "";
      body.style.containIntrinsicBlockSize = `${known}${body.rows.length * LINE}px`;
      return [...body.rows];
    });
    for (const [n, tr] of rows.entries()) {
      const { a: assignment, q: question } = /** @type {{a: string, q: string}} */ (
        /** @type {unknown} */ (tr.dataset)
      );
      const first = /** @type {HTMLElement | null} */ (tr.querySelector("th.doc"));
      if (first) {
        head = first;
        groups = columns.map(() => []);
        for (const [x, column] of columns.entries()) this.groups.set(`${assignment}-${column}`, groups[x]);
        this.meet(assignment, first, "locked" in tr.dataset);
      }
      /** @type {Cell[]} */
      const cells = [];
      const line = {
        y: this.lines.length,
        tr,
        table,
        assignment,
        question,
        head: /** @type {HTMLElement} */ (head),
        cells,
      };
      this.lines.push(line);
      const start = tr.cells.length - columns.length;
      columns.forEach((column, x) => {
        this.add({ td: tr.cells[start + x], line, x, assignment, column, question, group: groups[x] });
      });
      if (rows[n + 1]?.dataset.a !== assignment) for (const group of groups) this.partsOf(assignment).push(...group);
    }
  }

  /** @param {string} id */
  get(id) {
    return this.byId.get(id);
  }

  /**
   * The cell that an element is, or is in.
   * @param {Element | null} element
   */
  around(element) {
    return this.byId.get(element?.closest("td")?.id ?? "");
  }

  /** @param {string} assignment */
  partsOf(assignment) {
    return this.parts.get(assignment) ?? [];
  }

  /** @param {string} assignment */
  nameOf(assignment) {
    return this.names.get(assignment) ?? "";
  }

  /** @param {Cell} cell */
  columnOf(cell) {
    return /** @type {{name: string, head: HTMLElement}} */ (this.columns.get(cell.column));
  }

  /** @param {Cell} cell */
  spec(cell) {
    return this.palette[cell.question];
  }

  /**
   * @param {Cell} cell
   * @param {string} code
   */
  option(cell, code = cell.code) {
    const key = optionOf(code);
    return key ? this.spec(cell).options.find((option) => option.key === key) : undefined;
  }

  /**
   * The value of an answer that is no option.
   * @param {string} code
   */
  value(code) {
    return /** @type {Value | undefined} */ (valueIn(code));
  }

  /**
   * What was answered to the same question: above in the same document, the nearest first, then in the others.
   * @param {Cell} cell
   */
  answersTo(cell) {
    const mine = this.partsOf(cell.assignment);
    const above = mine.slice(0, mine.indexOf(cell)).reverse();
    const others = this.order.filter(({ assignment }) => assignment !== cell.assignment);
    return [...above, ...others]
      .filter(({ question }) => question === cell.question)
      .map(({ code }) => this.value(code))
      .filter((value) => value !== undefined);
  }

  /** @param {Cell} cell */
  takesValues(cell) {
    return hasValues(this.spec(cell).kind);
  }

  /** @param {Cell} cell */
  presetOf(cell) {
    return presetCode(this.spec(cell).presets[cell.column] ?? "");
  }

  /** @param {Cell} cell */
  isLocked(cell) {
    return this.locked.has(cell.assignment);
  }

  /**
   * It takes an answer: its document is open, or a correction opens it again.
   * @param {Cell} cell
   */
  takesAnswers(cell) {
    return !this.isLocked(cell) || (this.submitted.has(cell.assignment) && !this.isClosed);
  }

  /**
   * Letters and digits are typed into it, and commands take Alt.
   * @param {Cell} cell
   */
  isTyped(cell) {
    return this.takesValues(cell) && !cell.off && this.takesAnswers(cell);
  }

  /** @param {Cell} cell */
  isOpen(cell) {
    return !cell.code && !cell.off && !this.isLocked(cell);
  }

  /**
   * Its document is not submitted without it.
   * @param {Cell} cell
   */
  isOwed(cell) {
    return this.isOpen(cell) && !this.spec(cell).optional;
  }

  /**
   * "Google 1 › Task › shred"
   * @param {Cell} cell
   */
  title(cell, between = " › ") {
    const names = [this.nameOf(cell.assignment), this.spec(cell).title, this.columnOf(cell).name];
    return names.filter(Boolean).join(between); // a column has no name where a row has one form
  }

  // --- what is in a cell ----------------------------------------------------------------------------------------------

  /**
   * @param {Cell} cell
   * @param {1 | -1} step
   */
  tally(cell, step) {
    if (cell.off || this.spec(cell).optional) return;
    this.asked += step;
    if (cell.code) return;
    this.open += step;
    this.left.set(cell.assignment, (this.left.get(cell.assignment) ?? 0) + step);
  }

  /**
   * @param {Cell} cell
   * @param {string} code
   */
  put(cell, code, off = cell.off) {
    if (cell.code === code && cell.off === off) return;
    this.tally(cell, -1);
    cell.code = code;
    cell.off = off;
    this.tally(cell, 1);
    this.paint(cell);
  }

  /** @param {Cell} cell */
  paint(cell) {
    const { td } = cell;
    const reason = reasonOf(cell.code);
    const chosen = this.seen(cell, cell.code);
    const faint = !cell.code && !cell.off ? this.seen(cell, this.presetOf(cell)) : undefined;
    const shown = chosen || faint;
    td.className = chosen ? chosen.classes : reason ? "cannot-tell" : cell.off ? "off" : faint ? "preset" : "";
    if (reason) td.dataset.skip = td.title = reason;
    else if ("skip" in td.dataset) {
      delete td.dataset.skip;
      td.removeAttribute("title");
    }
    if (chosen) td.dataset.option = answerOf(cell.code);
    else delete td.dataset.option;
    if (isDraft(cell.code)) td.dataset.draft = "";
    else delete td.dataset.draft;
    if (shown || reason) td.dataset.sign = shown ? shown.sign : "?";
    else delete td.dataset.sign;
    if (cell.off) td.setAttribute("aria-disabled", "true");
    else td.removeAttribute("aria-disabled");
    const { off, empty } = this.words;
    const said = shown ? this.laidOut(cell, shown.label) : reason ? this.skipped(reason) : cell.off ? off : empty;
    // A value has an element of its own, which can be cut; see `cells` of the templates.
    if (chosen?.classes === "value") td.replaceChildren(make("span", { dir: "auto", textContent: said }));
    else if (td.firstElementChild) td.textContent = said;
    else if (td.firstChild) td.firstChild.nodeValue = said;
  }

  /**
   * What is written in a cell: a text as it is, an answer of several parts line by line.
   * @param {Cell} cell
   * @param {string} label
   */
  laidOut(cell, label) {
    const value = this.value(cell.code);
    if (typeof value === "string") return value;
    return Array.isArray(value) ? entriesOf(this.spec(cell), value).join("\n") : label;
  }

  /**
   * What is seen of an answer; undefined where it is none.
   * @param {Cell} cell
   * @param {string} code
   * @returns {{label: string, sign: string, classes: string} | undefined}
   */
  seen(cell, code) {
    const option = this.option(cell, code);
    if (option) return { label: option.label, sign: option.sign, classes: `t-${option.colour}` };
    const value = this.value(code);
    if (value === undefined) return undefined;
    const spec = this.spec(cell);
    return { label: shownValue(spec, value), sign: signOf(spec, value), classes: "value" };
  }

  /** @param {string} reason */
  skipped(reason) {
    return fill(this.words.skipped, { reason });
  }

  /**
   * An answer in words, as a sentence names it.
   * @param {Cell} cell
   * @param {string} code
   */
  inWords(cell, code) {
    const reason = reasonOf(code);
    return this.seen(cell, code)?.label || (reason ? this.skipped(reason) : this.words.empty);
  }

  /**
   * An answer as an element: a small list where it has several parts, else a text.
   * @param {Cell} cell
   * @param {string} code
   */
  inEntries(cell, code) {
    const value = this.value(code);
    const entries = value === undefined ? [] : entriesOf(this.spec(cell), value);
    if (entries.length < 2) return this.inWords(cell, code);
    return make(
      "ol",
      { className: "entries", dir: "auto" },
      ...entries.map((textContent) => make("li", { textContent })),
    );
  }

  /**
   * @param {Cell} cell
   * @param {MarkState} state
   */
  mark(cell, state) {
    cell.state = state;
    if (state) cell.td.dataset.state = state;
    else delete cell.td.dataset.state;
  }

  /**
   * @param {string} assignment
   * @param {boolean} locked
   */
  lock(assignment, locked) {
    if (locked) this.locked.add(assignment);
    else this.locked.delete(assignment);
    for (const line of this.lines)
      if (line.assignment === assignment)
        for (const { td } of line.cells) {
          if (locked) td.setAttribute("aria-readonly", "true");
          else td.removeAttribute("aria-readonly");
        }
  }

  // --- what follows from it -------------------------------------------------------------------------------------------

  /**
   * Put answers as the server will, rules and presets included; questions come before those that depend on them. Gives what
   * changed as [[id, before, after]], and the cells that were to be answered and are not asked.
   * @param {Wanted[]} wanted
   */
  apply(wanted) {
    /** @type {Map<Cell[], Wanted[]>} */
    const byGroup = new Map();
    for (const one of wanted) {
      const found = byGroup.get(one[0].group);
      if (found) found.push(one);
      else byGroup.set(one[0].group, [one]);
    }
    /** @type {[id: string, before: string, after: string][]} */
    const diff = [];
    /** @type {Set<Cell>} */
    const unasked = new Set();
    for (const [group, changes] of byGroup) {
      const pairs = changes.map(([cell, code]) => /** @type {[string, string]} */ ([cell.question, code]));
      const { codes, asked, left } = changed(this.rulesOf(group), codesOf(group), pairs);
      for (const place of left) unasked.add(changes[place][0]);
      for (const cell of group) {
        if (cell.code !== codes[cell.question]) diff.push([cell.id, cell.code, codes[cell.question]]);
        this.put(cell, codes[cell.question], !asked.has(cell.question));
      }
    }
    for (const listener of this.applied) listener([...byGroup.keys()].map(([first]) => first));
    return { diff, unasked };
  }

  /**
   * Switch the cells of one column of one document on and off, as the answers above them say.
   * @param {Cell[]} group
   */
  switch(group) {
    const { codes, asked } = switched(this.rulesOf(group), codesOf(group));
    for (const cell of group) this.put(cell, codes[cell.question], !asked.has(cell.question));
  }

  /**
   * @param {Cell[]} group
   * @returns {Rule[]}
   */
  rulesOf(group) {
    const { column } = group[0];
    const known = this.rules.get(column);
    if (known) return known;
    const rules = group.map(({ question }) => {
      const { askUnless, presets } = this.palette[question];
      return { question, askUnless, preset: presets[column] ?? "" };
    });
    this.rules.set(column, rules);
    return rules;
  }
}

/** @param {Cell[]} group */
const codesOf = (group) => Object.fromEntries(group.map(({ question, code }) => [question, code]));

/**
 * The code of what the server has put into a cell.
 * @param {HTMLTableCellElement} td
 */
function codeIn({ dataset }) {
  if (dataset.skip !== undefined) return skipCode(dataset.skip);
  const answer = dataset.option ?? "";
  if (dataset.draft !== undefined) return draftCode(answer);
  return dataset.preset === undefined ? answer : presetCode(answer);
}
