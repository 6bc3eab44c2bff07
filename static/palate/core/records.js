// A list of records while somebody edits it: one record a line, one field a column, each text as it is typed.

import { proposals } from "./carrying.js";
import { swapped, withItem, withoutItem } from "./lists.js";
import { foundPlaces, readPlaces, steppedPlaces, wordsAt, writtenPlaces } from "./places.js";
import { readTabs } from "./tabs.js";
import { checkedItems, problemOf, readList, saidFields, saysSomething, tidy, writtenList } from "./values.js";

/** @typedef {import("./sentences.js").Sentences} Sentences */
/** @typedef {import("./values.js").ItemRecord} ItemRecord */
/** @typedef {import("./values.js").Read} Read */
/** @typedef {import("./values.js").ValueQuestion} ValueQuestion */
/** @typedef {{lines: string[][], y: number, x: number}} RecordsDraft `y` and `x`: the line and the field that are edited */

/** @param {ValueQuestion} question */
export function fieldsOf({ items }) {
  if (!items) throw new TypeError("no items");
  return items.fields;
}

/** @param {string[]} line */
export const isBlank = (line) => line.every((text) => !text.trim());

/** @param {string[][]} lines */
const width = (lines) => lines[0].length;

/** @param {string[][]} lines */
const blankLike = (lines) => Array.from({ length: width(lines) }, () => "");

/**
 * The records of an answer, with the caret in the first field; one empty line where there are none.
 * @param {ValueQuestion} question
 * @param {ItemRecord[]} records
 * @returns {RecordsDraft}
 */
export function draftOfRecords(question, records) {
  const fields = fieldsOf(question);
  const lines = records.map((record) =>
    fields.map(({ key }) => {
      const field = record[key];
      return typeof field === "string" ? field : writtenList(field);
    }),
  );
  return { lines: lines.length ? lines : [fields.map(() => "")], y: 0, x: 0 };
}

/**
 * With an empty line at the end, and the caret in it.
 * @param {RecordsDraft} draft
 * @returns {RecordsDraft}
 */
export function appended({ lines }) {
  const last = lines[lines.length - 1];
  const more = isBlank(last) ? lines : [...lines, blankLike(lines)];
  return { lines: more, y: more.length - 1, x: 0 };
}

/**
 * With a text in the field that has the caret.
 * @param {RecordsDraft} draft
 * @param {string} text
 * @returns {RecordsDraft}
 */
export function written({ lines, y, x }, text) {
  return { lines: withItem(lines, y, withItem(lines[y], x, text)), y, x };
}

/**
 * With an empty line below the caret, and the caret in it.
 * @param {RecordsDraft} draft
 * @returns {RecordsDraft}
 */
export function inserted({ lines, y }) {
  return { lines: [...lines.slice(0, y + 1), blankLike(lines), ...lines.slice(y + 1)], y: y + 1, x: 0 };
}

/**
 * Without the line of the caret; the last one of all becomes empty.
 * @param {RecordsDraft} draft
 * @returns {RecordsDraft}
 */
export function without({ lines, y, x }) {
  const left = lines.length > 1 ? withoutItem(lines, y) : [blankLike(lines)];
  return { lines: left, y: Math.min(y, left.length - 1), x };
}

/**
 * The line of the caret in the place of its neighbour.
 * @param {RecordsDraft} draft
 * @param {1 | -1} step
 * @returns {RecordsDraft}
 */
export function shifted(draft, step) {
  const lines = swapped(draft.lines, draft.y, step);
  return lines === draft.lines ? draft : { lines, y: draft.y + step, x: draft.x };
}

/**
 * Lines as they come from a spreadsheet, by tabs, or in the text form, by bars; null for what is one text.
 * @param {string} text
 * @returns {string[][] | null}
 */
