// What earlier entries of a list say that may hold for a later one which says nothing there: proposals; as in
// annotation/answers/carrying.py. Both are held to tests/rules/carrying.json.

/** @typedef {import("./values.js").ItemsSpec} ItemsSpec */
/** @typedef {import("./values.js").ItemRecord} ItemRecord */
/** @typedef {import("./values.js").Field} Field */
/** @typedef {import("./values.js").FieldValue} FieldValue */

const CARRIED_WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

/** @param {string} text */
const carriedWords = (text) => [...text.matchAll(CARRIED_WORD)].map(([word]) => word.toLowerCase());

/** @param {FieldValue | undefined} field */
const hasText = (field) => Boolean(field?.length);

/**
 * What is proposed in the empty fields of the record at this place, by field.
 * @param {ItemsSpec} own
 * @param {ItemRecord[]} records
 * @param {number} at
 * @param {string[]} [words] of each record the words of the document that it comes from, "" where nothing is known
 * @returns {Record<string, FieldValue>}
 */
export function proposals(own, records, at, words = []) {
  const said = own.fields.filter(({ place }) => !place);
  const record = records[at];
  if (!hasText(record[said[0].key])) return {};
  const verb = carriedWords(String(record[said[0].key]));
  /** @type {Record<string, FieldValue>} */
  const found = {};
  for (const field of said) {
    if (!field.carried || hasText(record[field.key])) continue;
    const proposed = field.list
      ? severalCarried(said, field, records, at, words)
      : oneCarried(field, records, at, verb);
    if (hasText(proposed)) found[field.key] = proposed;
  }
  return found;
}

/**
 * The last earlier text that belongs to this entry's verb; else the last one that belongs to no verb.
 * @param {Field} field
 * @param {ItemRecord[]} records
 * @param {number} at
 * @param {string[]} verb
 */
function oneCarried(field, records, at, verb) {
  let free = "";
  for (const record of records.slice(0, at).reverse()) {
    const text = String(record[field.key] ?? "");
    if (!text) continue;
    const into = carriedInto(field, text);
    if (into === null) free ||= text;
    else if (into.some((word) => verb.includes(word))) return text;
  }
  return free;
}

/**
 * The verbs that a text is carried to, null where the scheme says nothing of it.
 * @param {Field} field
 * @param {string} text
 */
function carriedInto({ into = {} }, text) {
  const words = carriedWords(text);
  for (const [named, verbs] of Object.entries(into)) {
    const wanted = carriedWords(named);
    if (words.slice(-wanted.length).join(" ") === wanted.join(" ")) return verbs.flatMap(carriedWords);
  }
  return null;
}

/**
 * One thing is carried as it is, several by the word that sums them up.
 * @param {Field[]} said
 * @param {Field} field
 * @param {ItemRecord[]} records
 * @param {number} at
 * @param {string[]} words
 * @returns {string[]}
 */
function severalCarried(said, { key, sums = [] }, records, at, words) {
  const earlier = [...records.keys()].slice(0, at).reverse();
  const filled = earlier.filter((place) => hasText(records[place][key]));
  if (!filled.length) return [];
  const last = [records[filled[0]][key]].flat();
  /** @type {Map<string, string>} */
  const known = new Map(sums.map((word) => [word.toLowerCase(), word]));
  if (!known.size) return last;
  const isAlone = last.length === 1 && (filled.length < 2 || known.has(last[0].toLowerCase()));
  // What is put to something else: it is one with it from then on, unless it is somewhere else.
  if (isAlone || (last.length === 1 && isElsewhere(said, records[filled[0]], records[filled[1]]))) return last;
  const texts = [at, ...filled].flatMap((place) => carriedWords(words[place] ?? ""));
  const named =
    texts.find((word) => known.has(word)) ?? last.map((one) => one.toLowerCase()).find((one) => known.has(one));
  return [known.get(named ?? "") ?? sums[0]];
}

/**
 * Two entries name two texts in a field that is carried and no list: other tools, and so other things.
 * @param {Field[]} said
 * @param {ItemRecord} later
 * @param {ItemRecord} before
 */
const isElsewhere = (said, later, before) =>
  said.some(
    ({ key, list, carried }) =>
      carried && !list && hasText(later[key]) && hasText(before[key]) && later[key] !== before[key],
  );
