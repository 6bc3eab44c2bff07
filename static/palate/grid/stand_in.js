// In place of the server, where the grid shows a scheme that is stored nowhere: it answers as the server would, and nothing
// is saved, sent or kept in the browser. It comes before the grid's own scripts, which know nothing of it.

import { changed } from "../core/rules.js";
import { byId, dataOf, elementOf } from "../page/elements.js";

/** @typedef {[assignment: number, column: number, question: number, code: string, seen: string]} Sent */

const questions = dataOf("palette-data");
/** @type {Map<string, Record<string, string>>} */
const standing = new Map(); // assignment-column -> question -> code
let state = "open";

/** @param {unknown} told */
const json = (told, status = 200) =>
  new Response(JSON.stringify(told), { status, headers: { "Content-Type": "application/json" } });

/**
 * What the rules say of the questions of a section in their order.
 * @param {string} column
 * @param {string} question one of them
 */
const rulesOf = (column, question) =>
  Object.entries(questions)
    .filter(([, { section }]) => section === questions[question].section)
    .map(([key, { askUnless, presets }]) => ({ question: key, askUnless, preset: presets[column] ?? "" }));

/** @param {{key: string, changes: Sent[]}} edit */
function taken({ key, changes }) {
  /** @type {Set<string>} */
  const touched = new Set();
  for (const [assignment, column, question, code] of changes) {
    const place = `${assignment}-${column}`;
    const rules = rulesOf(String(column), String(question));
    const { codes } = changed(rules, standing.get(place) ?? {}, [[String(question), code]]);
    standing.set(place, codes);
    touched.add(place);
  }
  state = "started";
  const columns = [...touched].map((place) => [...place.split("-"), standing.get(place)]);
  const states = Object.fromEntries(changes.map(([assignment]) => [assignment, state]));
  return { key, columns, states, refused: [], held: [], conflicts: [] };
}

/**
 * @param {RequestInfo | URL} address
 * @param {RequestInit} [request]
 */
window.fetch = async (address, request = {}) => {
  const url = String(address);
  const body = new URLSearchParams(/** @type {URLSearchParams | undefined} */ (request.body ?? undefined));
  if (url.endsWith("/record/")) {
    const answers = JSON.parse(body.get("edits") ?? "[]").map(taken);
    if (!body.has("submit")) return json({ answers });
    state = "submitted";
    return json({ answers, submitted: { state } });
  }
  if (url.endsWith("/evidence/")) return new Response(elementOf("example-evidence", HTMLTemplateElement).innerHTML);
  if (url.endsWith("/submit/")) state = "submitted";
  else if (url.endsWith("/reopen/")) state = "started";
  else return json({ message: byId("nobody-asked").textContent }, 409);
  return json({ state });
};
navigator.sendBeacon = () => true;
Storage.prototype.setItem = () => {};
Reflect.deleteProperty(window, "BroadcastChannel"); // another preview has the same cells

// Whoever writes beside it keeps the caret: nothing here takes the focus before somebody comes.
let isHere = false;
for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, () => (isHere = true), { capture: true });
addEventListener("blur", () => (isHere = false));
const take = HTMLElement.prototype.focus;
/** @param {FocusOptions} [how] */
HTMLElement.prototype.focus = function (how) {
  if (isHere || document.hasFocus()) take.call(this, how);
};
