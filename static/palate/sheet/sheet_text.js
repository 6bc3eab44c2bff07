// The text that the sheet's columns come from, beside the work: a key opens and closes it, the keys stay in the grid.

import { byId, hasDialog, inside } from "../page/elements.js";

/** @typedef {import("./keys.js").Keys} Keys */

export class SheetText {
  /** @param {{keys: Keys, back: () => void}} parts of a page that has such a text; back: the keys are the grid's again */
  constructor({ keys, back }) {
    this.back = back;
    this.panel = byId("sheet-text");
    this.button = byId("open-text");
    keys.add("r", () => this.turn());
    this.button.addEventListener("mousedown", (event) => event.preventDefault());
    this.button.addEventListener("click", () => this.turn());
    inside(this.panel, "[data-close]", HTMLElement).addEventListener("click", () => this.turn(false));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !this.panel.hidden && !hasDialog()) this.turn(false);
    });
  }

  turn(open = this.panel.hidden) {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    this.back();
  }
}
