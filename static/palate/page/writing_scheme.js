// Writing a scheme: the numbers of its lines, those in which something is wrong, questions that a button puts in, and the
// preview, which makes way for the next one once that is drawn. What is wrong the server says; see annotation/views/scheme_check.py.

import { insertion } from "../core/inserting.js";
import { byId, elementOf, inside, placeOf } from "./elements.js";

const writing = byId("scheme-writing");
const said = writing.dataset;
const text = elementOf(said.text ?? "", HTMLTextAreaElement);
const numbers = inside(writing, ".lines", HTMLElement);
const check = byId("scheme-check");
const verdict = byId("scheme-verdict");
const preview = byId("scheme-preview");

// --- the lines --------------------------------------------------------------------------------------------------------

const wrongLines = () =>
  new Set([...check.querySelectorAll("[data-line]")].map((button) => Number(button.getAttribute("data-line"))));

/**
 * The numbers of lines in which nothing is wrong, as one text; behind a marked line its own end stands first.
 * @param {number} from
 * @param {number} to not itself
 */
const plain = (from, to) =>
  (from > 1 ? "\n" : "") + Array.from({ length: to - from }, (_, at) => `${from + at}\n`).join("");

/** @param {number} line */
function marked(line) {
  const mark = document.createElement("mark");
  mark.textContent = `▸${line}`;
  return mark;
}

let drawn = "";

function drawLines() {
  const n = text.value.split("\n").length;
  const wrong = wrongLines();
  const state = `${n} ${[...wrong]}`;
  if (state === drawn) return;
  drawn = state;
  const pieces = [...[...wrong].filter((line) => line <= n), n + 1]
    .sort((a, b) => a - b)
    .flatMap((line, at, all) => [plain((all[at - 1] ?? 0) + 1, line), ...(line > n ? [] : [marked(line)])])
    .filter(Boolean);
  numbers.replaceChildren(...pieces);
  scrollLines();
}

function scrollLines() {
  numbers.scrollTop = text.scrollTop;
}

/**
 * @param {number} line from 1
 * @param {number} column from 1; 0: the line
 */
function goTo(line, column) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const end = start + (lines[line - 1] ?? "").length;
  text.focus();
  text.setSelectionRange(Math.min(start + Math.max(column - 1, 0), end), end);
  text.scrollTop = (line - 4) * Number.parseFloat(getComputedStyle(text).lineHeight);
}

text.addEventListener("input", drawLines);
text.addEventListener("scroll", scrollLines);
check.addEventListener("click", (event) => {
  const button = placeOf(event).closest("[data-line]");
  if (button) goTo(Number(button.getAttribute("data-line")), Number(button.getAttribute("data-column")));
});

/**
 * @param {string} put
 * @param {number} at
 * @param {number} end
 */
function write(put, at, end) {
  text.focus();
  text.setSelectionRange(at, end);
  // The one way to write into a field that its own undo takes back.
  if (!document.execCommand("insertText", false, put)) {
    text.setRangeText(put, at, end, "end");
    text.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// --- a scheme to begin from, without losing what stands in the other fields --------------------------------------------

const change = document.getElementById("change-chosen");
const list = change && elementOf(change.dataset.of ?? "", HTMLSelectElement);
if (change && list) {
  const offer = () => {
    change.hidden = list.value === "";
  };
  list.addEventListener("change", offer);
  offer();
}
/** @type {AbortController | undefined} what is being fetched: a later choice, or a key, does without it */
let coming;
text.addEventListener("input", () => coming?.abort());
document.addEventListener("click", async (event) => {
  const from = /** @type {HTMLElement | null} */ (placeOf(event).closest("[data-begin]"));
  if (!from || !said.texts) return;
  event.preventDefault();
  const which = from.dataset.begin || list?.value || "";
  coming?.abort();
  coming = new AbortController();
  const { signal } = coming;
  const answer = await fetch(`${said.texts}?begin=${encodeURIComponent(which)}`, { signal }).catch(() => null);
  const given = answer?.ok && !answer.redirected ? await answer.text().catch(() => null) : null;
  if (signal.aborted) return;
  if (given === null) return failed((answer ? said.loggedOut : said.unanswered) ?? "");
  write(given, 0, text.value.length);
  text.setSelectionRange(0, 0);
  text.scrollTop = 0;
  if (list) list.value = "";
  if (change) change.hidden = true;
});

// --- a further question -----------------------------------------------------------------------------------------------

writing.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement | null} */ (placeOf(event).closest("[data-snippet]"));
  if (!button) return;
  const { at, end, put, from, to } = insertion(
    text.value,
    text.selectionStart,
    button.dataset.snippet ?? "",
    said.beginning ?? "",
  );
  write(put, at, end);
  const line = text.value.slice(0, from).split("\n").length;
  goTo(line, 0);
  text.setSelectionRange(from, to);
});

// --- the check --------------------------------------------------------------------------------------------------------

/** @param {string} sentence */
function failed(sentence) {
  verdict.textContent = sentence;
}

writing.addEventListener("htmx:configRequest", (event) => {
  const { parameters } = /** @type {CustomEvent<{parameters: Record<string, string>}>} */ (event).detail;
  parameters.shown = preview.querySelector("iframe:last-child")?.getAttribute("data-digest") ?? "";
});
// Before the page hears of it, which would load itself anew, without what was written.
check.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } =
    /** @type {CustomEvent<{xhr: XMLHttpRequest, pathInfo: {finalRequestPath: string}, shouldSwap: boolean}>} */ (
      event
    );
  const asked = new URL(detail.pathInfo.finalRequestPath, location.href);
  if (new URL(detail.xhr.responseURL).pathname === asked.pathname) return;
  event.stopPropagation();
  detail.shouldSwap = false;
  failed(said.loggedOut ?? "");
});
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"])
  writing.addEventListener(name, (event) => {
    const { xhr } = /** @type {CustomEvent<{xhr: XMLHttpRequest}>} */ (event).detail;
    const why = { 403: said.loggedOut, 413: said.tooLong, 429: said.tooOften }[xhr.status];
    failed(why ?? said.unanswered ?? "");
  });
// What is said already is not said again.
verdict.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { detail } = /** @type {CustomEvent<{fragment: DocumentFragment, shouldSwap: boolean}>} */ (event);
  if (detail.fragment.textContent?.trim() === verdict.textContent?.trim()) detail.shouldSwap = false;
});
document.addEventListener("htmx:afterSettle", drawLines);

// --- the preview ------------------------------------------------------------------------------------------------------

preview.addEventListener(
  "load",
  (event) => {
    const frame = placeOf(event);
    while (frame.previousElementSibling) frame.previousElementSibling.remove();
    frame.classList.remove("arriving");
  },
  { capture: true },
);

drawLines();
