// The order of a table's lines by one of its columns. A line that is a part of the one above it stays below it.

/**
 * One line as it is sorted: its number where it has one, its text, and whether it is a part of the line above.
 * @typedef {{number: number | null, text: string, part: boolean}} Line
 */

/**
 * The places of the lines in their new order. What has no number stands last, whichever way is up; equal ones stay as they
 * were.
 * @param {Line[]} lines
 * @param {boolean} up
 * @param {string} [language]
 * @returns {number[]}
 */
export function sortedPlaces(lines, up, language) {
  /** @type {number[][]} */
  const blocks = [];
  lines.forEach((line, place) => {
    if (line.part && blocks.length) blocks[blocks.length - 1].push(place);
    else blocks.push([place]);
  });
  const numeric = lines.some((line) => line.number !== null);
  const compare = new Intl.Collator(language, { numeric: true }).compare;
  blocks.sort(([a], [b]) => {
    const [one, other] = [lines[a], lines[b]];
    if (!numeric) return up ? compare(one.text, other.text) : compare(other.text, one.text);
    if (one.number === null || other.number === null)
      return Number(one.number === null) - Number(other.number === null);
    return up ? one.number - other.number : other.number - one.number;
  });
  return blocks.flat();
}
