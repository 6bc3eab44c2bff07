// The drawing of what becomes of what, beside the tables: it comes from the server, is fetched anew when answers were saved,
// lights the step that has the focus, and each of its states leads to its step.

import { make, placeOf } from "../page/elements.js";

/** @typedef {{urlOf: (row: string) => string, go: (cell: string) => void, failed: string}} StatesParts `go`: to a cell by its id */

const GATHERED_MS = 120; // in which several answers that are saved one after another ask once

export class StatesPanel {
  /**
   * @param {HTMLElement} panel
   * @param {StatesParts} parts
   */
  constructor(panel, { urlOf, go, failed }) {
    this.panel = panel;
    this.urlOf = urlOf;
    this.failed = failed;
    this.row = "";
    this.cell = "";
    this.asked = 0; // of the requests, the last one counts
    this.timer = 0;
    this.isTwinOpen = false;
    panel.addEventListener("click", (event) => {
      const link = placeOf(event).closest("[data-cell]");
      if (!link) return;
      event.preventDefault();
      go(link.getAttribute("data-cell") ?? "");
    });
    // Whether the table is open outlives a new drawing.
    panel.addEventListener(
      "toggle",
      (event) => {
        this.isTwinOpen = /** @type {HTMLDetailsElement} */ (event.target).open;
      },
      { capture: true },
    );
  }

  /**
   * @param {string} row what the address takes
   * @param {string} cell the id of the one that has the focus
   */
  show(row, cell) {
    this.cell = cell;
    if (row !== this.row) {
      this.row = row;
      this.load();
    } else this.light(true);
  }

  /** Something was saved. */
  refresh() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), GATHERED_MS);
  }

  async load() {
    if (!this.row) return;
    this.asked += 1;
    const mine = this.asked;
    let text = "";
    try {
      const response = await fetch(this.urlOf(this.row), { credentials: "same-origin" });
      if (!response.ok || response.redirected) throw new Error(response.statusText);
      text = await response.text();
    } catch {
      if (mine === this.asked) this.panel.replaceChildren(make("p", { className: "quiet", textContent: this.failed }));
      return;
    }
    if (mine !== this.asked) return;
    const { scrollTop, scrollLeft } = this.panel;
    this.panel.innerHTML = text;
    for (const twin of this.panel.querySelectorAll("details")) twin.open = this.isTwinOpen;
    this.panel.scrollTop = scrollTop;
    this.panel.scrollLeft = scrollLeft;
    this.light(false);
  }

  /** @param {boolean} isMoved it comes into sight if it is out of it */
  light(isMoved) {
    const heading = this.panel.querySelector(`a.heading[data-cell="${this.cell}"]`);
    const step = heading?.getAttribute("data-step") ?? "";
    for (const one of this.panel.querySelectorAll("[data-step]"))
      one.classList.toggle("now", one.getAttribute("data-step") === step);
    const band = this.panel.querySelector(".band.now");
    if (!band) return;
    const [own, box] = [this.panel.getBoundingClientRect(), band.getBoundingClientRect()];
    if (!isMoved && box.top >= own.top && box.bottom <= own.bottom) return;
    if (box.top < own.top) this.panel.scrollTop -= own.top - box.top;
    else if (box.bottom > own.bottom) this.panel.scrollTop += Math.min(box.bottom - own.bottom, box.top - own.top);
  }
}
