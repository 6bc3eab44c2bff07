// Answers that are values: numbers, texts, lists of records, transitions. How one is typed, checked, written and shown; as in
// annotation/answers, which has the last word. Both are held to one table of examples, tests/rules/values.json.

import { plainNumber } from "./codes.js";
import { readPlaces, writtenPlaces } from "./places.js";
import { fill } from "./sentences.js";

/** @typedef {import("./sentences.js").Sentences} Sentences */
/** @typedef {{min: number | null, max: number | null, step: number | null, unit: string}} NumberSpec */
/** @typedef {{pattern: string, message: string, level: string}} Pattern */
/**
 * @typedef {object} TextSpec
 * @property {number} longest
 * @property {boolean} lines it may have several lines
 * @property {string[]} special
 * @property {string} separator
 * @property {Pattern[]} patterns
 * @property {string[]} completions
 * @property {string[]} from questions whose earlier answers are offered
 */
/**
 * One field of a record; the last three as annotation/scheme/values.py has them.
 * @typedef {object} Field
 * @property {string} key
 * @property {string} name
 * @property {boolean} list
 * @property {boolean} required
 * @property {string[]} completions
 * @property {string[]} [options] the only words that it takes
 * @property {boolean} [place] it says where the words stand that the entry comes from
 * @property {boolean} [carried]
 * @property {Record<string, string[]>} [into]
 * @property {string[]} [sums]
 */
/** @typedef {{fewest: number, most: number, longest: number, fields: Field[]}} ItemsSpec */
/** @typedef {{start: string[], longest: number, most: number, completions: string[]}} TransitionsSpec */
/**
 * What a question says of its answers; of the four only that of its kind.
 * @typedef {object} ValueQuestion
 * @property {string} kind
 * @property {string} title
 * @property {NumberSpec} [number]
 * @property {TextSpec} [text]
 * @property {ItemsSpec} [items]
 * @property {TransitionsSpec} [transitions]
 * @property {string} [takes] what is an answer, in a sentence
 */
/** @typedef {string | string[]} FieldValue */
/** @typedef {Record<string, FieldValue>} ItemRecord */
/** @typedef {{from: string[], to: string[]}} Transition */
/** @typedef {number | string | ItemRecord[] | Transition[]} Value */
/** @typedef {{value: Value} | {refused: string}} Read what was typed is an answer, or why not */

const LARGEST = 1e15;
// A comma alone is a decimal point, unless three digits behind it may be thousands.
const THOUSANDS = /^[+-]?[1-9]\d{0,2},\d{3}$/;
// So may three behind a point, where all answers are whole numbers.
const THOUSANDS_OR_WHOLE = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/;
// Blanks between groups of three digits.
const GROUPED = /^([+-]?[1-9]\d{0,2}(?: \d{3})+)([.,]\d*)?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const ARROW = "->";
const USED_LONGEST = 2000; // characters of what is there already: a row’s own list names it, at whatever length
const DASHED = /^\s*[-–—]\s*/;
const NO_RECORDS = "|";

/** @param {string} kind */
export const hasValues = (kind) => ["number", "text", "items", "transitions"].includes(kind);

/**
 * An answer may have several lines.
 * @param {ValueQuestion} question
 */
export const hasLines = ({ kind, text }) =>
  kind === "items" || kind === "transitions" || (kind === "text" && text?.lines === true);

// --- text and numbers -------------------------------------------------------------------------------------------------

/**
 * NFC, blanks collapsed; with `lines`, line breaks stay.
 * @param {string} text
 */
export function tidy(text, lines = false) {
  const plain = text
    .normalize("NFC")
    .replaceAll("\0", "")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, ""); // halves of characters
  /** @param {string} line */
  const folded = (line) => line.split(/\s+/).filter(Boolean).join(" ");
  if (!lines) return folded(plain);
  return plain
    .split(/\r\n|\r|\n/)
    .map(folded)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^\n+|\n+$/g, "");
}

/**
 * Without regard to case, as Python's `casefold`: two spellings of a word come out the same.
 * @param {string} text
 */
export const folded = (text) =>
  text
    .split("ı")
    .map((part) => part.toUpperCase().toLowerCase().replaceAll("ς", "σ"))
    .join("ı");

