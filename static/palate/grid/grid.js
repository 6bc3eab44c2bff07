// The sheet's page: puts its parts together. The tables tell whoever listens on them:
//
//   "palate:focus-cell"   after the paint, when another cell has the focus: {id, assignment, column, question, section, about}
//   "palate:activity"     at once, when somebody moves, chooses or types in the grid

import { Steps } from "../core/steps.js";
import { byId, dataOf, elementOf, hasDialog, inside, make, placeOf } from "../page/elements.js";
import { browserStore } from "../page/store.js";
import { EvidencePanel } from "../sheet/evidence.js";
import { Keys } from "../sheet/keys.js";
import { SheetText } from "../sheet/sheet_text.js";
import { StatesPanel } from "../sheet/states.js";
import { moveDivider, revealByTab } from "../sheet/view.js";
import { Cells } from "./cells.js";
import { Checking } from "./checking.js";
import { Choosing } from "./choosing.js";
import { CellClipboard } from "./clipboard.js";
import { Composing } from "./composing.js";
import { Confirming } from "./confirming.js";
import { Doubts } from "./doubts.js";
import { Editing } from "./editing.js";
import { Finder } from "./finding.js";
import { Focus } from "./focus.js";
import { Guide } from "./guide.js";
import { Hints } from "./hints.js";
import { Notes } from "./notes.js";
import { CellRange } from "./range.js";
import { RecordsEditor } from "./records.js";
import { Renaming } from "./renaming.js";
import { Returning } from "./returning.js";
import { Saving } from "./saving.js";
import { Seeking } from "./seeking.js";
import { SheetDone } from "./sheet_done.js";
import { Skipping } from "./skipping.js";
import { Speaking } from "./speaking.js";
import { StillOpen } from "./still_open.js";
import { Submitting } from "./submitting.js";
import { TransitionsEditor } from "./transitions.js";
import { Typing } from "./typing.js";
import { Undo } from "./undo.js";
import { WorkingTime } from "./working_time.js";

const config = byId("grid-config").dataset;
const palette = dataOf("palette-data");
const messages = dataOf("messages-data");
/** @type {import("../core/sentences.js").Sentences} */
const words = messages;
const tables = byId("tables");

// --- what is said in the bottom line ----------------------------------------------------------------------------------

/**
 * A sentence; what in it leads to the login is a link to another tab, since this one holds what is not saved.
 * @param {HTMLElement} element
 * @param {string} sentence
 */
function say(element, sentence) {
  if (element.textContent === sentence) return;
  const [before, after] = sentence.split(words.logIn);
  element.replaceChildren(before);
  if (after === undefined) return;
  const link = make("a", { href: config.login, target: "_blank", rel: "noopener", textContent: words.logIn });
  element.append(link, after);
}

let saidOf = ""; // the document that had the focus when the sentence was said

/**
 * @param {string} sentence says what could not be done; "" takes it away; that nobody is logged in stays, before it
 * @param {{calm?: boolean}} [how] calm: it says what was done
 */
function refuse(sentence, { calm = false } = {}) {
  const said = [...new Set([saving.loggedOut, sentence].filter(Boolean))].join(" ");
  say(byId("refusal"), said);
  byId("refusal").hidden = !said;
  byId("refusal").classList.toggle("calm", calm && !saving.loggedOut);
  saidOf = sentence && focus.now ? focus.cell.assignment : "";
}

/**
 * A list of what was left out; too long for the bottom line.
 * @param {string} title
 * @param {string[]} sentences
 */
function refused(title, sentences) {
  const dialog = elementOf("left-out", HTMLDialogElement);
  inside(dialog, "p", HTMLElement).textContent = title;
  inside(dialog, "ul", HTMLElement).replaceChildren(...sentences.map((textContent) => make("li", { textContent })));
  dialog.showModal();
}

// --- the parts --------------------------------------------------------------------------------------------------------

const READING = /Arrow|Home|End|Page|Tab|Enter|Escape| $|^Ctrl\+a$/; // what scrolls a text, selects it or leads away

