// The arithmetic of a range of cells: a box of lines y0 to y1 and cells x0 to x1, both ends included.

/** @typedef {import("./moves.js").Place} Place */
/** @typedef {{y0: number, y1: number, x0: number, x1: number}} Box */

/**
 * The box between two opposite corners.
 * @param {Place} near
 * @param {Place} far
 * @returns {Box}
 */
export const boxOf = (near, far) => ({
  y0: Math.min(near.y, far.y),
  y1: Math.max(near.y, far.y),
  x0: Math.min(near.x, far.x),
  x1: Math.max(near.x, far.x),
});

/**
 * So many steps further in a box, line by line or column by column, and from the last cell to the first.
 * @param {Box} box
 * @param {Place} here
 * @param {number} step
 * @param {boolean} byColumns
 * @returns {Place}
 */
export function through({ y0, y1, x0, x1 }, { y, x }, step, byColumns) {
  const [wide, high] = [x1 - x0 + 1, y1 - y0 + 1];
  const at = byColumns ? (x - x0) * high + y - y0 : (y - y0) * wide + x - x0;
  const there = (at + step + wide * high) % (wide * high);
  const [right, down] = byColumns ? [Math.floor(there / high), there % high] : [there % wide, Math.floor(there / wide)];
  return { y: y0 + down, x: x0 + right };
}

/**
 * Where each word of a pasted block goes: a single one into the whole box; a block again and again into a box that is a
 * multiple of it, else once from the first cell on.
 * @param {Box} box
 * @param {string[][]} rows of words, not empty
 * @returns {(Place & {word: string})[]} line by line
 */
export function targets({ y0, y1, x0, x1 }, rows) {
  const height = rows.length;
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0); // more rows than a call takes arguments
  const fits = (y1 - y0 + 1) % height === 0 && (x1 - x0 + 1) % width === 0;
  const [bottom, right] = fits ? [y1, x1] : [y0 + height - 1, x0 + width - 1];
  const found = [];
  for (let y = y0; y <= bottom; y++)
    for (let x = x0; x <= right; x++) found.push({ y, x, word: rows[(y - y0) % height][(x - x0) % width] ?? "" });
  return found;
}