/** @param {string} sign */
const escapeForPattern = (sign) => sign.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * What is typed, without the unit and the blanks between thousands.
 * @param {NumberSpec} own
 * @param {string} typed
 */
function bareNumber(own, typed) {
  let text = tidy(typed);
  if (own.unit) text = text.replace(new RegExp(`\\s*${escapeForPattern(own.unit)}$`, "i"), "");
  text = text.replace("−", "-");
  const grouped = GROUPED.exec(text);
  return grouped ? grouped[1].replaceAll(" ", "") + (grouped[2] ?? "") : text;
}

/**
 * What is written like this may be thousands, or not.
 * @param {NumberSpec} own
 */
const mayBeThousands = ({ step, min }) =>
  step !== null && Number.isInteger(step) && Number.isInteger(min ?? 0) ? THOUSANDS_OR_WHOLE : THOUSANDS;

/** @param {string} text with a sign that may stand before decimals, or before thousands */
const twoWays = (text) => [text.replace(",", ".").replace(/\.000$/, ""), text.replace(/[.,]/, "")];

/**
 * The numbers that may be meant by what is typed where it can be read in two ways: those that are answers.
 * @param {ValueQuestion} question
 * @param {string} typed
 * @param {Sentences} words
 */
export function readings(question, typed, words) {
  const { number } = question;
  const text = number ? bareNumber(number, typed) : "";
  if (!number || !mayBeThousands(number).test(text)) return [];
  return twoWays(text).filter((one) => "value" in readNumber(question, one, words));
}

/**
 * @param {ValueQuestion} question
 * @param {string} typed
 * @param {Sentences} words
 * @returns {Read}
 */
function readNumber({ title, number: own }, typed, words) {
  if (!own) throw new TypeError("no number");
  let text = bareNumber(own, typed);
  if (mayBeThousands(own).test(text)) {
    const [point, whole] = twoWays(text);
    const readings = { point, whole };
    return { refused: fill(words.numberTwoWays, { answer: typed.slice(0, 80), question: title, ...readings }) };
  }
  if (!text.includes(".") && text.indexOf(",") === text.lastIndexOf(",")) text = text.replace(",", ".");
  const number = Number(Number.parseFloat(text).toFixed(10));
  if (!NUMBER.test(text) || !(Math.abs(number) <= LARGEST))
    return { refused: fill(words.noNumber, { answer: typed.slice(0, 80), question: title }) };
  const { min, max, step } = own;
  if ((min !== null && number < min) || (max !== null && number > max)) {
    const sentence = max === null ? words.numberFrom : min === null ? words.numberTo : words.numberBetween;
    const named = { min: plainNumber(min ?? 0), max: plainNumber(max ?? 0), answer: plainNumber(number) };
    return { refused: fill(sentence, { question: title, ...named }) };
  }
  if (step !== null) {
    const steps = (number - (min ?? 0)) / step;
    if (Math.abs(steps - Math.round(steps)) > 1e-6) {
      const named = { step: plainNumber(step), start: plainNumber(min ?? 0), answer: plainNumber(number) };
      return { refused: fill(words.numberSteps, { question: title, ...named }) };
    }
  }
  return { value: number === 0 ? 0 : number };
}

/**
 * Which numbers are answers, for who is about to write one; "" where all are.
 * @param {NumberSpec} own
 * @param {Sentences} words
 */
export function numbersTaken({ min, max, step, unit }, words) {
  const named = { min: plainNumber(min ?? 0), max: plainNumber(max ?? 0) };
  const range = max === null ? words.takesFrom : min === null ? words.takesTo : words.takesBetween;
  const said = [
    min === null && max === null ? "" : fill(range, named),
    step === null ? "" : fill(words.takesSteps, { step: plainNumber(step) }),
    unit,
  ];
  return said.filter(Boolean).join(" · ");
}

/**
 * @param {TextSpec} own
 * @param {string} text
 */
export const specialOf = (own, text) => own.special.find((special) => folded(special) === folded(text));

/**
 * What the patterns of a level say of a text. One that only the server understands is left to it.
 * @param {TextSpec} own
 * @param {string} text
 * @param {string} wanted level
 * @returns {string[]}
 */
function broken(own, text, wanted) {
  const found = own.patterns.filter(({ pattern, level }) => {
    try {
      return level === wanted && new RegExp(pattern, "u").test(text);
    } catch {
      return false;
    }
  });
  return found.map(({ message }) => message);
}

