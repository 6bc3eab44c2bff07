// The hints of keys on buttons and links: a command takes Alt where its letter alone would be typed into the focused cell. The
// words stand in the page (`.alt`), and one class shows them all, those of a document that is loaded later too.

export class Hints {
  /**
   * @param {HTMLElement} panel of the document, which brings buttons of its own
   * @param {() => boolean} isText letters are typed into the focused cell
   */
  constructor(panel, isText) {
    this.isText = isText;
    this.wasText = false;
    panel.addEventListener("shown", () => this.name());
  }

  draw() {
    const isText = this.isText();
    if (document.body.classList.toggle("letters-typed", isText) !== this.wasText) this.name();
    this.wasText = isText;
  }

  // For who hears the page.
  name() {
    const alt = this.isText() ? "Alt+" : "";
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-command]")))
      button.setAttribute("aria-keyshortcuts", `${alt}${button.dataset.command}`);
  }
}
