// What a document still owes when its submission is refused: a list beside the work, each line leads to its cell.

import { fill } from "../core/sentences.js";
import { byId, hasDialog, inside, make, placeOf } from "../page/elements.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./saving.js").Saving} Saving */

export class StillOpen {
  /** @param {{tables: HTMLElement, focus: Focus, cells: Cells, saving: Saving, words: Sentences, refuse: (sentence: string) => void}} parts */
  constructor({ tables, focus, cells, saving, words, refuse }) {
    this.refuse = refuse;
    this.focus = focus;
    this.cells = cells;
    this.words = words;
    this.assignment = "";
    this.said = "";
    this.waiting = 0;
    this.panel = byId("still-open");
    this.title = inside(this.panel, "h2", HTMLHeadingElement);
    this.list = inside(this.panel, "ol", HTMLOListElement);
    /** @type {Map<HTMLButtonElement, string>} */
    this.lines = new Map(); // each line's button, and the id of its cell
    this.panel.addEventListener("click", (event) => {
      const button = placeOf(event).closest("button");
      const cell = button && cells.get(this.lines.get(button) ?? "");
      if (cell) focus.go(cell);
      else if (button?.matches("[data-close]")) this.close();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !this.panel.hidden && !hasDialog()) this.close();
    });
    for (const kind of ["palate:focus-cell", "palate:activity"]) tables.addEventListener(kind, () => this.later());
    saving.changed.push(() => this.later());
  }

  /**
   * @param {string} assignment
   * @param {[id: string, name: string][]} open as the server sees it
   * @param {string} said what the bottom line says of it
   */
  show(assignment, open, said) {
    this.said = said;
    this.assignment = assignment;
    this.lines = new Map(
      open.map(([id, name]) => [make("button", { type: "button", className: "link", textContent: name }), id]),
    );
    this.list.replaceChildren(...[...this.lines.keys()].map((button) => make("li", {}, button)));
    this.panel.hidden = false;
    this.draw();
  }

  close() {
    this.panel.hidden = true;
    this.focus.back();
  }

  // Once a frame: what is answered or skipped by now leaves the list.
  later() {
    if (this.panel.hidden) return;
    this.waiting ||= requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  draw() {
    const before = this.lines.size;
    for (const [button, id] of this.lines) {
      const cell = this.cells.get(id);
      if (cell && !this.cells.isOwed(cell)) {
        button.parentElement?.remove();
        this.lines.delete(button);
      } else button.toggleAttribute("aria-current", cell === this.focus.now);
    }
    const n = this.lines.size;
    if (n < before && this.said && byId("refusal").textContent === this.said) this.refuse(""); // not true any more
    if (!n) this.panel.hidden = true;
    else this.title.textContent = fill(this.words.stillOpen, { row: this.cells.nameOf(this.assignment), n });
  }
}