export function pastedLines(text) {
  const plain = text.replace(/(\r\n|\r|\n)+$/, "");
  const rows = readTabs(plain);
  if (rows.length < 2 && (rows[0]?.length ?? 0) < 2) return null;
  if (rows.some((row) => row.length > 1)) return rows;
  const isWritten = rows.some(([line]) => /(?<!\\)\|/.test(line));
  return isWritten
    ? rows.map(([line]) => line.split(/(?<!\\)\|/).map((one) => one.trim().replaceAll("\\|", "|")))
    : rows;
}

/**
 * With pasted lines from the caret on, as in a spreadsheet; what stands beyond the last field is left out.
 * @param {RecordsDraft} draft
 * @param {string[][]} pasted
 * @returns {{draft: RecordsDraft, left: number}} `left`: texts that had no field
 */
export function filledIn({ lines, y, x }, pasted) {
  const all = lines.map((line) => [...line]);
  let left = 0;
  for (const [down, row] of pasted.entries()) {
    if (!all[y + down]) all.push(blankLike(lines));
    for (const [right, text] of row.entries())
      if (x + right < width(lines)) all[y + down][x + right] = tidy(text);
      else if (text.trim()) left += 1;
  }
  return { draft: { lines: all, y: y + pasted.length - 1, x }, left };
}

/**
 * What a line says.
 * @param {ValueQuestion} question
 * @param {string[]} line
 * @returns {ItemRecord}
 */
const recordIn = (question, line) =>
  Object.fromEntries(fieldsOf(question).map(({ key, list }, x) => [key, list ? readList(line[x]) : tidy(line[x])]));

/**
 * The answer that the lines are; empty ones are none, and null stands where all are.
 * @param {ValueQuestion} question
 * @param {string[][]} lines
 * @param {Sentences} words
 * @returns {Read | null}
 */
export function readLines(question, lines, words) {
  const records = lines.map((line) => recordIn(question, line));
  const said = records.filter((record) => saysSomething(question, record));
  if (!said.length) return null;
  if (saysNone(lines)) return checkedItems(question, [], words);
  const [problem] = problemsIn(question, lines, words).values();
  return problem ? { refused: problem.sentence } : checkedItems(question, said, words);
}

/**
 * Whether a bar stands alone: as in the text form, there is nothing to list.
 * @param {string[][]} lines
 */
const saysNone = (lines) => lines.flatMap((line) => line.map((text) => tidy(text)).filter(Boolean)).join("\t") === "|";

/**
 * What is wrong with single lines: the place of the line -> the sentence, and the place of the field that it is about.
 * @param {ValueQuestion} question
 * @param {string[][]} lines
 * @param {Sentences} words
 * @returns {Map<number, {x: number, sentence: string}>}
 */
export function problemsIn(question, lines, words) {
  const keys = fieldsOf(question).map(({ key }) => key);
  /** @type {Map<number, {x: number, sentence: string}>} */
  const found = new Map();
  if (saysNone(lines)) return found;
  for (const [y, line] of lines.entries()) {
    const record = recordIn(question, line);
    if (!saysSomething(question, record)) continue;
    const problem = problemOf(question, record, y + 1, words);
    if (problem) found.set(y, { x: keys.indexOf(problem.field), sentence: problem.sentence });
  }
  return found;
}

/**
 * What is offered in a field: what stands in it in the lines above and below, nearest first, in the lists that were answered
 * before, and what the scheme gives; the options alone of a field that has some.
 * @param {ValueQuestion} question
 * @param {RecordsDraft} draft
 * @param {ItemRecord[][]} earlier answers, the nearest first
 * @returns {string[]}
 */
export function offersIn(question, { lines, y, x }, earlier) {
  const field = fieldsOf(question)[x];
  if (field.options) return field.options;
  /** @param {string} text */
  const texts = (text) => (field.list ? readList(text) : [tidy(text)]);
  const [below, above] = [lines.slice(y + 1), lines.slice(0, y).reverse()];
  return [
    ...[...above, ...below].flatMap((line) => texts(line[x])),
    ...earlier.flat().flatMap((record) => record[field.key] ?? []),
    ...field.completions,
  ].filter(Boolean);
}

