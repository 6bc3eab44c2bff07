// The end of a sheet: says what is done, and leads to the next one.

import { byId, hasDialog, inside, isWriting, make } from "../page/elements.js";

/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {{sentence: string, links: {label: string, url: string}[]}} Done what the server says when nothing of a sheet is left */

export class SheetDone {
  /** @param {{focus: Focus}} parts */
  constructor({ focus }) {
    this.focus = focus;
    this.panel = byId("sheet-done");
    this.title = inside(this.panel, "h2", HTMLHeadingElement);
    this.links = inside(this.panel, ".links", HTMLElement);
    inside(this.panel, "[data-close]", HTMLElement).addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || this.panel.hidden || hasDialog()) return;
      event.preventDefault();
      this.close();
    });
    // Whoever works on has seen it.
    focus.listeners.push(() => this.close({ back: false }));
  }

  /** @param {Done} done */
  show({ sentence, links }) {
    this.title.textContent = sentence;
    this.links.replaceChildren(
      ...links.map(({ label, url }, n) =>
        make("a", { className: n ? "button" : "button primary", href: url, textContent: label }),
      ),
    );
    this.panel.hidden = false;
    if (!isWriting()) this.links.querySelector("a")?.focus();
  }

  close({ back = true } = {}) {
    if (this.panel.hidden) return;
    this.panel.hidden = true;
    if (back) this.focus.back();
  }
}