const cells = new Cells({ tables, palette, words });
const focus = new Focus(cells);
const keys = new Keys(tables, {
  where: "body, #evidence, .drawer .body",
  hears: (name) => !READING.test(name),
  back: () => focus.back({ scroll: false }),
  takesAlt: () => isText(),
});
const range = new CellRange({ cells, focus, words, shown: byId("selected") });
const isText = () => focus.now !== null && !range.isRange && cells.isTyped(focus.cell);
const hints = new Hints(byId("evidence"), isText);
const saving = new Saving({ cells, config, words, refuse, shown: byId("save-state"), discard: byId("discard") });
const steps = new Steps(browserStore, `palate:undo:${config.store}${config.part ?? ""}`);
const doubts = new Doubts(cells, dataOf("warnings-data"));
// What was said of one document is not left standing beside another one.
focus.listeners.push(({ assignment }) => {
  if (saidOf && saidOf !== assignment) refuse("");
});
const checking = new Checking({ cells, doubts, checks: dataOf("checks-data"), words });
const editing = new Editing({ cells, checking, saving, steps, words, refuse });
const choosing = new Choosing({
  cells,
  focus,
  range,
  editing,
  hints,
  words,
  where: byId("where"),
  choices: byId("choices"),
});
const clipboard = new CellClipboard({ cells, range, choosing, editing, words, refused });
const finder = new Finder({ cells, focus, words, box: byId("find") });
const stillOpen = new StillOpen({ tables, focus, cells, saving, words, refuse });
const composing = new Composing({
  tables,
  cells,
  focus,
  editing,
  words,
  refuse,
  store: browserStore,
  name: `palate:composing:${config.store}`,
});
const panel = new EvidencePanel(byId("evidence"), (pk) => (config.evidence ?? "").replace("/0/", `/${pk}/`), messages, {
  pressed: (event) => keys.hear(event),
  left: () => focus.back(),
});
composing.editors.set("items", new RecordsEditor({ composing, cells, words, panel }));
const transitions = new TransitionsEditor({ composing, cells, words, beginnings: dataOf("beginnings-data") });
composing.editors.set("transitions", transitions);
if (document.getElementById("renaming"))
  new Renaming({ cells, editing, focus, keys, words, thereAt: (cell) => transitions.thereAt(cell) });
const typing = new Typing({
  tables,
  cells,
  focus,
  range,
  editing,
  composing,
  choosing,
  keys,
  words,
  refuse,
  store: browserStore,
  name: `palate:typing:${config.store}`,
  panel: byId("writing"),
});
composing.write = clipboard.write = typing.write.bind(typing);
choosing.doubts = doubts.of.bind(doubts);
saving.acknowledged.push((edit, answer) => {
  doubts.tell(answer.warnings ?? []);
  // What the server has not seen yet, or has not taken, it has told nothing of.
  const isTaken = "refused" in answer && !answer.refused.length;
  const others = saving.queue.edits.filter((other) => other !== edit || !isTaken);
  checking.look(others.flatMap(({ changes }) => changes.flatMap(([id]) => cells.get(id) ?? [])));
});
new Confirming({ cells, focus, range, editing, choosing, keys });

// --- what is asked was reworded since the page was opened ---------------------------------------------------------------

const rewordedSince = byId("reworded-since");
byId("evidence").addEventListener("fetched", (event) => {
  const { scheme } = /** @type {CustomEvent<{scheme: string | null}>} */ (event).detail;
  if (scheme && scheme !== config.scheme) rewordedSince.hidden = false;
});
inside(rewordedSince, "[data-close]", HTMLElement).addEventListener("click", () => {
  rewordedSince.hidden = true;
});

// --- the sheet was closed since ---------------------------------------------------------------------------------------

const closedSince = byId("closed-since");
saving.acknowledged.push(() => {
  closedSince.hidden = !saving.closed;
});
inside(closedSince, "[data-close]", HTMLElement).addEventListener("click", () => {
  closedSince.hidden = true;
});

