// Which names have the letters in them that somebody types; accents and capitals make no difference, nor do the widths of
// letters and the two syllabaries of Japanese, which has no spaces between its words.

/**
 * A text as it is searched in and for.
 * @param {string} text
 */
export const searched = (text) =>
  text
    .normalize("NFKD")
    .replace(/(?<!\p{Script=Katakana}|\p{Script=Hiragana})\p{M}/gu, "")
    .normalize("NFC")
    .toLocaleLowerCase()
    .replace(/[ァ-ヶ]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0x60))
    .trim()
    .replace(/\s+/g, " ");

const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/**
 * Whether a word of a text begins so; where a script has no spaces, any place in the text may be the beginning of a word.
 * @param {string} text as it is searched
 * @param {string} wanted likewise
 */
export function beginsWord(text, wanted) {
  if (!wanted) return true;
  if (SPACELESS.test(wanted[0])) return text.includes(wanted);
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
    if (!at || !/[\p{L}\p{N}]/u.test(text[at - 1]) || SPACELESS.test(text[at - 1])) return true;
  return false;
}

/**
 * Those with a word that begins so come first.
 * @template Key
 * @param {(readonly [Key, string])[]} names
 * @param {string} typed
 * @returns {Key[]} of the names that match; none where nothing is typed
 */
export function search(names, typed) {
  const wanted = searched(typed);
  if (!wanted) return [];
  return names
    .map(([key, name]) => /** @type {const} */ ([key, searched(name)]))
    .filter(([, name]) => name.includes(wanted))
    .sort((a, b) => Number(!beginsWord(a[1], wanted)) - Number(!beginsWord(b[1], wanted)))
    .map(([key]) => key);
}
