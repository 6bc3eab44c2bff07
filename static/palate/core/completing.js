// What is offered to whoever types: what the scheme lists, and what was answered before. Of a list, its last part is completed.

import { beginsWord, searched } from "./finding.js";
import { folded, readList, splitAt, writtenList } from "./values.js";

const MOST = 8;

/**
 * The part of a text that is being typed, and what stands before it: as text, and its parts.
 * @param {string} typed
 * @param {string} separator "" where the text is no list
 * @param {boolean} escapes whether a backslash before a separator makes it a part of a text, as in fields of records
 */
function lastPart(typed, separator, escapes) {
  const parts = !separator ? [typed] : escapes ? splitAt(typed, separator) : typed.split(separator);
  const last = parts.pop() ?? "";
  const at = typed.length - last.length;
  const gap = at ? (/^\s*/.exec(last)?.[0] ?? "") : "";
  const read = (/** @type {string} */ part) => (escapes ? (readList(part)[0] ?? "") : part.trim());
  return { before: typed.slice(0, at) + (at ? gap || " " : ""), part: read(last), others: parts.map(read) };
}

/**
 * An offer as it is written behind other parts.
 * @param {string} offer
 * @param {boolean} escapes
 */
const asPart = (offer, escapes) => (escapes ? writtenList([offer]) : offer);

/**
 * Those of the offers that fit what is typed, each as the whole text that taking it makes: first what begins so, then what has
 * a word that does. Nothing where all of it stands there already, or where nothing is typed and `all` is not asked for.
 * @param {string[]} offers in the order of their worth
 * @param {string} typed
 * @param {{separator?: string, escapes?: boolean, all?: boolean, most?: number}} [how]
 * @returns {{text: string, shown: string}[]}
 */
export function completions(offers, typed, { separator = "", escapes = false, all = false, most = MOST } = {}) {
  const { before, part, others } = lastPart(typed, separator, escapes);
  const wanted = searched(part);
  if (!wanted && !all) return [];
  const taken = new Set(others.map(searched));
  const distinct = [...new Map(offers.map((offer) => [searched(offer), offer])).entries()];
  const open = distinct.filter(([word]) => word && !taken.has(word) && word !== wanted);
  const starts = open.filter(([word]) => word.startsWith(wanted));
  const inside = open.filter(([word]) => !word.startsWith(wanted) && beginsWord(word, wanted));
  return [...starts, ...inside].slice(0, most).map(([, shown]) => ({ text: before + asPart(shown, escapes), shown }));
}

/**
 * A text in which the last word is written out, where it is one of the options or begins a single one.
 * @param {string[]} options
 * @param {string} typed
 * @param {boolean} [isList] with commas between the texts
 */
export function writtenOut(options, typed, isList = false) {
  const { before, part } = lastPart(typed, isList ? "," : "", isList);
  if (!part) return typed;
  const begun = options.filter((option) => searched(option).startsWith(searched(part)));
  const meant =
    options.find((option) => folded(option) === folded(part)) ?? (begun.length === 1 ? begun[0] : undefined);
  return meant === undefined ? typed : before + asPart(meant, isList);
}

/**
 * What most likely stands in an empty cell: what was answered nearest, and beside it those of the things that the line names
 * by their last word; where there is neither, that there is nothing.
 * @param {{nearest: string[], things: string[], line: string, separator: string, nothing: string}} known
 */
export function suggested({ nearest, things, line, separator, nothing }) {
  const words = new Set(
    folded(line)
      .split(/[^\p{L}\p{N}]+/u)
      .map(single),
  );
  const had = new Set(nearest.map(searched));
  const named = things.filter((thing) => !had.has(searched(thing)) && words.has(single(lastWord(thing))));
  const parts = [...nearest, ...named];
  if (!parts.length) return nothing;
  return separator ? parts.join(`${separator} `) : parts[0];
}

/** @param {string} text */
const lastWord = (text) =>
  folded(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .pop() ?? "";

/** @param {string} word in the singular, as far as its ending tells */
const single = (word) => (word.length > 3 ? word.replace(/(?<=o)es$|(?<!s)s$/, "") : word);