/**
 * @param {ValueQuestion} question
 * @param {string} typed
 * @param {Sentences} words
 * @returns {Read}
 */
function readText({ title, text: own }, typed, words) {
  if (!own) throw new TypeError("no text");
  let text = tidy(typed, own.lines);
  const special = specialOf(own, text);
  if (special) return { value: special };
  if (own.separator)
    text = text
      .split(own.separator)
      .map((part) => tidy(part))
      .filter(Boolean)
      .join(`${own.separator} `);
  if (!text) return { refused: fill(words.textEmpty, { question: title }) };
  const length = [...text].length;
  if (length > own.longest)
    return { refused: fill(words.textTooLong, { question: title, longest: own.longest, length }) };
  const [refused] = broken(own, text, "refuse");
  return refused ? { refused } : { value: text };
}

// --- records and transitions ------------------------------------------------------------------------------------------

/**
 * A backslash before each of `marks` and before itself; line breaks become \n.
 * @param {string} text
 * @param {string} marks
 */
const escaped = (text, marks) =>
  [...text]
    .map((sign) => (marks.includes(sign) || sign === "\\" ? `\\${sign}` : sign))
    .join("")
    .replaceAll("\n", "\\n");

/** @param {string} text */
const unescaped = (text) => text.replace(/\\([\s\S])/g, (_, sign) => (sign === "n" ? "\n" : sign));

/**
 * Split at a mark that no backslash stands before; the pieces keep their escapes.
 * @param {string} text
 * @param {string} mark
 */
export function splitAt(text, mark) {
  const pieces = [];
  let start = 0;
  let at = 0;
  while (at < text.length) {
    if (text[at] === "\\") at += 2;
    else if (text.startsWith(mark, at)) {
      pieces.push(text.slice(start, at));
      at += mark.length;
      start = at;
    } else at += 1;
  }
  return [...pieces, text.slice(start)];
}

/** @param {string[]} texts */
const listed = (texts) => texts.map((text) => tidy(unescaped(text))).filter(Boolean);

/**
 * A list of short texts as it is typed: commas between them, a backslash before one that is meant as itself.
 * @param {string} typed
 */
export const readList = (typed) => listed(splitAt(typed, ","));

/** @param {string[]} texts */
export const writtenList = (texts) => texts.map((text) => escaped(text, ",")).join(", ");

/**
 * @param {ValueQuestion} question
 * @param {string[]} texts
 * @param {number} longest
 * @param {Sentences} words
 */
function tooLong({ title }, texts, longest, words) {
  const long = texts.find((text) => [...text].length > longest);
  return long && fill(words.textTooLong, { question: title, longest, length: [...long].length });
}

/**
 * @param {ValueQuestion} question
 * @param {string} typed
 * @param {Sentences} words
 * @returns {Read}
 */
function readItems(question, typed, words) {
  const { title, items: own } = question;
  if (!own) throw new TypeError("no items");
  /** @type {ItemRecord[]} */
  const records = [];
  for (const line of typed.split(/\r\n|\r|\n/).map((one) => one.trim())) {
    if (!line) continue;
    const pieces = splitAt(line, "|");
    if (pieces.slice(own.fields.length).some((piece) => piece.trim()))
      return {
        refused: fill(words.tooManyFields, { entry: line.slice(0, 80), n: own.fields.length, question: title }),
      };
    const record = Object.fromEntries(
      own.fields.map(({ key, list }, n) => {
        const piece = pieces[n] ?? "";
        return [key, list ? readList(piece) : tidy(unescaped(piece))];
      }),
    );
    if (saysSomething(question, record)) records.push(record);
  }
  return checkedItems(question, records, words);
}

/**
 * The fields that an entry says something in: all but the place of its words.
 * @param {ValueQuestion} question
 */
export const saidFields = ({ items }) => (items?.fields ?? []).filter(({ place }) => !place);

/**
 * @param {ValueQuestion} question
 * @param {ItemRecord} record
 */
export const saysSomething = (question, record) => saidFields(question).some(({ key }) => record[key].length);

/**
 * Records as a table of them gives them: the same rules as of those that are typed.
 * @param {ValueQuestion} question
 * @param {ItemRecord[]} records
 * @param {Sentences} words
 * @returns {Read}
 */
