// Lists that are changed by being made anew.

/**
 * @template Item
 * @param {Item[]} list
 * @param {number} n
 * @param {Item} item
 */
export const withItem = (list, n, item) => list.map((one, place) => (place === n ? item : one));

/**
 * @template Item
 * @param {Item[]} list
 * @param {number} n
 */
export const withoutItem = (list, n) => list.filter((_one, place) => place !== n);

/**
 * An item in the place of its neighbour; the same list where it has none there.
 * @template Item
 * @param {Item[]} list
 * @param {number} n
 * @param {1 | -1} step
 */
export function swapped(list, n, step) {
  if (n + step < 0 || n + step >= list.length) return list;
  return withItem(withItem(list, n, list[n + step]), n + step, list[n]);
}
