// Checks: the rules of a scheme over the answers of one table, those of one document to one section, as in
// annotation/scheme/checks.py, which has the last word. Both are held to one table of examples, tests/rules/checks.json.

import { fill } from "./sentences.js";
import { folded, partsOf } from "./values.js";
import { faultsOf, namesIn } from "./world.js";

/** @typedef {import("./sentences.js").Sentences} Sentences */
/** @typedef {import("./values.js").Value} Value */
/** @typedef {import("./values.js").ValueQuestion & {options: {key: string, blank: boolean}[]}} CheckedQuestion */
/** @typedef {"warn" | "refuse"} Level */
/**
 * A check as the scheme declares it: see annotation/scheme/rule_specs.py.
 * @typedef {object} Check
 * @property {string} rule
 * @property {string} question
 * @property {string | null} other
 * @property {string | null} from
 * @property {string[]} in
 * @property {Record<string, string[]>} when
 * @property {Level} level
 * @property {string} message "" where the rule says its own sentence
 */
/** @typedef {{checks: Check[], questions: Record<string, CheckedQuestion>}} CheckedSection question: by its key */
/** @typedef {Record<string, Value>} LineAnswers question -> value; of an option its key */
/** @typedef {Record<string, string | string[]>} Facets */
/**
 * One line of a table: a column with the answers in it, and none for what is open or skipped.
 * @template Place
 * @typedef {{place: Place, answers: LineAnswers, facets?: Facets}} CheckedLine
 */
/**
 * @template Place
 * @typedef {{place: Place, question: string, rule: string, level: Level, message: string}} Finding
 */

/**
 * What the checks find, line by line and check by check.
 * @template Place
 * @param {CheckedSection} section
 * @param {CheckedLine<Place>[]} lines from top to bottom
 * @param {Facets} row
 * @param {Sentences} words
 * @returns {Finding<Place>[]}
 */
export function findings(section, lines, row, words) {
  /** @type {Finding<Place>[]} */
  const found = [];
  lines.forEach(({ place, answers, facets = {} }, number) => {
    const above = lines.slice(0, number).map((line) => line.answers);
    const below = lines.slice(number + 1).map((line) => line.answers);
    for (const check of section.checks) {
      const { question, rule, level, message } = check;
      if (!(question in answers) || !holds(section, check, answers)) continue;
      const told = RULE_OF_STATES.has(rule)
        ? brokenStates(section, check, lines, number, row)
        : RULES[/** @type {keyof typeof RULES} */ (rule)]({ section, check, answers, above, below, row, facets });
      if (told) found.push({ place, question, rule, level, message: message || fill(words[`check-${rule}`], told) });
    }
  });
  return found;
}

const RULE_OF_STATES = new Set(["exists", "sourced", "distinct", "reached"]);

/**
 * What breaks a rule over what exists at the steps.
 * @template Place
 * @param {CheckedSection} section
 * @param {Check} check
 * @param {CheckedLine<Place>[]} lines
 * @param {number} number of the line
 * @param {Facets} row
 * @returns {Told | undefined}
 */
function brokenStates({ questions }, { question, rule }, lines, number, row) {
  const start = (questions[question].transitions?.start ?? []).flatMap((facet) => namesIn(row[facet] ?? ""));
  const said = lines.map(({ answers }) => answers[question]);
  const answers = /** @type {(import("./values.js").Transition[] | undefined)[]} */ (said);
  const here = faultsOf([...new Set(start)], answers).filter((one) => one.rule === rule && one.step === number);
  return here.length ? { parts: [...new Set(here.map(({ name }) => name))].join(", ") } : undefined;
}

/** @typedef {{section: CheckedSection, check: Check, answers: LineAnswers, above: LineAnswers[], below: LineAnswers[], row: Facets, facets: Facets}} Case */
/** @typedef {Record<string, string>} Told what a sentence has in its gaps */