export function checkedItems(question, records, words) {
  const { title, items: own } = question;
  if (!own) throw new TypeError("no items");
  if (records.length < own.fewest || records.length > own.most)
    return {
      refused: fill(words.itemsCount, { question: title, fewest: own.fewest, most: own.most, n: records.length }),
    };
  for (const [n, record] of records.entries()) {
    const problem = problemOf(question, record, n + 1, words);
    if (problem) return { refused: problem.sentence };
  }
  /**
   * @param {Field} field
   * @param {FieldValue} value
   */
  const inOneSpelling = (field, value) => {
    if (field.place) return writtenPlaces(readPlaces(String(value)) ?? []);
    if (!field.options) return value;
    return typeof value === "string" ? (inScheme(field, value) ?? "") : value.map((one) => inScheme(field, one) ?? "");
  };
  return {
    value: records.map((record) =>
      Object.fromEntries(own.fields.map((field) => [field.key, inOneSpelling(field, record[field.key])])),
    ),
  };
}

/**
 * The option of a field that a text is, in the scheme's spelling.
 * @param {Field} field
 * @param {string} text
 */
const inScheme = ({ options = [] }, text) => options.find((option) => folded(option) === folded(text));

/**
 * @param {string} text
 * @param {number} longest
 */
function cut(text, longest) {
  const signs = [...text];
  return signs.length <= longest ? text : `${signs.slice(0, longest - 1).join("")}…`;
}

/**
 * Why a text is none of the options of a field.
 * @param {ValueQuestion} question
 * @param {Field} field
 * @param {string[]} texts
 * @param {Sentences} words
 */
function noOption({ title }, field, texts, words) {
  const word = field.options && texts.find((text) => text && inScheme(field, text) === undefined);
  if (!word) return undefined;
  const options = cut((field.options ?? []).join(", "), 400);
  return fill(words.itemsOption, { field: field.name, question: title, word: cut(word, 80), options });
}

/**
 * Why a record is none, and the field that it is about.
 * @param {ValueQuestion} question
 * @param {ItemRecord} record
 * @param {number} number of the record, from 1 on
 * @param {Sentences} words
 * @returns {{field: string, sentence: string} | undefined}
 */
export function problemOf(question, record, number, words) {
  const { title, items: own } = question;
  if (!own) throw new TypeError("no items");
  const missing = own.fields.find(({ key, required }) => required && !record[key].length);
  if (missing)
    return { field: missing.key, sentence: fill(words.itemsField, { number, question: title, field: missing.name }) };
  for (const field of own.fields) {
    const { key, place } = field;
    if (place) {
      const text = String(record[key]);
      if (readPlaces(text)) continue;
      return { field: key, sentence: fill(words.itemsPlace, { place: text.slice(0, 80) }) };
    }
    const texts = [record[key]].flat();
    const sentence = tooLong(question, texts, own.longest, words) || noOption(question, field, texts, words);
    if (sentence) return { field: key, sentence };
  }
  return undefined;
}

/**
 * @param {ValueQuestion} question
 * @param {string} typed
 * @param {Sentences} words
 * @returns {Read}
 */
function readTransitions(question, typed, words) {
  /** @type {Transition[]} */
  const found = [];
  for (const line of typed.split(/\r\n|\r|\n/).map((one) => one.trim())) {
    if (!line) continue;
    let sides = splitAt(line, ARROW);
    if (sides.length === 1) sides = splitAt(line, "→");
    if (sides.length !== 2) return { refused: fill(words.noTransition, { entry: line.slice(0, 120) }) };
    const from = readList(sides[0]);
    const { kept, waste, to } = readMade(sides[1]);
    // Several do not become several: each that is thrown away is by itself.
    const isApart = from.length > 1 && waste.length > 0;
    const made = isApart ? [...(kept.length ? [kept] : []), ...waste.map((name) => [name])] : [to];
    found.push(...made.map((names) => ({ from, to: names })), ...waste.map((name) => ({ from: [name], to: [] })));
  }
  const said = found.filter(({ from, to }) => from.length || to.length);
  return checkedTransitions(question, said, words);
}

/**
 * What is made, as it is typed behind an arrow: a dash before a name throws it away at once, unless a backslash stands before it.
 * @param {string} typed
 */
