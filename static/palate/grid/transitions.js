// The editor of transitions: what there is at the step is picked by letters, digits or arrows, and what it becomes is written;
// one transition after the other joins the list, and what there is afterwards stands below.

import { completions } from "../core/completing.js";
import { fill } from "../core/sentences.js";
import { after, isStaying } from "../core/values.js";
import {
  concluded,
  draftOfStep,
  dropped,
  missingIn,
  movedBy,
  pickedIn,
  readStep,
  reopened,
  thereBefore,
  thingsIn,
  thingsNamed,
} from "../core/world.js";
import { make, placeOf } from "../page/elements.js";
import { Offers } from "./offers.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/values.js").Transition} Transition */
/** @typedef {import("../core/values.js").Value} Value */
/** @typedef {import("../core/world.js").StepDraft} StepDraft */
/** @typedef {import("../core/world.js").Thing} Thing */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./composing.js").Composing} Composing */
/** @typedef {Record<string, Record<string, string[]>>} Beginnings assignment -> question -> what is there before the first step */
/** @typedef {{composing: Composing, cells: Cells, words: Sentences, beginnings: Beginnings}} Parts */

const THING = 24; // the height of a thing in pixels, as in the style sheet
const MOST_THINGS = 11; // of which there is sight at once
const DASHES = new Set(["-", "–", "—"]);

export class TransitionsEditor {
  /** @param {Parts} parts */
  constructor({ composing, cells, words, beginnings }) {
    this.composing = composing;
    this.cells = cells;
    this.words = words;
    this.beginnings = beginnings;
    this.keys = words.stepKeys;
    /** @type {Cell | null} */
    this.cell = null;
    /** @type {StepDraft} */
    this.draft = draftOfStep(undefined);
    /** @type {string[]} */
    this.there = [];
    /** @type {Thing[]} */
    this.listed = []; // those that the letters leave
    this.at = 0; // of them
    this.isMoved = false; // the arrows were used, so that a blank picks
    this.find = listField(words.pick, "composing-things");
    this.things = make("ul", { className: "things", id: "composing-things", role: "listbox", ariaLabel: words.there });
    this.things.ariaMultiSelectable = "true";
    this.becomes = listField(words.becomes, "composing-offers");
    this.from = make("span", { className: "from" });
    this.made = make("ol", { className: "made" });
    this.afterwards = make("p", { className: "afterwards", role: "status" });
    const picking = make("div");
    picking.append(make("h3", { textContent: words.there }), this.find, this.things);
    const making = make("p", { className: "making" });
    this.add = make("button", { type: "button", tabIndex: -1, textContent: words.addChange });
    this.throwAway = make("button", { type: "button", tabIndex: -1, textContent: words.throwAway });
    const arrow = make("span", { textContent: "→", ariaHidden: "true" });
    making.append(this.from, arrow, this.becomes, this.add, this.throwAway);
    const changes = make("div");
    changes.append(make("h3", { textContent: words.changes }), this.made, making, this.afterwards);
    this.element = make("div", { className: "step-editor" });
    this.element.append(picking, changes);
    this.offers = new Offers(this.element, ({ text }) => this.write(text));
    this.find.addEventListener("input", () => {
      this.at = 0;
      this.isMoved = false;
      this.composing.say("");
      this.drawThings();
    });
    this.find.addEventListener("keydown", (event) => this.pressFind(event));
    this.becomes.addEventListener("input", () => {
      this.change({ ...this.draft, to: this.becomes.value }, { kind: "to", isDrawn: true });
      this.drawButtons();
      this.offer();
    });
    this.becomes.addEventListener("keydown", (event) => this.pressBecomes(event));
    this.becomes.addEventListener("blur", () => this.offers.hide());
    this.things.addEventListener("click", (event) => {
      const item = placeOf(event).closest("li");
      const n = item ? [...this.things.children].indexOf(item) : -1;
      if (this.listed[n]) this.pick(this.listed[n].name);
    });
    this.add.addEventListener("click", () => this.conclude());
    this.throwAway.addEventListener("click", () => this.conclude(true));
    this.made.addEventListener("keydown", (event) => this.pressMade(event));
    this.made.addEventListener("click", (event) => {
      const button = placeOf(event).closest("button");
      const n = button ? [...this.made.children].findIndex((item) => item.contains(button)) : -1;
      if (n < 0) return;
      if (button?.classList.contains("remove")) this.drop(n);
      else this.reopen(n);
    });
  }

