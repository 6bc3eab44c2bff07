// What each key does while the focus is in the tables of a sheet, or in what is read beside them; see `keyName` for names.

import { keyName, keyPlace, keysWithAlt } from "../core/keys.js";
import { hasDialog, placeOf } from "../page/elements.js";

/** @typedef {(event: KeyboardEvent) => unknown} Action what gives back false has not done anything, and leaves the key to the browser */

export class Keys {
  /**
   * @param {HTMLElement} tables
   * @param {object} beside
   * @param {string} beside.where selector of the elements beside the tables in which keys are heard too
   * @param {(name: string) => boolean} beside.hears which of the keys are
   * @param {() => void} [beside.back] leads into the tables once a key was heard
   * @param {() => boolean} [beside.takesAlt] letters are typed into the focused cell, and a command takes Alt
   */
  constructor(tables, { where, hears, back = () => {}, takesAlt = () => false }) {
    /** @type {Map<string, {action: Action, when: () => boolean}[]>} */
    this.does = new Map(); // name -> what it does, the latest first
    tables.addEventListener("keydown", (event) => this.press(event));
    // Who has clicked into the document to read it labels from there, and is in the grid then.
    this.hears = hears;
    this.back = back;
    this.takesAlt = takesAlt;
    document.addEventListener("keydown", (event) => {
      if (placeOf(event).matches(where)) this.hear(event);
    });
  }

  /**
   * A key that was pressed beside the tables: in the document, or in the page that it was taken out of.
   * @param {KeyboardEvent} event
   */
  hear(event) {
    const here = document.activeElement;
    if (hasDialog() || !this.hears(keyName(event))) return;
    const withAlt = event.altKey && !event.ctrlKey && !event.metaKey && this.takesAlt();
    if (!(withAlt ? this.pressWithAlt(event) : this.press(event))) return;
    if (document.activeElement === here) this.back();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    return this.act(event, this.find(keyName(event)) || this.find(keyName(event, keyPlace(event))));
  }

  /**
   * A command that takes Alt, since its letter alone is text.
   * @param {KeyboardEvent} event
   */
  pressWithAlt(event) {
    const action = keysWithAlt(event).map((name) => this.find(name));
    return this.act(event, action.find(Boolean));
  }

  /**
   * Whether it is one.
   * @param {KeyboardEvent} event
   */
  knowsWithAlt(event) {
    return keysWithAlt(event).some((name) => this.find(name));
  }

  /**
   * @param {KeyboardEvent} event
   * @param {Action | undefined} action
   */
  act(event, action) {
    const done = action !== undefined && action(event) !== false;
    if (done) event.preventDefault();
    return done;
  }

  /** @param {string} name */
  find(name) {
    return this.does.get(name)?.find(({ when }) => when())?.action;
  }

  /**
   * What is added later comes first, as long as its `when` holds.
   * @param {string} name
   * @param {Action} action
   */
  add(name, action, when = () => true) {
    this.does.set(name, [{ action, when }, ...(this.does.get(name) || [])]);
  }
}