export function readMade(typed) {
  const named = splitAt(typed, ",")
    .map((piece) => ({ name: tidy(unescaped(piece.replace(DASHED, ""))), isWaste: DASHED.test(piece) }))
    .filter(({ name }) => name);
  /** @param {typeof named} some */
  const names = (some) => some.map(({ name }) => name);
  const [kept, waste] = [false, true].map((is) => names(named.filter(({ isWaste }) => isWaste === is)));
  return { to: names(named), kept, waste };
}

/**
 * Transitions as they are picked: the same rules as of those that are typed.
 * @param {ValueQuestion} question
 * @param {Transition[]} found
 * @param {Sentences} words
 * @returns {Read}
 */
export function checkedTransitions(question, found, words) {
  const { title, transitions: own } = question;
  if (!own) throw new TypeError("no transitions");
  for (const one of found) {
    const used = new Set(one.from.map(folded));
    const made = one.to.filter((name) => !used.has(folded(name))); // of what is used a part may stay as it was
    const refused =
      tooLong(question, made, own.longest, words) ||
      tooLong(question, [...one.from, ...one.to], Math.max(own.longest, USED_LONGEST), words);
    if (refused) return { refused };
    if (one.from.length > 1 && one.to.length > 1)
      return { refused: fill(words.severalOfSeveral, { entry: transitionLine(one).slice(0, 120) }) };
  }
  if (found.length > own.most)
    return { refused: fill(words.transitionsMost, { question: title, most: own.most, n: found.length }) };
  return { value: found };
}

/** @param {string} name */
const writtenThing = (name) => escaped(name, ",").replaceAll(ARROW, `\\${ARROW}`);

/**
 * What is made, from which `readMade` gives the names back.
 * @param {string[]} names
 */
export const writtenMade = (names) =>
  names
    .map(writtenThing)
    .map((name) => (DASHED.test(name) ? `\\${name}` : name))
    .join(", ");

/** @param {Transition} one */
const transitionLine = ({ from, to }) => `${from.map(writtenThing).join(", ")} ${ARROW} ${writtenMade(to)}`.trim();

/**
 * It says no more than that a part of a thing stays as it was.
 * @param {Transition} one
 */
export const isStaying = ({ from, to }) => from.length === 1 && to.length === 1 && folded(from[0]) === folded(to[0]);

/**
 * What there is after a step: what it did not touch, in its order, then what it made.
 * @param {string[]} things
 * @param {Transition[]} transitions
 */
export function after(things, transitions) {
  const before = new Set(things.map(folded));
  const gone = new Set(transitions.flatMap(({ from }) => from.map(folded)));
  const left = things.filter((name) => !gone.has(folded(name)));
  const known = new Set(left.map(folded));
  // What a step both makes and throws away, as the peel of what it peels, is not there afterwards.
  const thrown = transitions.filter(({ to }) => !to.length).flatMap(({ from }) => from.map(folded));
  for (const name of thrown) if (!before.has(name)) known.add(name);
  // Of what is not there no part stays either.
  /** @param {Transition} one */
  const madeBy = ({ from, to }) =>
    to.filter((name) => from.length !== 1 || folded(from[0]) !== folded(name) || before.has(folded(name)));
  const made = [...new Set(transitions.flatMap(madeBy))].filter((name) => !known.has(folded(name)));
  return [...left, ...made];
}

// --- any of them ------------------------------------------------------------------------------------------------------

const READERS = { number: readNumber, text: readText, items: readItems, transitions: readTransitions };

/**
 * What somebody typed or pasted; null where it is nothing.
 * @param {ValueQuestion} question
 * @param {string} typed
 * @param {Sentences} words
 * @returns {Read | null}
 */
export function readValue(question, typed, words) {
  if (!typed.trim()) return null;
  return READERS[/** @type {keyof typeof READERS} */ (question.kind)](question, typed, words);
}

/**
 * The text form, from which `readValue` gives the value back.
 * @param {ValueQuestion} question
 * @param {Value} value
 */
export function writtenValue(question, value) {
  if (typeof value === "number") return plainNumber(value);
  if (typeof value === "string") return value;
  if (question.items) {
    const { fields } = question.items;
    const lines = /** @type {ItemRecord[]} */ (value).map((record) =>
      fields
        .map(({ key }) => record[key])
        .map((field) =>
          typeof field === "string" ? escaped(field, "|") : field.map((one) => escaped(one, "|,")).join(", "),
        )
        .join(" | ")
        .trim(),
    );
    return lines.join("\n") || NO_RECORDS;
  }
  return /** @type {Transition[]} */ (value).map(transitionLine).join("\n") || ARROW;
}

