// The code of an answer: one string says what stands in a cell. Everything that compares, keeps or sends answers works on codes.
//
//   found          the key of an option
//   :"flour"       a value, as JSON: a text, a number, a list of records
//   !torn page     skipped: the rater cannot tell, and says why
//   (nothing)      no answer
//
// Before an answer stands "=" where it follows from the column and nobody chose it, "~" where it is a draft that its person
// has not confirmed.

/**
 * A code in its parts.
 * @typedef {object} Answer
 * @property {"nothing" | "option" | "value" | "skip"} kind
 * @property {"chosen" | "preset" | "draft"} by how it came there
 * @property {string} [option] the key of an option
 * @property {unknown} [value]
 * @property {string} [reason] of a skip
 */

const SKIP = "!";
const VALUE = ":";
const MARKS = { chosen: "", preset: "=", draft: "~" };
const LONGEST_REASON = 500;

/** @param {string} code */
export const isPreset = (code) => code.startsWith(MARKS.preset);

/** @param {string} code */
export const isDraft = (code) => code.startsWith(MARKS.draft);

/**
 * What is answered, whoever or whatever put it there: two codes of one answer are the same by it.
 * @param {string} code
 */
export const answerOf = (code) => (isPreset(code) || isDraft(code) ? code.slice(1) : code);

/**
 * The option's key; "" for every other answer.
 * @param {string} code
 */
export function optionOf(code) {
  const answer = answerOf(code);
  return answer.startsWith(SKIP) || answer.startsWith(VALUE) ? "" : answer;
}

/**
 * Why the cell is skipped; "" for every other answer.
 * @param {string} code
 */
export function reasonOf(code) {
  const answer = answerOf(code);
  return answer.startsWith(SKIP) ? answer.slice(1) : "";
}

/**
 * The value; undefined for every other answer.
 * @param {string} code
 * @returns {unknown}
 */
export function valueIn(code) {
  const answer = answerOf(code);
  return answer.startsWith(VALUE) ? JSON.parse(answer.slice(1)) : undefined;
}

/**
 * What the rules of a scheme compare with the answers that they name: an option's key, or a text as it stands.
 * @param {string} code
 */
export function saidBy(code) {
  const value = valueIn(code);
  return typeof value === "string" ? value : answerOf(code);
}

/**
 * A number without an exponent, as it is written by hand.
 * @param {number} number
 */
export function plainNumber(number) {
  const text = String(number);
  if (!/e/i.test(text)) return text;
  return number.toFixed(10).replace(/0+$/, "").replace(/\.$/, "");
}

/** @param {unknown} value as JSON has it; the keys of records in the order in which the scheme declares them */
export const valueCode = (value) => VALUE + (typeof value === "number" ? plainNumber(value) : JSON.stringify(value));

/** @param {string} reason */
export const skipCode = (reason) => SKIP + reason;

/**
 * A reason as somebody has written it: one that is too long is cut, but not in half of a character.
 * @param {string} written
 */
export const reasonFrom = (written) =>
  written
    .trim()
    .slice(0, LONGEST_REASON)
    .replace(/[\ud800-\udbff]$/, "");

/** @param {string} answer */
export const presetCode = (answer) => (answer ? MARKS.preset + answer : "");

/** @param {string} answer */
export const draftCode = (answer) => (answer ? MARKS.draft + answer : "");

/**
 * @param {string} code
 * @returns {Answer}
 */
export function parse(code) {
  const by = isPreset(code) ? "preset" : isDraft(code) ? "draft" : "chosen";
  const answer = answerOf(code);
  if (!answer) return { kind: "nothing", by };
  if (answer.startsWith(SKIP)) return { kind: "skip", by, reason: answer.slice(1) };
  if (answer.startsWith(VALUE)) return { kind: "value", by, value: valueIn(answer) };
  return { kind: "option", by, option: answer };
}

/** @param {Answer} answer */
export function format({ kind, by, option = "", value, reason = "" }) {
  const answer = { nothing: "", option, value: kind === "value" ? valueCode(value) : "", skip: skipCode(reason) }[kind];
  return answer && MARKS[by] + answer;
}
