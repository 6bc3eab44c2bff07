// The rules of a scheme over what stands in one column of one row: what is asked there, and what is filled in by itself.
// The server has the same rules, and both are held to one table of examples, tests/rules/examples.json.

import { isPreset, presetCode, saidBy } from "./codes.js";

/**
 * What the rules say of one question in one column. Questions come before those that depend on them.
 * @typedef {object} Rule
 * @property {string} question
 * @property {Record<string, string[]>} askUnless question above -> answers that switch this one off
 * @property {string} preset the answer that follows from the column alone, or ""
 */
/** @typedef {Record<string, string>} Codes question -> code; "", or nothing, where it is not answered */
/** @typedef {{codes: Codes, asked: Set<string>}} Standing what stands in a column, and which questions are asked there */

/**
 * The questions that are asked, given the answers to those above them.
 * @param {Rule[]} rules
 * @param {Codes} codes
 * @returns {Set<string>}
 */
export function askedOf(rules, codes) {
  /** @type {Set<string>} */
  const asked = new Set();
  for (const { question, askUnless } of rules) {
    const conditions = Object.entries(askUnless);
    if (conditions.every(([above, answers]) => asked.has(above) && !answers.includes(saidBy(codes[above] ?? ""))))
      asked.add(question);
  }
  return asked;
}

/**
 * What is not asked has no answer.
 * @param {Rule[]} rules
 * @param {Codes} codes
 * @returns {Standing}
 */
export function switched(rules, codes) {
  const asked = askedOf(rules, codes);
  return {
    codes: Object.fromEntries(
      rules.map(({ question }) => [question, asked.has(question) ? codes[question] || "" : ""]),
    ),
    asked,
  };
}

/**
 * Presets fill what is empty, as soon as something of the column is answered; once nothing is, they go too. What has just
 * been cleared stays clear.
 * @param {Rule[]} rules
 * @param {Codes} codes
 * @param {Set<string>} cleared questions
 * @returns {Standing}
 */
export function settled(rules, codes, cleared) {
  const nobody = rules.every(({ question }) => !codes[question] || isPreset(codes[question]));
  /** @param {Rule} rule */
  const filled = ({ question, preset }) => {
    if (nobody) return "";
    return codes[question] || (cleared.has(question) ? "" : presetCode(preset));
  };
  return switched(rules, Object.fromEntries(rules.map((rule) => [rule.question, filled(rule)])));
}

/**
 * What stands there after changes, one after the other. `left`: places of the changes that answer what is not asked by then.
 * @param {Rule[]} rules
 * @param {Codes} before
 * @param {[question: string, code: string][]} changes
 * @returns {Standing & {left: number[]}}
 */
export function changed(rules, before, changes) {
  let { codes, asked } = switched(rules, before);
  /** @type {number[]} */
  const left = [];
  /** @type {Set<string>} */
  const cleared = new Set();
  changes.forEach(([question, code], place) => {
    if (code && !asked.has(question)) {
      left.push(place);
      return;
    }
    if (!code) cleared.add(question);
    ({ codes, asked } = switched(rules, { ...codes, [question]: code }));
  });
  if (left.length === changes.length) return { codes, asked, left };
  return { ...settled(rules, codes, cleared), left };
}
