// Where a key that moves leads, among lines of cells that may be of different lengths.

/** @typedef {{y: number, x: number}} Place the number of the line, and of the cell in it */

/** @type {Record<string, (here: Place, last: number) => Place>} */
const MOVES = {
  ArrowLeft: ({ y, x }) => ({ y, x: x - 1 }),
  ArrowRight: ({ y, x }) => ({ y, x: x + 1 }),
  ArrowUp: ({ y, x }) => ({ y: y - 1, x }),
  ArrowDown: ({ y, x }) => ({ y: y + 1, x }),
  Home: ({ y }) => ({ y, x: 0 }),
  End: ({ y }) => ({ y, x: Number.POSITIVE_INFINITY }),
  PageUp: ({ y, x }) => ({ y: Math.max(0, y - 10), x }),
  PageDown: ({ y, x }, last) => ({ y: Math.min(last, y + 10), x }),
  "Ctrl+Home": () => ({ y: 0, x: 0 }),
  "Ctrl+End": (_here, last) => ({ y: last, x: Number.POSITIVE_INFINITY }),
};

/** The names of the keys that move. */
export const MOVING = Object.keys(MOVES);

/**
 * The cell at a place: on a line that is there, the nearest one.
 * @template Cell
 * @param {{cells: Cell[]}[]} lines
 * @param {Place} place
 * @returns {Cell | undefined}
 */
export function cellAt(lines, { y, x }) {
  const cells = lines[y]?.cells;
  return cells?.[Math.max(0, Math.min(x, cells.length - 1))];
}

/**
 * The cell to which a key leads; undefined where it leads out of the lines, or does not move.
 * @template Cell
 * @param {string} key
 * @param {{cells: Cell[]}[]} lines
 * @param {Place} here
 * @returns {Cell | undefined}
 */
export function movedTo(key, lines, here) {
  const move = MOVES[key];
  return move && cellAt(lines, move(here, lines.length - 1));
}
