// Deciding what is right: a key or a button chooses an option, and a line asks for the reason. Where answers are values, the
// key takes the answer of somebody, and Enter or F2 opens the field for another one.

import { fill } from "../core/sentences.js";
import { byId, elementOf, make, placeOf } from "../page/elements.js";
import { csrfToken } from "../page/requests.js";
import { choiceButton, optionButtons } from "../sheet/options.js";

/** @typedef {import("../core/answers.js").Option} Option */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").LensCells} LensCells */
/** @typedef {import("./focus.js").LensFocus} LensFocus */
/** @typedef {{hotkey: string, text: string, shown: string}} Taken an answer that somebody gave; `text` is its text form */
/**
 * @typedef {object} Parts
 * @property {LensCells} cells
 * @property {LensFocus} focus
 * @property {(cell: Cell) => Option[]} optionsOf the cell's question; none where its answers are values
 * @property {string | undefined} address to which a decision goes; none for who may only look
 * @property {Sentences} words
 * @property {(cell: Cell) => string} titleOf
 * @property {(cell: Cell, isDecided: boolean, isHere: boolean) => void} decided a decision is saved, or taken back; isHere: its person waited for that
 */
/** @typedef {{cell: Cell, option: Option | null, isOwn: boolean, isSaving: boolean}} Open what the reason is asked for; with neither an option nor a text of one's own it is taken back */

const OWN = "own"; // what the button for an answer of one's own chooses
const LONGEST_SHOWN = 60; // characters of an answer on its button

