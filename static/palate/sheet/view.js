// How the tables of a sheet are seen: what is lit, what is scrolled to, how wide the document beside them is.

import { byId } from "../page/elements.js";
import { browserStore } from "../page/store.js";

/**
 * @param {Iterable<Element>} elements
 * @param {boolean} on
 */
export function light(elements, on) {
  for (const element of elements) element.classList.toggle("lit", on);
}

// As in the style sheet: on a low window only the first line of the headings stays in place.
const low = matchMedia("(max-height: 560px)");

/**
 * Scroll a cell clear of the headings that stay in place.
 * @param {HTMLElement} tables
 * @param {HTMLTableElement} table
 * @param {HTMLElement} td
 * @param {[first: HTMLElement, last: HTMLElement]} [lines] that are to be seen with it, if there is room for all of them
 */
export function reveal(tables, table, td, lines = [td, td]) {
  // In a small window one may have scrolled on to the document.
  const around = /** @type {HTMLElement} */ (tables.parentElement);
  if (around.scrollTop) around.scrollTop = 0;
  const box = td.getBoundingClientRect();
  const view = tables.getBoundingClientRect();
  const head = /** @type {HTMLTableSectionElement} */ (table.tHead);
  const corner = /** @type {HTMLElement} */ (head.querySelector(".corner"));
  // A table that is read downwards has one line of headings, and no box around them.
  const staying = low.matches || table.classList.contains("down") ? corner : head;
  const top = view.top + staying.offsetHeight;
  const bottom = view.top + tables.clientHeight;
  const left = view.left + corner.offsetWidth;
  const right = view.left + tables.clientWidth;
  const all = { top: lines[0].getBoundingClientRect().top, bottom: lines[1].getBoundingClientRect().bottom };
  const seen = all.bottom - all.top < bottom - top ? all : box;
  if (seen.top < top) tables.scrollTop -= top - seen.top;
  else if (seen.bottom > bottom) tables.scrollTop += seen.bottom - bottom + 2;
  if (box.left < left) tables.scrollLeft -= left - box.left;
  else if (box.right > right) tables.scrollLeft += box.right - right + 16;
}

/**
 * Have the focused cell revealed where Tab comes back to it: a browser takes what lies behind the headings for seen.
 * @param {HTMLElement} tables
 * @param {() => void} reveal
 */
export function revealByTab(tables, reveal) {
  let byTab = false;
  document.addEventListener("keydown", ({ key }) => (byTab = key === "Tab"), true);
  document.addEventListener("pointerdown", () => (byTab = false), true);
  tables.addEventListener("focusin", () => {
    if (byTab) reveal();
  });
}

const WIDTH = "palate:evidence-width";

/**
 * The divider between the tables and the document: dragged, or moved by keys; its place is kept for the next visit.
 * Two texts side by side have more room, and a place of their own.
 * @param {() => void} [dropped]
 */
export function moveDivider(dropped = () => {}) {
  const [divider, work] = [byId("divider"), byId("work")];
  const two = "beside" in work.dataset;
  const [kept, most, usual] = two ? [`${WIDTH}:beside`, 80, window.innerWidth < 1000 ? 50 : 66] : [WIDTH, 60, 32];
  /** @param {number} share of the window, in percent */
  const draw = (share) => {
    const bounded = Math.max(20, Math.min(most, share));
    work.style.setProperty("--evidence", `${bounded}%`);
    divider.setAttribute("aria-valuenow", String(Math.round(bounded)));
    return bounded;
  };
  /** @param {number} share */
  const setWidth = (share) => browserStore.write(kept, String(draw(share)));
  draw(Number(browserStore.read(kept)) || usual);
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    divider.onpointermove = ({ clientX }) => {
      const box = work.getBoundingClientRect();
      setWidth((100 * (box.right - clientX)) / box.width);
    };
    divider.onpointerup = () => {
      divider.onpointermove = null;
      dropped();
    };
  });
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 2, ArrowRight: -2 }[event.key];
    if (step) setWidth(Number(divider.getAttribute("aria-valuenow")) + step);
  });
}
