// A list of offers below a field: what may be meant by what is typed there. The arrows go through it, and the field says
// which one is picked.

import { make, placeOf } from "../page/elements.js";

/** @typedef {{text: string, shown: string}} Offer `text`: what the field holds once it is taken */

const ROOM = 232; // pixels that the list takes at most

export class Offers {
  /**
   * @param {HTMLElement} host in which the list stands
   * @param {(offer: Offer) => void} take
   */
  constructor(host, take) {
    /** @type {Offer[]} */
    this.offers = [];
    this.at = -1;
    /** @type {HTMLElement | null} */
    this.field = null;
    this.list = make("ul", { className: "offers floating", id: "composing-offers", role: "listbox", hidden: true });
    host.append(this.list);
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const n = [...this.list.children].indexOf(placeOf(event));
      if (n >= 0) take(this.offers[n]);
    });
  }

  /** The offer that the arrows have picked. */
  get picked() {
    return this.offers[this.at];
  }

  /**
   * @param {HTMLElement} field
   * @param {Offer[]} offers none hides the list
   */
  show(field, offers) {
    if (this.field !== field) this.field?.removeAttribute("aria-activedescendant");
    this.field = field;
    this.offers = offers;
    this.at = -1;
    this.list.replaceChildren(
      ...offers.map(({ shown }, n) => make("li", { id: `composing-offer-${n}`, role: "option", textContent: shown })),
    );
    this.list.hidden = !offers.length;
    field.ariaExpanded = String(!this.list.hidden);
    field.removeAttribute("aria-activedescendant");
    if (!offers.length) return;
    const { left, top, bottom, width } = field.getBoundingClientRect();
    const isAbove = bottom + ROOM > window.innerHeight && top > window.innerHeight - bottom;
    const side = isAbove ? `bottom: ${window.innerHeight - top + 2}px` : `top: ${bottom + 2}px`;
    this.list.style.cssText = `left: ${left}px; ${side}; min-width: ${Math.max(160, width)}px`;
  }

  hide() {
    if (this.field) this.show(this.field, []);
  }

  /** @param {1 | -1} step */
  move(step) {
    const { length } = this.offers;
    if (!length) return;
    this.at = this.at < 0 ? (step > 0 ? 0 : length - 1) : (this.at + step + length) % length;
    for (const [n, item] of [...this.list.children].entries()) item.ariaSelected = String(n === this.at);
    this.field?.setAttribute("aria-activedescendant", `composing-offer-${this.at}`);
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
  }
}
