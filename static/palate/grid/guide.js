// The guideline beside the work: it opens above the document at the focused question's place, follows the focus to other
// questions, and leaves the keys in the grid.

import { byId, hasDialog, inside } from "../page/elements.js";

/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./focus.js").Focus} Focus */

export class Guide {
  /** @param {{tables: HTMLElement, focus: Focus, cells: Cells, keys: Keys}} parts */
  constructor({ tables, focus, cells, keys }) {
    this.focus = focus;
    this.cells = cells;
    this.panel = byId("guide");
    this.button = byId("open-guide");
    /** @type {HTMLElement | null} */
    this.at = null; // the place that is shown
    this.title = inside(this.panel, "h2", HTMLHeadingElement);
    this.body = inside(this.panel, ".body", HTMLElement);
    this.name = this.title.textContent;
    keys.add("g", () => this.turn());
    this.button.addEventListener("mousedown", (event) => event.preventDefault());
    this.button.addEventListener("click", () => this.turn());
    inside(this.panel, "[data-close]", HTMLElement).addEventListener("click", () => this.turn(false));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !this.panel.hidden && !hasDialog()) this.turn(false);
    });
    tables.addEventListener("palate:focus-cell", () => this.follow());
  }

  turn(open = this.panel.hidden) {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    this.at = null;
    if (open) this.follow();
    else this.focus.back();
  }

  follow() {
    if (this.panel.hidden || !this.focus.now) return;
    const { section, key, title } = this.cells.spec(this.focus.cell);
    const place = document.getElementById(`guide-${section}-${key}`);
    if (!place || place === this.at) return;
    this.at?.classList.remove("here");
    this.at = place;
    this.title.textContent = `${this.name}: ${title}`;
    place.classList.add("here");
    this.body.scrollTop += place.getBoundingClientRect().top - this.body.getBoundingClientRect().top;
  }
}
