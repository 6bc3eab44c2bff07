// Which names have the letters in them that somebody types; accents and capitals make no difference.

/** @param {string} text */
const letters = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();

/**
 * Those with a word that begins so come first.
 * @template Key
 * @param {(readonly [Key, string])[]} names
 * @param {string} typed
 * @returns {Key[]} of the names that match; none where nothing is typed
 */
export function search(names, typed) {
  const wanted = letters(typed.trim());
  if (!wanted) return [];
  /** @param {string} name */
  const isLater = (name) => Number(!name.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(wanted)));
  return names
    .map(([key, name]) => /** @type {const} */ ([key, letters(name)]))
    .filter(([, name]) => name.includes(wanted))
    .sort((a, b) => isLater(a[1]) - isLater(b[1]))
    .map(([key]) => key);
}
