// The lens: everybody's letters in each cell, filters and keys that lead from one difference to the next, and decisions.

import { byId, dataOf, elementOf, placeOf } from "../page/elements.js";
import { EvidencePanel } from "../sheet/evidence.js";
import { Keys } from "../sheet/keys.js";
import { SheetText } from "../sheet/sheet_text.js";
import { StatesPanel } from "../sheet/states.js";
import { moveDivider, reveal, revealByTab } from "../sheet/view.js";
import { LensCells } from "./cells.js";
import { Deciding } from "./deciding.js";
import { Filters } from "./filters.js";
import { LensFocus } from "./focus.js";

/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {{title: string, about: string | null, options: import("../core/answers.js").Option[]}} Question */

const config = byId("lens-config").dataset;
/** @type {Record<string, Question>} */
const palette = dataOf("palette-data");
const messages = dataOf("messages-data");
const tables = byId("tables");

const cells = new LensCells(tables);
const filters = new Filters(cells, dataOf("rows-data"), messages);
const panel = new EvidencePanel(
  byId("evidence"),
  (row) => (config.evidence ?? "").replace("/0/", `/${row}/`),
  messages,
  { pressed: (event) => keys.hear(event), left: () => focus.back() },
);
const statesBox = document.getElementById("states");
const states = statesBox
  ? new StatesPanel(statesBox, {
      urlOf: (row) => (config.states ?? "").replace("/0/", `/${row}/`),
      go: (id) => focus.go(cells.withId(id)),
      failed: messages.statesFailed,
    })
  : null;
const focus = new LensFocus({
  cells,
  panel,
  aboutOf: ({ question }) => palette[question].about,
  address: config.cell ?? "",
  failed: messages.detailFailed,
});
const deciding = new Deciding({
  cells,
  focus,
  optionsOf: ({ question }) => palette[question].options,
  address: config.decide,
  words: messages,
  titleOf,
  decided(cell, isDecided, isHere) {
    const { kind, undecided } = filters.now;
    states?.refresh();
    filter();
    if (isHere && (kind || undecided) && isDecided) step(1);
    else if (isHere || (cell === focus.now && !deciding.open)) focus.go(cell, { keys: isHere });
  },
});

/** @param {Cell} cell */
function titleOf({ question, column, line }) {
  const name = line.doc.querySelector(".name")?.textContent ?? "";
  const names = [name, palette[question].title, byId(`h-${column}`).title];
  return names.filter(Boolean).join(" › "); // a column has no name where a row has one form
}

focus.listeners.push((cell) => {
  const { row, question, column } = cell;
  states?.show(row, `c-${row}-${column}-${question}`);
  byId("where").textContent = titleOf(cell);
  filters.showPlace(focus.now);
});

function filter() {
  filters.apply();
  filters.showPlace(focus.now);
}

/** @param {1 | -1} by */
function step(by) {
  focus.go(filters.next(focus.now, by));
}

// --- keys and clicks --------------------------------------------------------------------------------------------------

// Letters are keys in the grid, and where nothing has the focus; on a button or in a field they would come as a surprise.
const keys = new Keys(tables, {
  where: "body",
  hears: (name) => /^[a-z?]$/.test(name),
  back: () => focus.back(),
});
for (const part of [focus, deciding]) part.keys(keys);
for (const key of ["n", "j"]) keys.add(key, () => step(1));
for (const key of ["p", "k"]) keys.add(key, () => step(-1));
const help = elementOf("help", HTMLDialogElement);
keys.add("v", () => panel.turn());
keys.add("d", () => panel.scroll(1));
keys.add("u", () => panel.scroll(-1));
keys.add("o", () => document.getElementById("original")?.click());
keys.add("?", () => help.showModal());
if (document.getElementById("sheet-text")) new SheetText({ keys, back: () => focus.back() });
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") deciding.cancel();
});

tables.addEventListener("mousedown", (event) => {
  const cell = cells.around(placeOf(event));
  if (!cell) return;
  event.preventDefault();
  focus.go(cell);
});
tables.addEventListener("focusin", (event) => {
  const element = placeOf(event);
  const cell = element.matches("td") ? cells.around(element) : undefined;
  if (cell !== focus.now) focus.go(cell);
});
const seen = () => {
  if (focus.now) reveal(tables, focus.now.line.table, focus.now.td);
};
revealByTab(tables, seen);
// A click to read on, or to mark words, leaves the keys in the grid.
for (const text of [byId("detail"), byId("evidence")])
  text.addEventListener("click", (event) => {
    if (!deciding.open && !placeOf(event).closest("a, button, summary")) focus.back();
  });
// Who has chosen a filter with the mouse goes on with the keys of the grid; who chose it by keys may choose another one.
let byMouse = false;
filters.form.addEventListener("pointerdown", () => {
  byMouse = true;
});
filters.form.addEventListener("keydown", () => {
  byMouse = false;
});
filters.form.addEventListener("change", () => {
  filters.complete();
  filter();
  const { now } = focus;
  const isGone = now?.line.tr.hidden || (filters.wanted.length > 0 && !(now && filters.wanted.includes(now)));
  if (isGone) focus.go(filters.wanted[0], { keys: byMouse });
  else if (byMouse) focus.back();
});
window.addEventListener("resize", seen);
byId("next").addEventListener("click", () => step(1));
byId("previous").addEventListener("click", () => step(-1));
byId("open-help").addEventListener("click", () => help.showModal());
byId("open-counts").addEventListener("click", () => elementOf("counts", HTMLDialogElement).showModal());
for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", () => focus.back());
moveDivider();

// --- start ------------------------------------------------------------------------------------------------------------

// An address may name a cell: what a link on another page is about. The filter puts its own words into the address.
const named = cells.withId(location.hash.slice(1));
filters.read();
filter();
focus.go(named || filters.wanted[0] || cells.order[0]);
