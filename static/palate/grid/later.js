// The parts of the sheet's page that wait until its first cell can be used: dialogs, drawers, what is searched and counted.

import { SheetText } from "../sheet/sheet_text.js";
import { StatesPanel } from "../sheet/states.js";
import { Finder } from "./finding.js";
import { Guide } from "./guide.js";
import { Notes } from "./notes.js";
import { Seeking } from "./seeking.js";
import { Skipping } from "./skipping.js";
import { WorkingTime } from "./working_time.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/evidence.js").EvidencePanel} EvidencePanel */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./choosing.js").Choosing} Choosing */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./range.js").CellRange} CellRange */
/** @typedef {import("./saving.js").Saving} Saving */
/**
 * What the page has from its first moment.
 * @typedef {object} Desk
 * @property {HTMLElement} tables
 * @property {DOMStringMap} config
 * @property {Sentences} words
 * @property {Cells} cells
 * @property {Focus} focus
 * @property {Keys} keys
 * @property {CellRange} range
 * @property {Saving} saving
 * @property {Editing} editing
 * @property {Choosing} choosing
 * @property {EvidencePanel} panel
 * @property {(sentence: string) => void} refuse
 * @property {(element: HTMLElement, sentence: string) => void} say
 */
/**
 * @typedef {object} LaterParts
 * @property {Record<string, string>} noteStates state of a note -> what is said of its cell
 * @property {string} statesFailed what is said where the graph of states does not come
 * @property {Record<string, number>} seconds assignment -> seconds before the page was opened
 * @property {HTMLElement} find the box for searching
 * @property {HTMLElement} time where the working time is shown
 */

/**
 * @param {Desk} desk
 * @param {LaterParts} own
 */
export function startLater(desk, { noteStates, statesFailed, seconds, find, time }) {
  const { tables, config, words, cells, focus, keys, range, saving, editing, choosing, refuse, say } = desk;
  new Finder({ cells, focus, words, box: find }).keys(keys);
  new Skipping({ focus, cells, range, editing, choosing, keys, words });
  const headers = () => saving.headers();
  new Notes({ tables, focus, cells, keys, config, words, states: noteStates, say, headers });
  if (document.getElementById("sheet-text")) new SheetText({ keys, back: () => focus.back({ scroll: false }) });
  new Guide({ tables, focus, cells, keys });
  new Seeking({ cells, focus, words, refuse }).keys(keys);
  startStates(desk, statesFailed);
  new WorkingTime({ focus, cells, config, words, shown: time, before: seconds });
  focus.tell(); // they have not heard yet where the focus is
}

/**
 * What becomes of what is drawn below the document, where the scheme asks for it.
 * @param {Desk} desk
 * @param {string} failed
 */
function startStates({ tables, config, cells, focus, saving }, failed) {
  const box = document.getElementById("states");
  if (!box) return;
  const states = new StatesPanel(box, {
    urlOf: (row) => (config.states ?? "").replace("/0/", `/${row}/`),
    go: (id) => focus.go(cells.get(id)),
    failed,
  });
  tables.addEventListener("palate:focus-cell", (event) => {
    const { assignment, id } = /** @type {CustomEvent<import("./focus.js").FocusDetail>} */ (event).detail;
    states.show(assignment, id);
  });
  saving.acknowledged.push(() => states.refresh());
}
