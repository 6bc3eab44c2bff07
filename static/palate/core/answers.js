// Answers and the words for them: as a person types or pastes them, and as they are written for a spreadsheet.

import { optionOf, reasonFrom, reasonOf, skipCode, valueCode, valueIn } from "./codes.js";
import { fill } from "./sentences.js";
import { hasValues, readValue, writtenValue } from "./values.js";

/** @typedef {{key: string, label: string, sign: string, hotkey: string, colour: string, blank: boolean, meaning?: string}} Option */

/** @typedef {import("./values.js").ValueQuestion & {options: Option[]}} Asked */

/** @param {string} text */
const plain = (text) => text.normalize("NFC").toLocaleLowerCase().trim();

/**
 * The option that a word names: by label, key or number key, in small or capital letters.
 * @param {Option[]} options
 * @param {string} word
 * @returns {Option | undefined}
 */
export function optionNamed(options, word) {
  const wanted = plain(word);
  for (const what of /** @type {const} */ (["label", "key", "hotkey"])) {
    const found = options.find((option) => plain(option[what]) === wanted);
    if (found) return found;
  }
  return undefined;
}

// A skipped cell travels with its reason, in the words of the workbook; see annotation/exchange/spreadsheet.
export class AnswerWords {
  /** @param {import("./sentences.js").Sentences} words `skippedWord`: how a skip is written, with a gap for its {reason} */
  constructor(words) {
    const { skippedWord } = words;
    this.words = words;
    this.skippedWord = skippedWord;
    const [before, after] = skippedWord
      .split("{reason}")
      .map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.skip = new RegExp(`^${before}\\s*(\\S.*)${after}$`, "isu");
  }

  /**
   * @param {Asked} question of the cell
   * @param {string} code
   */
  write(question, code) {
    const reason = reasonOf(code);
    if (reason) return fill(this.skippedWord, { reason });
    const value = /** @type {import("./values.js").Value | undefined} */ (valueIn(code));
    if (value !== undefined) return writtenValue(question, value);
    return question.options.find(({ key }) => key === optionOf(code))?.label ?? "";
  }

  /**
   * What a word means in a cell: the code of an answer or a skip, "" to clear; undefined where it means nothing.
   * @param {Asked} question of the cell
   * @param {string} word
   * @returns {string | undefined}
   */
  read(question, word) {
    if (!word.trim()) return "";
    const reason = this.skip.exec(word.trim())?.[1];
    const skip = reason && skipCode(reasonFrom(reason));
    if (!hasValues(question.kind)) return optionNamed(question.options, word)?.key ?? skip;
    if (skip) return skip;
    const read = readValue(question, word, this.words);
    return read && "value" in read ? valueCode(read.value) : undefined;
  }
}
