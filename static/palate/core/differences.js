// Which cells of the lens a filter is about.

/**
 * @typedef {object} Filter "" filters nothing
 * @property {string} kind
 * @property {string} judge
 * @property {string} rater by its place, as in the flags of a cell
 * @property {string} question
 * @property {Record<string, string>} facets of the row, those that are chosen alone; NO_WORD for a row without one
 * @property {boolean} undecided
 */
/** @typedef {{facets: Record<string, string>, raters: number[]}} Row its facets, and the places of who has it */
/** @typedef {{question: string, flags: Set<string>, off: boolean, row: Row}} Seen a cell, as far as a filter looks at it */

export const NO_WORD = "-";
// Of these a rater's own cells are meant, where one is chosen; of the others all cells of the rows that they have.
const BY_RATER = new Set(["warned", "draft"]);

/**
 * @param {Seen} cell
 * @param {string} kind of difference; "" for every cell that is asked
 * @param {Partial<Filter>} [of] the judge, the rater that is meant
 */
export function isOf({ flags, off }, kind, { judge, rater } = {}) {
  if (!kind) return !off;
  if (rater && BY_RATER.has(kind)) return flags.has(`${kind}-${rater}`);
  if (kind !== "judge") return flags.has(kind);
  return judge ? flags.has(`judge-${judge}`) : [...flags].some((flag) => flag.startsWith("judge-"));
}

/**
 * @param {Seen} cell
 * @param {Filter} filter
 */
export const isAsked = (cell, { question, rater, facets, undecided }) =>
  (!question || cell.question === question) &&
  !(undecided && cell.flags.has("decided")) &&
  (!rater || cell.row.raters.includes(Number(rater))) &&
  Object.entries(facets).every(([facet, word]) => (cell.row.facets[facet] || NO_WORD) === word);

/**
 * The filter shows it.
 * @param {Seen} cell
 * @param {Filter} filter
 */
export const isShown = (cell, filter) => isAsked(cell, filter) && isOf(cell, filter.kind, filter);

/**
 * The keys lead to it: where nothing is filtered, from one difference to the next.
 * @param {Seen} cell
 * @param {Filter} filter
 */
export function isTarget(cell, filter) {
  if (filter.kind) return isShown(cell, filter);
  return isAsked(cell, filter) && (isOf(cell, "people") || isOf(cell, "judge", filter));
}