cells.isClosed = "closed" in byId("evidence").dataset;
const submitting = new Submitting({
  cells,
  focus,
  editing,
  saving,
  stillOpen,
  sheetDone: new SheetDone({ focus }),
  hints,
  config,
  words,
  refuse,
  panel: byId("evidence"),
  store: browserStore,
  name: `palate:corrected:${config.store}`,
});
new Skipping({ focus, cells, range, editing, choosing, keys, words });
const headers = () => saving.headers();
const speaking = new Speaking({
  cells,
  choosing,
  editing,
  saving,
  hints,
  config,
  words,
  states: messages.noteStates,
  region: byId("spoken"),
  alert: byId("refusal"),
});
submitting.submitted = speaking.submitted.bind(speaking);
new Notes({ tables, focus, cells, keys, config, words, noted: (cell) => speaking.noted(cell), say, headers });
if (document.getElementById("sheet-text")) new SheetText({ keys, back: () => focus.back({ scroll: false }) });
new Guide({ tables, focus, cells, keys });
const undo = new Undo({
  cells,
  focus,
  steps,
  editing,
  submitting,
  words,
  refuse,
  turned: (back, cell, n) => speaking.turned(back, cell, n),
});
const seeking = new Seeking({ cells, focus, words, refuse });
const returning = new Returning({ cells, focus, editing });
for (const part of [focus, range, choosing, finder, submitting, undo, seeking, returning]) part.keys(keys);
range.mouse(tables);
saving.acknowledged.push(() => focus.now && choosing.describe());

// --- the document, the help, the divider ------------------------------------------------------------------------------

tables.addEventListener("palate:focus-cell", (event) => {
  const { assignment, column, about } = /** @type {CustomEvent<import("./focus.js").FocusDetail>} */ (event).detail;
  panel.show(assignment, column, about);
  const next = cells.documents[cells.documents.indexOf(assignment) + 1];
  if (next) panel.fetch(next).catch(() => {});
});

// What becomes of what is drawn below the document, where the scheme asks for it.
const statesBox = document.getElementById("states");
if (statesBox) {
  const states = new StatesPanel(statesBox, {
    urlOf: (row) => (config.states ?? "").replace("/0/", `/${row}/`),
    go: (id) => focus.go(cells.get(id)),
    failed: messages.statesFailed,
  });
  tables.addEventListener("palate:focus-cell", (event) => {
    const { assignment, id } = /** @type {CustomEvent<import("./focus.js").FocusDetail>} */ (event).detail;
    states.show(assignment, id);
  });
  saving.acknowledged.push(() => states.refresh());
}

const help = elementOf("help", HTMLDialogElement);
keys.add("?", () => help.showModal());
keys.add("v", () => panel.turn());
keys.add("d", () => panel.scroll(1));
keys.add("u", () => panel.scroll(-1));
keys.add("o", () => document.getElementById("original")?.click());
byId("open-help").addEventListener("click", () => help.showModal());
for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", () => focus.back());
moveDivider(() => focus.back({ scroll: false }));

// --- start ------------------------------------------------------------------------------------------------------------

window.addEventListener("beforeunload", (event) => {
  if (saving.queue.waiting.length) event.preventDefault();
});
for (const kind of ["keydown", "mousedown"])
  tables.addEventListener(kind, () => tables.dispatchEvent(new CustomEvent("palate:activity", { bubbles: true })));
// A click on what takes no keys leaves them in the grid; Esc leads there from the document.
document.addEventListener("mouseup", () => {
  if (document.activeElement?.matches("body, main")) focus.back({ scroll: false });
});
// So does one on a button or a link beside the grid, once it has done what it is for; who pressed it by a key stays on it.
document.addEventListener("click", (event) => {
  if (!event.detail || hasDialog()) return;
  if (placeOf(event).closest(":is(.sheet-bar, .palette, .side) :is(button, a)")) focus.back({ scroll: false });
});
for (const beside of [byId("evidence"), statesBox])
  beside?.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    focus.back();
  });
// Whoever comes into the grid from elsewhere on the page.
tables.addEventListener("focusin", (event) => {
  const element = placeOf(event);
  const cell = element.matches("td") ? cells.get(element.id) : undefined;
  if (cell !== focus.now) focus.go(cell);
});
revealByTab(tables, () => focus.reveal(focus.cell));
saving.start();
submitting.draw();
window.addEventListener("resize", () => choosing.reserve());
// An address may name a cell: what a link on another page is about.
focus.go(cells.get(location.hash.slice(1)) || cells.order.find((cell) => cells.isOwed(cell)) || cells.order[0]);
// Only now: it measures, and whoever waits for the first cell would wait for that. It may have taken room from the grid.
choosing.reserve();
focus.reveal(focus.cell);
// A larger text, a smaller window, or a bottom line of two lines must not leave it out of sight.
new ResizeObserver(() => focus.reveal(focus.cell)).observe(tables);
typing.start();
if (!typing.cell) composing.start();
new WorkingTime({ focus, cells, config, words, shown: byId("active-time"), before: dataOf("seconds-data") });
