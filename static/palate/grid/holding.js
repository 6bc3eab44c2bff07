// Keys and clicks that are meant for parts of the page which are still on their way: they are held, in their order, and done
// once the parts are there, so that none is lost. What comes behind one that is held waits too.

import { keyName, keyPlace } from "../core/keys.js";
import { hasDialog, placeOf } from "../page/elements.js";

/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {{keys: Keys, isTyped: (place: Element) => boolean}} Parts isTyped: letters are an answer there, once its editor is here */

const WRITES = /^(?:F2|Enter|Shift\+Enter)$/;
const BEHIND = /^(?:F2|Enter|Escape|Backspace|Delete|Tab|Shift\+Tab)$/; // what waits behind a key, if nothing else hears it

export class Holding {
  /** @param {Parts} parts */
  constructor({ keys, isTyped }) {
    this.keys = keys;
    this.isTyped = isTyped;
    /** @type {Event[]} */
    this.held = [];
    this.stop = new AbortController();
    const how = { capture: true, signal: this.stop.signal };
    document.addEventListener("keydown", (event) => this.waits(event) && this.hold(event), how);
    document.addEventListener("click", (event) => placeOf(event).closest("[data-later]") && this.hold(event), how);
    document.addEventListener("dblclick", (event) => this.isTyped(placeOf(event)) && this.hold(event), how);
  }

  /** @param {Event} event */
  hold(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
    this.held.push(event);
  }

  /** @param {KeyboardEvent} event */
  waits(event) {
    const place = placeOf(event);
    if (hasDialog() || place.matches("input, textarea, button, a")) return false;
    const { key, ctrlKey, metaKey, altKey } = event;
    const name = keyName(event);
    const isSign = [...key].length === 1 && !ctrlKey && !metaKey;
    const isHeard = Boolean(this.keys.find(name) ?? this.keys.find(keyName(event, keyPlace(event))));
    if (this.held.length) return isHeard || isSign || BEHIND.test(name);
    if (this.isTyped(place)) return isSign || WRITES.test(name);
    return isSign && !altKey && !isHeard;
  }

  /** The parts are here. */
  release() {
    this.stop.abort();
    for (const event of this.held.splice(0)) {
      if (event instanceof KeyboardEvent) pressAgain(event);
      else if (event instanceof MouseEvent)
        event.target?.dispatchEvent(
          new MouseEvent(event.type, { bubbles: true, cancelable: true, detail: event.detail }),
        );
    }
  }
}

/**
 * What a key does where the keys are by now; in a field it writes, as a browser has it do.
 * @param {KeyboardEvent} event
 */
function pressAgain(event) {
  const { key, code, shiftKey, ctrlKey, altKey, metaKey, repeat } = event;
  const again = new KeyboardEvent("keydown", {
    key,
    code,
    shiftKey,
    ctrlKey,
    altKey,
    metaKey,
    repeat,
    modifierCapsLock: event.getModifierState("CapsLock"),
    modifierAltGraph: event.getModifierState("AltGraph"),
    bubbles: true,
    cancelable: true,
  });
  if (!(document.activeElement ?? document.body).dispatchEvent(again)) return;
  const field = document.activeElement;
  if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) || ctrlKey || metaKey) return;
  if ([...key].length === 1) document.execCommand("insertText", false, key);
  else if (key === "Backspace") document.execCommand("delete");
}
