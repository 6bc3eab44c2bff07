// Where in a document the words stand that an entry of a list comes from; as in annotation/answers/places.py. Both are held to
// tests/rules/places.json. Characters are counted as Unicode does, so that both count alike.

/** @typedef {import("./values.js").ItemsSpec} ItemsSpec */
/** @typedef {import("./values.js").ItemRecord} ItemRecord */
/** @typedef {{block: number, start: number, end: number}} Place */

const MOST_STRETCHES = 12;
const STRETCH_FORM = /^(\d{1,5}):(\d{1,6})-(\d{1,6})$/;
const PLACED_WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;
const SENTENCE_END = /[.;!?](?=\s|$)|\n/g;
const WORD_ENDINGS = ["", "s", "es", "d", "ed", "ing"];

/**
 * Null where it is no such text.
 * @param {string} text
 * @returns {Place[] | null}
 */
export function readPlaces(text) {
  const parts = text.split(/\s+/).filter(Boolean);
  /** @type {Map<string, Place>} */
  const found = new Map();
  for (const part of parts) {
    const matched = STRETCH_FORM.exec(part);
    if (!matched) return null;
    const [block, start, end] = matched.slice(1).map(Number);
    if (start >= end) return null;
    found.set(`${block}:${start}-${end}`, { block, start, end });
  }
  if (parts.length > MOST_STRETCHES) return null;
  return [...found.values()].sort((a, b) => a.block - b.block || a.start - b.start || a.end - b.end);
}

/** @param {Place[]} places */
export const writtenPlaces = (places) => places.map(({ block, start, end }) => `${block}:${start}-${end}`).join(" ");

/**
 * The words at these places, " … " between stretches; places that the document has not say nothing.
 * @param {string[]} texts
 * @param {Place[]} places
 */
export const wordsAt = (texts, places) =>
  places
    .map(({ block, start, end }) => [...(texts[block] ?? "")].slice(start, end).join("").trim())
    .filter(Boolean)
    .join(" … ");

/**
 * A number of characters as a number of the units that a script counts in.
 * @param {string} text
 * @param {number} n
 */
export const unitsOf = (text, n) => [...text].slice(0, n).join("").length;

/**
 * The reverse.
 * @param {string} text
 * @param {number} units
 */
export const charactersOf = (text, units) => [...text.slice(0, units)].length;

/**
 * The words of a text from one place to another by keys: the next word, or the one before; or one word more or fewer at the end,
 * within a block. Without a place the first word behind another one, or of all.
 * @param {string[]} texts
 * @param {Place[]} places
 * @param {1 | -1} step
 * @param {boolean} isEnd whether the end alone moves
 * @param {Place} [behind]
 * @returns {Place[]}
 */
export function steppedPlaces(texts, places, step, isEnd, behind) {
  const words = texts.flatMap((text, block) =>
    [...text.matchAll(PLACED_WORD)].map(({ 0: word, index }) => ({
      block,
      start: charactersOf(text, index),
      end: charactersOf(text, index + word.length),
    })),
  );
  const last = places[places.length - 1];
  if (!last) {
    const begin = behind ? words.findIndex((word) => isAfter(word, behind)) : 0;
    const [at] = words.slice(Math.max(begin, 0));
    return at ? [at] : [];
  }
  const covered = words.filter(({ block, start, end }) => block === last.block && start < last.end && end > last.start);
  const [first, final] = [words.indexOf(covered[0]), words.indexOf(covered[covered.length - 1])];
  if (first < 0) return places;
  if (!isEnd) {
    const at = words[step > 0 ? final + 1 : first - 1];
    return at ? [at] : places;
  }
  const end = words[final + step];
  if (end?.block !== last.block || end.end <= last.start || final + step < first) return places;
  return [...places.slice(0, -1), { block: last.block, start: words[first].start, end: end.end }];
}

/**
 * @param {Place} word
 * @param {Place} other
 */
const isAfter = (word, other) => word.block > other.block || (word.block === other.block && word.start >= other.end);

// --- entries whose words are looked for --------------------------------------------------------------------------------

/** @param {string | string[] | undefined} field */
const textsOfField = (field) => (typeof field === "string" ? [field] : (field ?? []));

/** @param {string} text */
const placedWords = (text) => [...text.matchAll(PLACED_WORD)].map(([word]) => word.toLowerCase());

/**
 * The same word, or one with an ending.
 * @param {string} one
 * @param {string} other
 */
function isWordForm(one, other) {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return long.startsWith(short) && WORD_ENDINGS.includes(long.slice(short.length));
}

/**
 * The place of each record, as it says it, or where the words of its first field stand with those of the others of the same
 * sentence, looked for behind the entry before and then from the document's beginning; "" for nowhere.
 * @param {ItemsSpec} own
 * @param {ItemRecord[]} records
 * @param {string[]} texts
 * @returns {string[]}
 */
export function foundPlaces(own, records, texts) {
  const key = own.fields.find(({ place }) => place)?.key ?? "";
  let behind = { block: 0, start: 0 };
  return records.map((record) => {
    const said = String(record[key] ?? "");
    const stands = said && readPlaces(said)?.[0];
    if (stands) behind = { block: stands.block, start: stands.start + 1 };
    if (said) return said;
    const stretch = stretchFor(own, record, texts, behind) ?? stretchFor(own, record, texts, { block: 0, start: 0 });
    if (!stretch) return "";
    behind = { block: stretch.block, start: stretch.start + 1 };
    return writtenPlaces([stretch]);
  });
}

/**
 * @param {ItemsSpec} own
 * @param {ItemRecord} record
 * @param {string[]} texts
 * @param {{block: number, start: number}} behind
 * @returns {Place | null}
 */
function stretchFor(own, record, texts, behind) {
  const [first, ...others] = own.fields.filter(({ place }) => !place);
  const wanted = placedWords(textsOfField(record[first.key]).join(" "));
  if (!wanted.length) return null;
  const words = others.flatMap(({ key }) => textsOfField(record[key]).flatMap(placedWords));
  const phrases = wanted.length > 1 && others.length ? [wanted, wanted.slice(0, 1)] : [wanted];
  for (const phrase of phrases)
    for (const [block, text] of texts.entries()) {
      if (block < behind.block) continue;
      const spans = [...text.matchAll(PLACED_WORD)].map(({ 0: word, index }) => ({
        start: index,
        end: index + word.length,
        word: word.toLowerCase(),
      }));
      const from = block === behind.block ? unitsOf(text, behind.start) : 0;
      for (let at = 0; at <= spans.length - phrase.length; at++) {
        if (spans[at].start < from || !phrase.every((word, n) => isWordForm(spans[at + n].word, word))) continue;
        const { end } = spans[at + phrase.length - 1];
        SENTENCE_END.lastIndex = end;
        const stop = SENTENCE_END.exec(text)?.index ?? text.length;
        const rest = spans.slice(at + phrase.length).filter((span) => span.end <= stop);
        const ends = [...wanted.slice(phrase.length), ...words].map(
          (word) => rest.find((span) => isWordForm(span.word, word))?.end ?? end,
        );
        const [start, last] = [spans[at].start, Math.max(end, ...ends)];
        return { block, start: charactersOf(text, start), end: charactersOf(text, last) };
      }
    }
  return null;
}