export class Deciding {
  /** @param {Parts} parts */
  constructor({ cells, focus, optionsOf, address, words, titleOf, decided }) {
    this.cells = cells;
    this.focus = focus;
    this.optionsOf = optionsOf;
    this.address = address;
    this.words = words;
    this.titleOf = titleOf;
    this.decided = decided;
    /** @type {Open | null} */
    this.open = null; // until it is saved, or somebody goes on to another cell
    /** @type {Promise<unknown>} */
    this.last = Promise.resolve(); // decisions go to the server one after the other
    this.choices = byId("choices");
    this.form = elementOf("reason-form", HTMLFormElement);
    this.own = elementOf("own", HTMLTextAreaElement);
    this.reason = elementOf("reason", HTMLInputElement);
    focus.leaving.push(() => this.close({ back: false }));
    focus.listeners.push((cell) => this.describe(cell));
    focus.told.push((cell) => {
      if (this.takesValues(cell)) this.describe(cell);
    });
    this.choices.addEventListener("click", (event) => {
      const choice = /** @type {HTMLElement | null} */ (placeOf(event).closest("[data-choose]"));
      if (choice) this.press(choice.dataset.choose ?? "");
    });
    this.own.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.save();
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    });
    byId("reason-cancel").addEventListener("click", () => this.cancel());
  }

  /** @param {Keys} keys */
  keys(keys) {
    for (const key of ["Backspace", "Delete"])
      keys.add(key, ({ repeat }) => {
        if (repeat) return false;
        this.choose(() => false);
        return true;
      });
    for (const digit of "0123456789-")
      keys.add(digit, ({ repeat }) => {
        const { now } = this.focus;
        if (repeat || !now) return false;
        if (this.takesValues(now)) return this.take(digit);
        if (!this.optionsOf(now).some(({ hotkey }) => hotkey === digit)) return false;
        this.choose(({ hotkey }) => hotkey === digit);
        return true;
      });
    for (const key of ["Enter", "F2"]) keys.add(key, ({ repeat }) => !repeat && this.write());
  }

  /** @param {string} choice what a button of the line chooses: an option's key, a number, OWN, or "" */
  press(choice) {
    const { now } = this.focus;
    if (!now || !choice || !this.takesValues(now)) this.choose(({ key }) => key === choice);
    else if (choice === OWN) this.write();
    else this.take(choice);
  }

  /** @param {Cell} cell */
  takesValues(cell) {
    return this.optionsOf(cell).length === 0;
  }

  /**
   * The answers that stand beside the cell, each once.
   * @param {Cell} cell
   * @returns {Taken[]}
   */
  takenOf(cell) {
    if (this.focus.toldOf !== cell) return [];
    /** @type {Map<string, Taken>} */
    const found = new Map();
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (this.focus.detail.querySelectorAll("[data-take]"))) {
      const { take: hotkey = "", written: text = "", shown = text } = one.dataset;
      if (!found.has(hotkey)) found.set(hotkey, { hotkey, text, shown });
    }
    return [...found.values()];
  }

  /** @param {Cell} cell */
  describe(cell) {
    if (!this.address) {
      this.choices.replaceChildren(this.words.readOnly);
      return;
    }
    const isDecided = cell.flags.has("decided");
    const takes = this.takenOf(cell).map((one) => choiceButton(one.hotkey, clipped(one.shown), one.hotkey, "choice"));
    const write = this.takesValues(cell) ? [choiceButton("Enter", this.words.own, OWN, "choice")] : [];
    const withdraw = isDecided ? [choiceButton("⌫", this.words.withdraw, "", "choice")] : [];
    this.choices.replaceChildren(...optionButtons(this.optionsOf(cell)), ...takes, ...write, ...withdraw);
  }

  /**
   * Choose an option for the focused cell; where none is meant, take its decision back.
   * @param {(option: Option) => boolean} isMeant
   */
  choose(isMeant) {
    const cell = this.focus.now;
    if (!cell || !this.address) return;
    const option = this.optionsOf(cell).find(isMeant) ?? null;
    if (!option && !cell.flags.has("decided")) return;
    byId("reason-of").replaceChildren(option ? chip(option) : "", ` ${option ? option.label : this.words.withdraw}`);
    this.ask({ cell, option, isOwn: false, isSaving: false });
    this.reason.focus();
  }

  /**
   * Take the answer with this number for the focused cell; it can still be changed.
   * @param {string} number
   */
  take(number) {
    const cell = this.focus.now;
    const taken = cell && this.takenOf(cell).find(({ hotkey }) => hotkey === number);
    if (!taken || !this.openOwn(cell, taken.text)) return false;
    this.reason.focus();
    return true;
  }

  // Write an answer of one's own for the focused cell.
  write() {
    const cell = this.focus.now;
    if (!cell || !this.takesValues(cell) || !this.openOwn(cell, "")) return false;
    this.own.focus();
    return true;
  }

  /**
   * @param {Cell} cell
   * @param {string} text
   */
  openOwn(cell, text) {
    if (!this.address) return false;
    byId("reason-of").replaceChildren();
    this.own.value = text;
    this.own.rows = Math.min(6, text.split("\n").length);
    this.ask({ cell, option: null, isOwn: true, isSaving: false });
    return true;
  }

  /** @param {Open} open */
  ask(open) {
    this.open = open;
    this.say("");
    this.refuse("");
    this.own.hidden = !open.isOwn;
    this.reason.value = "";
    this.form.hidden = false;
    this.choices.hidden = true;
  }

  // What is on its way to the server is saved whatever key is pressed.
  cancel() {
    if (this.open?.isSaving) this.say(this.words.saving);
    else this.close();
  }

  close({ back = true } = {}) {
    if (!this.open) return;
    this.open = null;
    this.refuse("");
    this.form.hidden = true;
    this.choices.hidden = false;
    if (back) this.focus.back();
  }

  async save() {
    const { open } = this;
    if (!open || open.isSaving || !this.address) return;
    const text = open.isOwn ? this.own.value : "";
    if (open.isOwn && !text.trim()) return this.refuse(this.words.ownNeeded);
    open.isSaving = true;
    this.refuse("");
    const slow = setTimeout(() => this.open === open && this.say(this.words.saving), 300);
    const reason = this.reason.value;
    const sent = this.last.then(() => this.send(open, text, reason));
    this.last = sent;
    const refusal = await sent;
    clearTimeout(slow);
    open.isSaving = false;
    const isHere = this.open === open;
    // Who has gone on is told what it is about.
    const name = isHere ? "" : `${this.titleOf(open.cell)}: `;
    if (refusal) return this.refuse(name + refusal);
    const hasKeys = this.form.contains(document.activeElement) || document.activeElement === document.body;
    if (isHere) this.close({ back: hasKeys });
    const decided = open.option ? open.option.label : clipped(text.trim());
    this.say(name + (decided ? fill(this.words.decided, { option: decided }) : this.words.withdrawn));
    this.decided(open.cell, Boolean(decided), isHere && hasKeys);
  }

  /**
   * Gives the sentence that refuses it, "" for none.
   * @param {Open} open
   * @param {string} text
   * @param {string} reason
   * @returns {Promise<string>}
   */
  async send({ cell: { row, column, question }, option }, text, reason) {
    try {
      const answer = await fetch(this.address ?? "", {
        method: "POST",
        credentials: "same-origin",
        headers: { "X-CSRFToken": csrfToken() },
        body: new URLSearchParams({ row, column, question, option: option?.key ?? "", text, reason }),
      });
      if (answer.status === 409) return (await answer.json()).message;
      if (answer.status === 403 || answer.redirected) return this.words.loggedOut;
      if (!answer.ok) return this.words.notSaved;
      for (const drawn of (await answer.json()).cells) this.cells.redraw(drawn);
      return "";
    } catch {
      return this.words.notSaved;
    }
  }

  /** @param {string} sentence */
  say(sentence) {
    byId("said").textContent = sentence;
  }

  /** @param {string} sentence */
  refuse(sentence) {
    if (sentence) this.say("");
    byId("refusal").textContent = sentence;
    byId("refusal").hidden = !sentence;
  }
}

/** @param {string} text */
const clipped = (text) => (text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text);

/** @param {Option} option */
const chip = ({ sign, colour }) => make("span", { className: `chip t-${colour}`, textContent: sign });