  // --- what the host asks of an editor --------------------------------------------------------------------------------

  /**
   * @param {Cell} _cell
   * @param {Value | undefined} value
   */
  begin(_cell, value) {
    return draftOfStep(/** @type {Transition[] | undefined} */ (value));
  }

  /**
   * @param {Cell} _cell
   * @param {any} draft
   */
  fits(_cell, draft) {
    /** @param {any} names */
    const areNames = (names) => Array.isArray(names) && names.every((name) => typeof name === "string");
    const { done, picked, staying, to } = draft;
    return (
      Array.isArray(done) &&
      done.every((one) => areNames(one?.from) && areNames(one?.to)) &&
      areNames(picked) &&
      areNames(staying) &&
      typeof to === "string"
    );
  }

  /**
   * @param {Cell} cell
   * @param {unknown} draft
   */
  draw(cell, draft) {
    if (this.cell !== cell) this.find.value = "";
    this.cell = cell;
    this.draft = /** @type {StepDraft} */ (draft);
    this.there = this.thereAt(cell);
    if (this.becomes.value !== this.draft.to) this.becomes.value = this.draft.to;
    this.offers.hide();
    this.drawThings();
    this.drawMaking();
    this.drawMade();
  }

  /**
   * @param {Cell} cell
   * @param {unknown} draft
   */
  read(cell, draft) {
    return readStep(this.cells.spec(cell), /** @type {StepDraft} */ (draft), this.words);
  }

  refused() {
    const { picked, to } = this.draft;
    (picked.length || to ? this.becomes : this.find).focus();
  }

  focus() {
    (this.draft.to ? this.becomes : this.find).focus();
  }

  /**
   * What there is before the step of a cell.
   * @param {Cell} cell
   */
  thereAt(cell) {
    const start = this.beginnings[cell.assignment]?.[cell.question] ?? [];
    const steps = this.cells.partsOf(cell.assignment).filter(({ question }) => question === cell.question);
    const above = steps.slice(0, steps.indexOf(cell)).map(({ code }) => this.cells.value(code) ?? []);
    return thereBefore(start, /** @type {Transition[][]} */ (above));
  }

  // --- how it is drawn ------------------------------------------------------------------------------------------------