/** @type {Record<string, (one: Case) => Told | undefined>} the gaps of a sentence for what is broken, nothing else */
const RULES = {
  "equal-to"(one) {
    const other = one.check.other ?? "";
    if (other in one.answers && !areSame(own(one), saidIn(one, other))) return titles(one);
    return undefined;
  },
  "contained-in"(one) {
    const missing = own(one).filter((part) => !isKnown(one, part));
    return missing.length ? { parts: missing.join(", ") } : undefined;
  },
  carried(one) {
    const { section, check, above } = one;
    const had = above.map((line) => parts(section, check.question, line)).reverse();
    const was = had.find((some) => some.length) ?? [];
    const touched = new Set([...own(one), ...saidIn(one, check.from ?? "")].map(folded));
    const missing = own(one).length ? was.filter((part) => !touched.has(folded(part))) : [];
    return missing.length ? { parts: missing.join(", ") } : undefined;
  },
  "used-below"(one) {
    // What a line leaves open may still go on with it; what the last line has is left at the end.
    const { section, check, below } = one;
    const other = check.other ?? "";
    if (!below.length || !below.every((line) => other in line)) return undefined;
    const used = new Set(below.flatMap((line) => parts(section, other, line)).map(folded));
    const missing = own(one).filter((part) => !used.has(folded(part)));
    return missing.length ? { parts: missing.join(", ") } : undefined;
  },
  "no-number": (one) => (own(one).some((part) => /\p{N}/u.test(part)) ? titles(one) : undefined),
  "not-empty-if": (one) => (!own(one).length && saidIn(one, one.check.other ?? "").length ? titles(one) : undefined),
};

/**
 * The parts of an answer that are compared; an option that says there is nothing has none.
 * @param {CheckedSection} section
 * @param {string} key
 * @param {LineAnswers} answers
 * @returns {string[]}
 */
function parts({ questions }, key, answers) {
  if (!(key in answers)) return [];
  const { options } = questions[key];
  const value = answers[key];
  if (!options.length) return partsOf(questions[key], value);
  return options.find((option) => option.key === value)?.blank ? [] : [String(value)];
}

/** @param {Case} one */
const own = ({ section, check, answers }) => parts(section, check.question, answers);

/**
 * What another question of the line says.
 * @param {Case} one
 * @param {string} key
 */
const saidIn = ({ section, answers }, key) => parts(section, key, answers);

/**
 * @param {Case} one
 * @returns {Told}
 */
const titles = ({ section: { questions }, check: { question, other } }) => ({
  question: questions[question].title,
  other: other === null ? "" : questions[other].title,
});

/**
 * @param {string[]} some
 * @param {string[]} others
 */
function areSame(some, others) {
  const [a, b] = [new Set(some.map(folded)), new Set(others.map(folded))];
  return a.size === b.size && [...a].every((part) => b.has(part));
}

/**
 * A check is about this line.
 * @param {CheckedSection} section
 * @param {Check} check
 * @param {LineAnswers} answers
 */
function holds(section, { when }, answers) {
  return Object.entries(when).every(([key, named]) => {
    if (!(key in answers)) return false;
    const { options, text } = section.questions[key];
    if (options.length) return named.includes(String(answers[key]));
    const said = parts(section, key, answers);
    if (text?.special.includes(String(answers[key]))) said.push(String(answers[key]));
    const wanted = new Set(named.map(folded));
    return said.some((part) => wanted.has(folded(part)));
  });
}

/**
 * A part comes from one of the places that a check names.
 * @param {Case} one
 * @param {string} part
 */
function isKnown({ section, check, answers, above, row, facets }, part) {
  const wanted = folded(part);
  return check.in.some((source) => {
    const dot = source.indexOf(".");
    const [of, name] = [source.slice(0, dot), source.slice(dot + 1)];
    if (of === "above" || of === "line") {
      const lines = of === "above" ? above : [answers];
      return lines.some((line) => parts(section, name, line).some((known) => folded(known) === wanted));
    }
    const given = (of === "row" ? row : facets)[name] ?? [];
    return (Array.isArray(given) ? given : [given]).some((text) => standsIn(wanted, folded(text)));
  });
}

/**
 * A phrase stands in a text with no letter or digit right before or after it.
 * @param {string} phrase
 * @param {string} text
 */
function standsIn(phrase, text) {
  const plain = phrase.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])`, "u").test(text);
}