// --- the words that entries come from, and what earlier entries propose ------------------------------------------------------

/** @param {ValueQuestion} question */
const placeIn = (question) => fieldsOf(question).findIndex(({ place }) => place);

/** @param {ValueQuestion} question */
export const hasPlaces = (question) => placeIn(question) >= 0;

/**
 * Of each line where its words stand: as it says so itself, or as they are found; "" for nowhere.
 * @param {ValueQuestion} question
 * @param {string[][]} lines
 * @param {string[]} texts of the document's blocks
 * @returns {{place: string, isFound: boolean}[]} `isFound`: the line does not say it
 */
export function placesIn(question, lines, texts) {
  const x = placeIn(question);
  if (x < 0 || !question.items) return lines.map(() => ({ place: "", isFound: false }));
  const records = lines.map((line) => recordIn(question, line));
  const found = foundPlaces(question.items, records, texts);
  return found.map((place, y) => ({ place, isFound: !lines[y][x] && place !== "" }));
}

/**
 * With the words of the document that the line of the caret comes from; an empty line says them, too.
 * @param {ValueQuestion} question
 * @param {RecordsDraft} draft
 * @param {import("./places.js").Place[]} places
 * @param {string[]} texts
 * @returns {RecordsDraft}
 */
export function tiedTo(question, { lines, y, x }, places, texts) {
  const tied = withItem(lines[y], placeIn(question), writtenPlaces(places));
  const said = saidFields(question).length;
  const words = tidy(wordsAt(texts, places));
  const first = isBlank(lines[y].slice(0, said)) ? withItem(tied, 0, words) : tied;
  return { lines: withItem(lines, y, first), y, x };
}

/**
 * With other words of the document for the line of the caret, by a step of keys.
 * @param {ValueQuestion} question
 * @param {RecordsDraft} draft
 * @param {1 | -1} step
 * @param {boolean} isEnd whether a word more or fewer is meant, and no other one
 * @param {string[]} texts
 * @returns {RecordsDraft}
 */
export function steppedIn(question, draft, step, isEnd, texts) {
  const { lines, y, x } = draft;
  const places = placesIn(question, lines, texts).map(({ place }) => readPlaces(place) ?? []);
  const before = places.slice(0, y).findLast((one) => one.length);
  const stepped = steppedPlaces(texts, places[y], step, isEnd, before?.[before.length - 1]);
  return { lines: withItem(lines, y, withItem(lines[y], placeIn(question), writtenPlaces(stepped))), y, x };
}

/**
 * The lines with the places of their words that are found.
 * @param {ValueQuestion} question
 * @param {string[][]} lines
 * @param {string[]} texts
 */
export function withPlaces(question, lines, texts) {
  const x = placeIn(question);
  if (x < 0) return lines;
  const places = placesIn(question, lines, texts);
  return lines.map((line, y) =>
    places[y].isFound && saysSomething(question, recordIn(question, line)) ? withItem(line, x, places[y].place) : line,
  );
}

/**
 * What earlier lines propose for the empty fields of a line, by the place of the field.
 * @param {ValueQuestion} question
 * @param {string[][]} lines
 * @param {number} y
 * @param {string[]} texts
 * @returns {Map<number, string>}
 */
export function proposedIn(question, lines, y, texts) {
  const fields = fieldsOf(question);
  if (!question.items || !fields.some(({ carried }) => carried)) return new Map();
  const words = placesIn(question, lines, texts).map(({ place }) => wordsAt(texts, readPlaces(place) ?? []));
  const records = lines.map((line) => recordIn(question, line));
  const found = proposals(question.items, records, y, words);
  return new Map(
    Object.entries(found).map(([key, text]) => [
      fields.findIndex((field) => field.key === key),
      typeof text === "string" ? text : writtenList(text),
    ]),
  );
}
