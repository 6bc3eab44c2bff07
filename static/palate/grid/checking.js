// Checking: answers are held against the checks of their scheme as soon as they are given. What a check refuses is not taken,
// with its sentence; what one warns of is marked at once. The server has the same checks and the last word.

import { findings } from "../core/checks.js";
import { optionOf } from "../core/codes.js";
import { changed } from "../core/rules.js";
import { warningsOf } from "../core/values.js";

/** @typedef {import("../core/checks.js").Check} Check */
/** @typedef {import("../core/checks.js").Facets} Facets */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./cells.js").Wanted} Wanted */
/** @typedef {import("./doubts.js").Doubts} Doubts */
/**
 * What a section is held against, as the server says it.
 * @typedef {{checks: Check[], rows: Record<string, Facets>, columns: Record<string, Facets>}} SectionChecks
 */
/** @typedef {Record<string, SectionChecks>} AllChecks section -> its checks */
/** @typedef {import("../core/checks.js").Finding<string>} ColumnFinding */
/** @typedef {{cells: Cells, doubts: Doubts, checks: AllChecks, words: Sentences}} Parts */

export class Checking {
  /** @param {Parts} parts */
  constructor({ cells, doubts, checks, words }) {
    this.cells = cells;
    this.doubts = doubts;
    this.checks = checks;
    this.words = words;
    /** @type {Map<string, Cell[]>} */
    this.tables = new Map(); // "assignment-section" -> its cells, once they are needed
    cells.applied.push((touched) => this.look(touched));
  }

  /**
   * The cells of the table that a cell is in, column by column.
   * @param {Cell} cell
   */
  tableOf({ assignment, question }) {
    const { section } = this.cells.palette[question];
    const name = `${assignment}-${section}`;
    const known = this.tables.get(name);
    if (known) return known;
    const mine = this.cells.partsOf(assignment).filter((one) => this.cells.spec(one).section === section);
    this.tables.set(name, mine);
    return mine;
  }

  /**
   * What the checks find in a table.
   * @param {Cell[]} table
   * @param {(cell: Cell) => string} codeOf what stands in a cell, or will
   * @returns {ColumnFinding[]}
   */
  found(table, codeOf) {
    const [first] = table;
    const { checks, rows, columns } = this.checks[this.cells.spec(first).section];
    if (!checks.length) return [];
    /** @type {Map<string, import("../core/checks.js").CheckedLine<string>>} */
    const lines = new Map();
    /** @type {Record<string, import("../core/checks.js").CheckedQuestion>} */
    const questions = {};
    for (const cell of table) {
      const spec = this.cells.spec(cell);
      questions[spec.key] = spec;
      const code = codeOf(cell);
      const value = this.cells.value(code) ?? optionOf(code);
      const line = lines.get(cell.column) ?? { place: cell.column, answers: {}, facets: columns[cell.column] };
      if (value !== "") line.answers[spec.key] = value;
      lines.set(cell.column, line);
    }
    return findings({ checks, questions }, [...lines.values()], rows[first.assignment] ?? {}, this.words);
  }

  /**
   * The tables of some cells, those that are held against anything.
   * @param {Iterable<Cell>} cells
   */
  tablesOf(cells) {
    const checked = [...cells].filter((cell) => this.cells.spec(cell).section in this.checks);
    return new Set(checked.map((cell) => this.tableOf(cell)));
  }

  /**
   * Mark what is doubtful by now in the tables of some cells.
   * @param {Iterable<Cell>} touched
   */
  look(touched) {
    for (const table of this.tablesOf(touched)) {
      const found = this.found(table, ({ code }) => code);
      for (const cell of table) {
        const { key } = this.cells.spec(cell);
        const value = this.cells.value(cell.code);
        const own = value === undefined ? [] : warningsOf(this.cells.spec(cell), value, this.words);
        const ofChecks = found.filter(({ place, question }) => place === cell.column && question === key);
        this.doubts.say(cell, [...own, ...ofChecks.map(({ message }) => message)]);
      }
    }
  }

  /**
   * Why some of a change is not taken: cell -> sentence. What stood there before and broke a check already does not count.
   * @param {Wanted[]} wanted
   * @returns {Map<Cell, string>}
   */
  refusals(wanted) {
    /** @type {Map<Cell, string>} */
    const refused = new Map();
    for (const table of this.tablesOf(wanted.map(([cell]) => cell))) {
      const inTable = new Set(table);
      const mine = wanted.filter(([cell]) => inTable.has(cell));
      const stood = new Set(this.refusing(table, ({ code }) => code).map(named));
      // What is left out may break another check, so it is looked at again without it, until nothing is.
      for (let left = mine; left.length; left = mine.filter(([cell]) => !refused.has(cell))) {
        const after = this.after(left);
        const broken = this.refusing(table, (cell) => after.get(cell) ?? cell.code);
        const fresh = broken.filter((finding) => !stood.has(named(finding)));
        if (!fresh.length) break;
        for (const { place, question, message } of fresh) {
          const own = left.filter(([cell]) => cell.column === place && this.cells.spec(cell).key === question);
          const name = this.cells.columns.get(place)?.name;
          // Where it is the answer of another cell that breaks a check now, nothing of the change is taken.
          for (const [cell] of own.length ? own : left) refused.set(cell, own.length ? message : `${name}: ${message}`);
        }
      }
    }
    return refused;
  }

  /**
   * @param {Cell[]} table
   * @param {(cell: Cell) => string} codeOf
   */
  refusing(table, codeOf) {
    return this.found(table, codeOf).filter(({ level }) => level === "refuse");
  }

  /**
   * What would stand in the columns that a change touches, rules and presets included.
   * @param {Wanted[]} wanted
   * @returns {Map<Cell, string>}
   */
  after(wanted) {
    /** @type {Map<Cell, string>} */
    const codes = new Map();
    for (const group of new Set(wanted.map(([cell]) => cell.group))) {
      const pairs = wanted.filter(([cell]) => cell.group === group);
      const before = Object.fromEntries(group.map(({ question, code }) => [question, code]));
      const made = changed(
        this.cells.rulesOf(group),
        before,
        pairs.map(([cell, code]) => [cell.question, code]),
      );
      for (const cell of group) codes.set(cell, made.codes[cell.question] ?? "");
    }
    return codes;
  }
}

/** @param {ColumnFinding} finding */
const named = ({ place, question, rule, message }) => [place, question, rule, message].join("\n");