/**
 * The value on one line, as a cell shows it.
 * @param {ValueQuestion} question
 * @param {Value} value
 */
export const shownValue = (question, value) => entriesOf(question, value).join("; ");

/**
 * The value as a small list, an entry each, where it has several parts.
 * @param {ValueQuestion} question
 * @param {Value} value
 * @returns {string[]}
 */
export function entriesOf(question, value) {
  if (typeof value === "number") return [`${plainNumber(value)} ${question.number?.unit ?? ""}`.trim()];
  if (typeof value === "string") return [value.split("\n").filter(Boolean).join(" / ")];
  if (question.items) {
    const fields = saidFields(question);
    /** @param {FieldValue} field */
    const plain = (field) => (typeof field === "string" ? field : field.join(", "));
    const lines = /** @type {ItemRecord[]} */ (value).map((record) =>
      fields
        .map(({ key }) => plain(record[key]))
        .filter(Boolean)
        .join(" · "),
    );
    return lines.length ? lines : ["–"];
  }
  const lines = /** @type {Transition[]} */ (value).map(({ from, to }) =>
    `${from.join(", ")} → ${to.join(", ") || "∅"}`.trim(),
  );
  return lines.length ? lines : ["–"];
}

/**
 * The value in at most three characters.
 * @param {ValueQuestion} question
 * @param {Value} value
 */
export function signOf(question, value) {
  if (Array.isArray(value)) {
    const mark = question.items ? "×" : "→";
    return value.length < 100 ? `${value.length}${mark}` : question.items ? "99+" : "99→";
  }
  const text = typeof value === "number" ? plainNumber(value) : shownValue(question, value);
  const most = typeof value === "number" ? 8 : 3;
  const signs = [...text];
  return signs.length <= most ? text : `${signs.slice(0, most - 1).join("")}…`;
}

/**
 * The parts of an answer that checks compare: of a list its parts, of transitions what they make, of records all their texts,
 * of anything else the answer itself; a special value has none.
 * @param {ValueQuestion} question
 * @param {Value} value
 * @returns {string[]}
 */
export function partsOf(question, value) {
  if (typeof value === "number") return [plainNumber(value)];
  if (typeof value === "string") {
    const own = question.text;
    if (!own || specialOf(own, value)) return [];
    if (!own.separator) return [value];
    return value
      .split(own.separator)
      .map((part) => part.trim())
      .filter(Boolean);
  }
  if (question.items)
    return /** @type {ItemRecord[]} */ (value)
      .flatMap((one) => saidFields(question).flatMap(({ key }) => one[key]))
      .filter(Boolean);
  return /** @type {Transition[]} */ (value).flatMap(({ to }) => to);
}

/**
 * What the question's own rules warn of: patterns of a text, a thing that two transitions use up or make.
 * @param {ValueQuestion} question
 * @param {Value} value
 * @param {Sentences} words
 * @returns {string[]}
 */
export function warningsOf({ text, transitions }, value, words) {
  if (text && typeof value === "string") return specialOf(text, value) ? [] : broken(text, value, "warn");
  if (!transitions) return [];
  const changes = /** @type {Transition[]} */ (value).filter((one) => !isStaying(one)); // which is no use of a thing
  // Several things of which several are made have a line for each that is made: they become something once.
  /** @param {Transition} one */
  const uses = ({ from }) => from.map(folded).sort().join("\n");
  const once = changes.filter(
    (one, n) => one.from.length < 2 || changes.findIndex((other) => uses(other) === uses(one)) === n,
  );
  /**
   * @param {"from" | "to"} way
   * @param {string} sentence
   */
  const twice = (way, sentence) => {
    const names = (way === "from" ? once : changes).flatMap((one) => one[way].map(folded));
    const repeated = new Set(names.filter((name, n) => names.indexOf(name) !== n));
    return [...repeated].map((thing) => fill(sentence, { thing }));
  };
  return [...twice("from", words.becomesTwice), ...twice("to", words.comesTwice)];
}