  drawThings() {
    const all = thingsIn(this.there, this.draft);
    const open = all.filter(({ used }) => !used).map(({ name }) => name);
    this.listed = thingsNamed(all, this.find.value);
    this.at = Math.max(0, Math.min(this.at, this.listed.length - 1));
    const digits = this.find.value ? [] : open.slice(0, 9);
    this.things.replaceChildren(
      ...this.listed.map((thing, n) => this.itemOf(thing, n, digits.indexOf(thing.name) + 1)),
    );
    // Room for all of them, so that nothing jumps while letters leave some out.
    this.things.style.flexBasis = `${THING * Math.min(all.length, MOST_THINGS)}px`;
    const none = make("li", { className: "quiet none", role: "none", textContent: this.words.nothingThere });
    if (!all.length) this.things.replaceChildren(none);
    else if (!this.listed.length) {
      none.textContent = this.words.noneNamed;
      this.things.replaceChildren(none);
    }
    if (this.listed.length) this.find.setAttribute("aria-activedescendant", `thing-${this.at}`);
    else this.find.removeAttribute("aria-activedescendant");
    this.things.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {Thing} thing
   * @param {number} n
   * @param {number} digit the key that picks it; 0 for none
   */
  itemOf({ name, state, used }, n, digit) {
    const { words } = this;
    const said = { "": used ? words.usedUp : "", picked: words.picked, part: words.partStays }[state];
    const item = make(
      "li",
      { id: `thing-${n}`, role: "option", className: used ? "used" : "", ariaSelected: String(state !== "") },
      make("kbd", { textContent: digit ? String(digit) : "", ariaHidden: "true" }),
      make("span", { className: "check", textContent: { "": "☐", picked: "☑", part: "◐" }[state], ariaHidden: "true" }),
      make("span", { className: "name", textContent: name }),
      make("span", { className: "quiet", textContent: said && ` ${said}` }),
    );
    item.classList.toggle("active", n === this.at);
    return item;
  }

  // What is picked, before the arrow.
  drawMaking() {
    const { picked, staying } = this.draft;
    const names = picked.map((name) => {
      const isPart = staying.includes(name);
      return make("span", { className: "thing", textContent: isPart ? `${name} (${this.words.partStays})` : name });
    });
    this.from.replaceChildren(...(names.length ? names : [make("span", { className: "quiet", textContent: "…" })]));
    this.drawButtons();
  }

  // What Enter and the dash do, for the mouse: each where it can be done.
  drawButtons() {
    const { picked, to } = this.draft;
    this.add.hidden = !to.trim();
    this.throwAway.hidden = !picked.length || to.trim() !== "";
  }

  drawMade() {
    const { done, nothing } = this.draft;
    const { words } = this;
    const items = done.map((one) => {
      const missing = missingIn(this.there, one);
      const told = make("button", { type: "button", className: "link told", textContent: this.inWords(one) });
      const remove = make("button", { type: "button", className: "link remove", tabIndex: -1, textContent: "✕" });
      remove.ariaLabel = remove.title = `${words.removeChange}: ${this.inWords(one)}`;
      const doubt = make("span", {
        className: "doubt",
        textContent: fill(words.missing, { things: missing.join(", ") }),
      });
      return make("li", {}, told, remove, ...(missing.length ? [doubt] : []));
    });
    this.made.replaceChildren(...items);
    if (nothing) this.made.replaceChildren(make("li", { className: "none", textContent: words.noChanges }));
    const left = after(this.there, done).join(" · ") || words.nothingLeft;
    const said = fill(words.afterwards, { things: left });
    if (this.afterwards.textContent !== said) this.afterwards.textContent = said;
  }

  /** @param {Transition} one */
  inWords(one) {
    if (isStaying(one)) return `${one.from[0]}: ${this.words.partStays}`;
    const from = one.from.join(", ") || `(${this.words.newThing})`;
    return `${from} → ${one.to.join(", ") || this.words.gone}`;
  }

  // --- how it is written ----------------------------------------------------------------------------------------------

  /**
   * @param {StepDraft} draft
   * @param {{kind?: string, isDrawn?: boolean}} [how]
   */
  change(draft, how) {
    this.draft = draft;
    this.composing.change(draft, how);
  }

  /** @param {string} name */
  pick(name) {
    this.find.value = "";
    this.isMoved = false;
    this.at = this.there.indexOf(name);
    this.change(pickedIn(this.draft, name));
    this.find.focus();
  }

  /** @param {string} text */
  write(text) {
    this.becomes.value = text;
    this.change({ ...this.draft, to: text }, { isDrawn: true });
    this.drawButtons();
    this.offers.hide();
  }

  // The transition joins the others, and the next one begins.
  conclude(isGone = false) {
    if (!this.cell) return;
    const made = concluded(this.cells.spec(this.cell), this.draft, this.words, isGone);
    if ("refused" in made) {
      this.composing.say(made.refused);
      return;
    }
    this.at = thingsIn(this.there, made.draft).findIndex(({ used }) => !used);
    this.change(made.draft);
    this.find.focus();
  }

  /** @param {number} n */
  reopen(n) {
    this.change(reopened(this.draft, n));
    this.becomes.focus();
  }

  /** @param {number} n */
  drop(n) {
    this.change(dropped(this.draft, n));
    const left = this.made.children.length;
    const next = this.made.children[Math.min(n, left - 1)]?.querySelector("button");
    (next ?? this.find).focus();
  }

  offer(all = false) {
    const { cell, draft } = this;
    if (!cell) return;
    const earlier = /** @type {Transition[][]} */ (this.cells.answersTo(cell)).flat().flatMap(({ to }) => to);
    const known = [...draft.picked, ...earlier, ...(this.cells.spec(cell).transitions?.completions ?? [])];
    this.offers.show(this.becomes, completions(known, this.becomes.value, { separator: ",", escapes: true, all }));
  }

  /** @param {KeyboardEvent} event in the field in which things are found */
  pressFind(event) {
    const { key, shiftKey, altKey, isComposing } = event;
    if (isComposing || event.ctrlKey || event.metaKey || altKey) return;
    const typed = this.find.value.trim();
    const thing = this.listed[this.at];
    const { draft } = this;
    if (key === "ArrowDown" || key === "ArrowUp") {
      const { length } = this.listed;
      this.at = length ? (this.at + (key === "ArrowDown" ? 1 : -1) + length) % length : 0;
      this.isMoved = true;
      this.drawThings();
    } else if (key === "Enter" && !shiftKey) this.enter(typed, thing);
    else if (key === " " && thing && (!typed || this.isMoved)) this.pick(thing.name);
    else if (!typed && /^[1-9]$/.test(key)) {
      const open = thingsIn(this.there, draft).filter(({ used }) => !used);
      const meant = open[Number(key) - 1];
      if (!meant) return;
      this.pick(meant.name);
    } else if (!typed && DASHES.has(key)) {
      if (draft.picked.length) this.conclude(true);
      else if (!draft.done.length) this.change({ ...draft, nothing: !draft.nothing });
    } else if (!typed && key === "Backspace") {
      const last = draft.picked[draft.picked.length - 1];
      if (last)
        this.change({
          ...draft,
          picked: draft.picked.slice(0, -1),
          staying: draft.staying.filter((one) => one !== last),
        });
      else if (draft.done.length) this.reopen(draft.done.length - 1);
      else return;
    } else if (key === "Tab" && !shiftKey && typed && thing) this.pick(thing.name);
    else if (key === "Tab" && !shiftKey) this.becomes.focus();
    else return;
    event.preventDefault();
  }

  /**
   * Enter picks; where nothing is typed it goes on to what the picked things become, and from the last change out of the editor.
   * @param {string} typed
   * @param {Thing | undefined} thing
   */
  enter(typed, thing) {
    const { picked, done, nothing } = this.draft;
    if (typed || this.isMoved) {
      if (thing) this.pick(thing.name);
      else this.composing.say(fill(this.words.noSuchThing, { name: typed }));
    } else if (picked.length) this.becomes.focus();
    else if (done.length || nothing) this.composing.take();
  }

  /** @param {KeyboardEvent} event in the field that says what the picked things become */
  pressBecomes(event) {
    const { key, shiftKey, isComposing } = event;
    if (isComposing || event.ctrlKey || event.metaKey) return;
    const { offers } = this;
    const isArrow = key === "ArrowDown" || key === "ArrowUp";
    if (isArrow && event.altKey) this.offer(true);
    else if (event.altKey) return;
    else if (isArrow && offers.offers.length) offers.move(key === "ArrowDown" ? 1 : -1);
    else if (key === "ArrowDown") this.offer(true);
    else if ((key === "Enter" || key === "Tab") && offers.picked && !shiftKey) this.write(offers.picked.text);
    else if (key === "Escape" && offers.picked) offers.hide();
    else if (key === "Enter" || (key === "Tab" && !shiftKey && this.becomes.value.trim())) this.conclude();
    else if (DASHES.has(key) && !this.becomes.value.trim()) this.conclude(true);
    else if (key === "Backspace" && !this.becomes.value) this.find.focus();
    else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event on a transition of the list */
  pressMade(event) {
    const item = placeOf(event).closest("li");
    const n = item ? [...this.made.children].indexOf(item) : -1;
    if (n < 0 || event.ctrlKey || event.metaKey) return;
    const { key, altKey } = event;
    const step = key === "ArrowUp" ? -1 : 1;
    /** @param {number} place */
    const go = (place) => this.made.children[place]?.querySelector("button")?.focus();
    if (key === "ArrowUp" || key === "ArrowDown") {
      if (altKey) this.change(movedBy(this.draft, n, step));
      go(altKey ? Math.max(0, Math.min(this.made.children.length - 1, n + step)) : n + step);
    } else if (key === "Delete" || key === "Backspace") this.drop(n);
    else return;
    event.preventDefault();
  }
}

/**
 * A field of one line with a list.
 * @param {string} label
 * @param {string} list the id of its list
 */
function listField(label, list) {
  const input = make("input", { type: "text", dir: "auto", autocomplete: "off", placeholder: label, role: "combobox" });
  input.ariaLabel = label;
  input.ariaExpanded = "true";
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list);
  return input;
}
