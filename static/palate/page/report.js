// Tables of a report: sorted by a column, by mouse and by keys, and copied; and links to places that have moved to other pages.

import { sortedPlaces } from "../core/sorting.js";
import { writeTabs } from "../core/tabs.js";
import { make, placeOf } from "./elements.js";

const sorting = document.querySelector("[data-sort-label]");
const sortLabel = (sorting instanceof HTMLElement && sorting.dataset.sortLabel) || "%s";

/** @param {Element | null | undefined} element */
const textOf = (element) => element?.textContent?.trim() ?? "";

/**
 * Each heading of the last line of heads becomes a button; one that leads to the glossary keeps its link beside it.
 * @param {HTMLTableElement} table
 */
function makeSortable(table) {
  if (table.dataset.sorts || table.tBodies[0]?.rows.length < 2) return;
  table.dataset.sorts = "yes";
  const heads = table.tHead?.rows[table.tHead.rows.length - 1];
  for (const head of heads?.cells ?? []) {
    const name = textOf(head);
    if (!name) continue;
    const button = make("button", { type: "button", className: "sort" });
    button.setAttribute("aria-label", sortLabel.replace("%s", name));
    button.addEventListener("click", () => sortBy(table, head));
    if (!head.querySelector("a")) button.append(...head.childNodes);
    head.append(button);
  }
}

/**
 * The lines of the table in the order of a column: from the smallest on, the second time from the largest.
 * @param {HTMLTableElement} table
 * @param {HTMLTableCellElement} head
 */
function sortBy(table, head) {
  const up = head.getAttribute("aria-sort") !== "ascending";
  const [body] = table.tBodies;
  const rows = [...body.rows];
  const lines = rows.map((row) => {
    const cell = row.cells[head.cellIndex];
    const number = cell?.dataset.number;
    return { number: number ? Number(number) : null, text: textOf(cell), part: row.classList.contains("part") };
  });
  body.append(...sortedPlaces(lines, up, document.documentElement.lang).map((place) => rows[place]));
  for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
}

/**
 * A table as a spreadsheet takes it. The numbers are those of the page's data, not as they are rounded to be read.
 * @param {HTMLTableElement} table
 */
function tabsOf(table) {
  const heads = [...(table.tHead?.rows ?? [])].slice(-1).map((row) => [...row.cells].map(textOf));
  const lines = [...table.tBodies[0].rows].map((row) =>
    [...row.cells].map((cell) => cell.dataset.number ?? textOf(cell)),
  );
  return writeTabs([...heads, ...lines]);
}

document.addEventListener("click", async (event) => {
  const button = placeOf(event).closest("[data-copy-table]");
  if (!(button instanceof HTMLElement)) return;
  const table = button.closest(".how")?.previousElementSibling?.querySelector("table");
  if (!table) return;
  try {
    await navigator.clipboard.writeText(tabsOf(table));
    button.textContent = button.dataset.copied ?? "";
  } catch {
    window.getSelection()?.selectAllChildren(table); // refused: it is selected instead
  }
});

function begin() {
  for (const table of document.querySelectorAll("table.sortable"))
    if (table instanceof HTMLTableElement) makeSortable(table);
  for (const button of document.querySelectorAll("[data-copy-table]")) button.removeAttribute("hidden");
}
begin();
document.addEventListener("htmx:afterSettle", begin);

// The report was one page once: a link to a place in it that is on another page now leads there.
const place = decodeURIComponent(location.hash.slice(1));
const moved = document.querySelector("[data-moved]");
if (place.includes(".") && moved instanceof HTMLElement && !document.getElementById(place))
  location.replace(`${moved.dataset.moved}?table=${encodeURIComponent(place)}`);
else if (place) {
  const folded = document.getElementById(place)?.closest("details");
  if (folded) folded.open = true;
}
