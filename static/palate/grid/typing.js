// Typing: answers that are values are written in their cells as in a spreadsheet. A letter replaces what stands there, F2 or
// Enter edits it; Enter and Tab take it and go on, Escape leaves it as it was. In an answer of several lines Enter (in a text
// Alt+Enter) is a new line, and Ctrl+Enter takes it. F2 once more, or a long text, opens it beside the tables, above the
// document. What is being typed is kept in the browser with each letter, so that a reload, a crash or a log-out loses none of it.

import { answerOf, valueCode } from "../core/codes.js";
import { completions } from "../core/completing.js";
import { hasLines, readings, readValue, writtenValue } from "../core/values.js";
import { fragment, inside, make, placeOf } from "../page/elements.js";
import { Begun } from "./begun.js";
import { Suggesting } from "./suggesting.js";

/** @typedef {import("../core/queue.js").Store} Store */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./choosing.js").Choosing} Choosing */
/** @typedef {import("./composing.js").Composing} Composing */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./range.js").CellRange} CellRange */
/**
 * @typedef {object} Parts
 * @property {HTMLElement} tables
 * @property {Cells} cells
 * @property {Focus} focus
 * @property {CellRange} range
 * @property {Editing} editing
 * @property {Composing} composing
 * @property {Choosing} choosing
 * @property {Keys} keys
 * @property {Sentences} words
 * @property {(sentence: string) => void} refuse
 * @property {Store} store
 * @property {string} name of the entries in the store
 * @property {HTMLElement} panel beside the tables
 */

// A text that is longer, in characters or in lines, is opened beside the tables at once.
const LONG = { characters: 400, lines: 10 };

const EDITOR = `<div class="typing" hidden><textarea class="typed" rows="1" dir="auto" role="combobox" autocomplete="off"
  aria-controls="offers" aria-autocomplete="list" aria-expanded="false"></textarea>
  <ul class="offers" id="offers" role="listbox" hidden></ul></div>`;

export class Typing {
  /** @param {Parts} parts */
  constructor({ tables, cells, focus, range, editing, composing, choosing, keys, words, refuse, store, name, panel }) {
    this.cells = cells;
    this.focus = focus;
    this.range = range;
    this.editing = editing;
    this.composing = composing;
    this.choosing = choosing;
    this.keys = keys;
    this.words = words;
    this.refuse = refuse;
    this.begun = new Begun({ cells, store, name });
    this.suggesting = new Suggesting({ cells, columns: editing.checking.checks });
    this.panel = panel;
    this.title = inside(panel, "h2", HTMLHeadingElement);
    this.room = inside(panel, ".room", HTMLElement);
    /** @type {Cell | null} */
    this.cell = null; // the one that is being typed into
    this.seen = ""; // what stood in it when that was begun
    this.isTouched = false; // something was typed since it was opened
    /** @type {{text: string, shown: string}[]} */
    this.offers = [];
    this.picked = -1; // of the offers
    this.box = /** @type {HTMLElement} */ (fragment(EDITOR).firstElementChild);
    this.field = inside(this.box, "textarea", HTMLTextAreaElement);
    this.list = inside(this.box, "ul", HTMLUListElement);
    this.isMoving = false;
    // The cell moves when its table grows, or the window changes; the editor stays over it.
    this.following = new ResizeObserver(() => this.cell && !this.isBeside && this.cover(this.cell));
    tables.append(this.box);
    panel.addEventListener("mousedown", (event) => {
      if (event.target !== this.field) event.preventDefault(); // a click beside the text leaves the keys in it
    });
    tables.addEventListener("keydown", (event) => this.begin(event), { capture: true });
    tables.addEventListener("focusin", (event) => this.suggest(this.cells.around(placeOf(event)), true));
    tables.addEventListener("focusout", (event) => this.suggest(this.cells.around(placeOf(event)), false));
    tables.addEventListener("dblclick", (event) => {
      const cell = cells.around(placeOf(event));
      if (cell && cells.isTyped(cell)) this.edit(cell);
    });
    this.field.addEventListener("keydown", (event) => this.press(event));
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("blur", () => this.leave());
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const at = [...this.list.children].indexOf(placeOf(event));
      if (at >= 0) this.take(this.offers[at].text);
    });
    this.begun.changed = (cell) => {
      if (cell !== this.cell || this.isTouched) return;
      this.close({ keep: true });
      this.refuse("");
      this.focus.go(cell);
    };
    for (const kind of ["mousedown", "click", "copy", "cut", "paste"])
      this.box.addEventListener(kind, (event) => event.stopPropagation());
  }

  // What an earlier visit left half typed is put before its person again.
  start() {
    const cell = this.begun.start().find((one) => this.cells.isTyped(one));
    if (!cell) return;
    this.focus.go(cell);
    this.write(cell);
  }

  // --- how it begins --------------------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event on a cell, before the keys of the grid hear it */
  begin(event) {
    const cell = this.cells.around(placeOf(event));
    if (!cell || placeOf(event) !== cell.td || !this.cells.isTyped(cell) || this.range.isRange) return;
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey) return;
    const isSign = [...key].length === 1 && key !== " ";
    if (altKey) {
      // The keys that are commands elsewhere would be letters here.
      if (!this.keys.pressWithAlt(event)) return;
    } else if (key === " " && !event.shiftKey) {
      if (!this.takeSuggestion(cell)) return;
      event.preventDefault();
    } else if (key === "F2" || (key === "Enter" && !event.shiftKey)) {
      this.edit(cell);
      event.preventDefault();
    } else if (isSign || key === "Process" || key === "Dead") {
      this.edit(cell, ""); // the letter itself goes into the field, which has the focus by now
    } else return;
    event.stopImmediatePropagation();
  }

  /**
   * What an empty cell most likely says is shown in it as long as it has the focus.
   * @param {Cell | undefined} cell
   * @param {boolean} isThere
   */
  suggest(cell, isThere) {
    if (!cell) return;
    const text = isThere && this.cells.isTyped(cell) && !cell.code ? this.suggesting.suggestion(cell) : "";
    if (text) cell.td.dataset.suggested = text;
    else delete cell.td.dataset.suggested;
  }

  /**
   * The space bar takes what is suggested, and goes on to the next cell of the line.
   * @param {Cell} cell
   */
  takeSuggestion(cell) {
    const text = cell.code || this.begun.read(cell) ? "" : this.suggesting.suggestion(cell);
    if (!text) return false;
    this.write(cell, text);
    this.commit(1, "right");
    return true;
  }

  /**
   * @param {Cell} cell
   * @param {string} [text] instead of what stands there
   */
  edit(cell, text) {
    // What has parts has an editor of its own.
    if (this.composing.takes(cell) && !this.begun.read(cell)) this.composing.open(cell, text !== undefined);
    else this.write(cell, text);
  }

  /**
   * @param {Cell} cell
   * @param {string} [instead] of what stands there, or was typed and not taken
   * @param {string} [seen] what stood there when it was begun, if that was not now
   */
  write(cell, instead, seen) {
    const kept = instead === undefined ? this.begun.read(cell) : null;
    const text = instead ?? kept?.text ?? this.written(cell);
    this.cell = cell;
    this.seen = seen ?? kept?.seen ?? answerOf(cell.code);
    this.isTouched = false;
    this.field.value = text;
    this.field.ariaLabel = this.title.textContent = this.cells.title(cell);
    this.refuse(kept?.text ? this.words.stillTyped : "");
    this.field.setSelectionRange(text.length, text.length);
    this.open(text.length > LONG.characters || text.split("\n").length > LONG.lines);
    if (seen === undefined) this.offer();
    else this.typed(); // it is not in the cell yet
  }

  /** @param {boolean} beside the tables, where there is more room; else in the cell */
  open(beside) {
    const { cell, field } = this;
    if (!cell) return;
    const { selectionStart, selectionEnd } = field;
    this.isMoving = true; // what moves on the page loses the focus
    this.panel.hidden = !beside;
    this.box.hidden = false;
    this.box.classList.toggle("beside", beside);
    (beside ? this.room : cell.line.table).append(this.box);
    if (beside) this.box.style.cssText = "";
    else this.cover(cell);
    this.following.disconnect();
    this.following.observe(cell.line.table);
    field.focus({ preventScroll: true });
    field.setSelectionRange(selectionStart, selectionEnd);
    this.isMoving = false;
    this.grow();
    if (!beside) this.box.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @param {Cell} cell that the editor is put over */
  cover({ td, line: { table } }) {
    const [outer, inner] = [table.getBoundingClientRect(), td.getBoundingClientRect()];
    const wide = this.cell && hasLines(this.cells.spec(this.cell)) ? 420 : 240;
    const width = Math.max(td.offsetWidth, Math.min(wide, this.cells.tables.clientWidth));
    // Where the table ends before the editor does, it opens to the left.
    const left = Math.max(0, Math.min(inner.left - outer.left, Math.max(outer.width, td.offsetWidth) - width - 2));
    const top = inner.top - outer.top;
    this.box.style.cssText = `left: ${left}px; top: ${top}px; width: ${width}px; min-height: ${td.offsetHeight}px`;
  }

  get isBeside() {
    return this.box.classList.contains("beside");
  }

  /**
   * What stands in a cell; of two answers the one that was given here.
   * @param {Cell} cell
   */
  written(cell) {
    const value = this.cells.value(this.editing.saving.conflicts.get(cell.id) ?? cell.code);
    return value === undefined ? "" : writtenValue(this.cells.spec(cell), value);
  }

  // --- while it lasts -------------------------------------------------------------------------------------------------

  typed() {
    const { cell } = this;
    if (!cell) return;
    this.isTouched = true;
    this.begun.write(cell, { text: this.field.value, seen: this.seen });
    this.field.removeAttribute("aria-invalid");
    this.refuse("");
    this.grow();
    this.offer();
    this.cells.tables.dispatchEvent(new CustomEvent("palate:activity", { bubbles: true }));
  }

  grow() {
    this.field.style.height = "auto";
    if (!this.isBeside) this.field.style.height = `${Math.min(this.field.scrollHeight, 260)}px`;
  }

  /** @param {boolean} [all] also where nothing is typed yet */
  offer(all = false) {
    const { cell } = this;
    if (!cell) return;
    const spec = this.cells.spec(cell);
    const typed = this.field.value;
    this.offers = spec.text
      ? completions(this.suggesting.known(cell), typed, { separator: spec.text.separator, all })
      : readings(spec, typed, this.words).map((text) => ({ text, shown: text }));
    this.picked = -1;
    this.list.replaceChildren(...this.offers.map(({ shown }, n) => offerItem(n, shown)));
    this.list.hidden = !this.offers.length;
    this.field.ariaExpanded = String(!this.list.hidden);
    this.field.removeAttribute("aria-activedescendant");
    if (!this.list.hidden) this.list.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @param {1 | -1} step */
  pick(step) {
    const { length } = this.offers;
    if (!length) return;
    this.picked = (this.picked + step + length + (this.picked < 0 && step < 0 ? 1 : 0)) % length;
    for (const [n, item] of [...this.list.children].entries()) item.ariaSelected = String(n === this.picked);
    this.field.setAttribute("aria-activedescendant", `offer-${this.picked}`);
    this.list.children[this.picked].scrollIntoView({ block: "nearest" });
  }

  /** @param {string} text */
  take(text) {
    this.field.value = text;
    this.typed();
    this.list.hidden = true;
    this.offers = [];
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    event.stopPropagation(); // the grid's keys are letters here
    const { key, shiftKey, ctrlKey, metaKey, altKey, isComposing } = event;
    if (isComposing || !this.cell) return;
    const spec = this.cells.spec(this.cell);
    const picked = this.offers[this.picked];
    if (key === "Escape") this.undo();
    else if (key === "F2") this.open(!this.isBeside);
    else if ((key === "ArrowDown" || key === "ArrowUp") && this.offers.length) this.pick(key === "ArrowDown" ? 1 : -1);
    else if (key === "ArrowDown" && altKey) this.offer(true);
    else if ((key === "Enter" || key === "Tab") && picked) this.take(picked.text);
    else if (
      key === "Enter" &&
      hasLines(spec) &&
      !ctrlKey &&
      !metaKey &&
      (altKey || spec.kind !== "text" || this.isBeside)
    )
      this.insert("\n");
    else if (key === "Enter") this.commit(shiftKey ? -1 : 1, "down");
    else if (key === "Tab") this.commit(shiftKey ? -1 : 1, "right");
    else if (/^[a-z]$/i.test(key) && altKey && !ctrlKey && !metaKey && this.keys.knowsWithAlt(event))
      this.command(event);
    else return;
    event.preventDefault();
  }

  /** @param {string} text at the place of the caret */
  insert(text) {
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.typed();
  }

  // --- how it ends ----------------------------------------------------------------------------------------------------

  // What was typed goes into the cell, if it is an answer; says whether it did.
  put() {
    const { cell } = this;
    if (!cell) return true;
    const spec = this.cells.spec(cell);
    const read = readValue(spec, this.field.value, this.words);
    const code = read && "value" in read ? valueCode(read.value) : "";
    const why = read && "refused" in read ? read.refused : this.editing.checking.refusals([[cell, code]]).get(cell);
    if (why) {
      this.refuse(why);
      this.field.setAttribute("aria-invalid", "true");
      return false;
    }
    this.close();
    if (code !== cell.code) this.editing.change([[cell, code]], { seen: this.seen });
    return true;
  }

  /**
   * @param {1 | -1} step
   * @param {"down" | "right"} way
   */
  commit(step, way) {
    const { cell } = this;
    if (!cell || !this.put()) return;
    this.focus.go(cell);
    if (way === "down") {
      this.focus.go(this.focus.afterTyped(cell, step));
      return;
    }
    const there = this.focus.tab(step);
    const isDone = step > 0 && !this.focus.onward(cell);
    // A document that this completes is left by a key of its own, as everywhere.
    const leaves = there && there.assignment !== cell.assignment;
    this.focus.go((isDone && this.focus.beyond(cell)) || (leaves && isDone ? cell : there || cell));
  }

  /**
   * A command takes what was typed first. Where Alt makes another sign, as on a Mac, that is typed.
   * @param {KeyboardEvent} event
   */
  command(event) {
    const { cell } = this;
    if (!this.put()) return;
    this.focus.go(cell);
    this.keys.pressWithAlt(event);
  }

  // A click elsewhere takes what was typed. What is no answer, and what an earlier visit has typed, stays in the browser, and is
  // there again at the next edit.
  leave() {
    if (this.isMoving || document.activeElement === this.field) return; // the window has lost the focus, not the field
    if (this.cell && (!this.isTouched || !this.put())) this.close({ keep: true });
  }

  undo() {
    const { cell } = this;
    this.close();
    this.refuse("");
    this.focus.go(cell);
  }

  close({ keep = false } = {}) {
    if (this.cell && !keep) this.begun.remove(this.cell);
    else if (this.cell) this.begun.mark(this.cell);
    this.cell = null;
    this.following.disconnect();
    this.field.removeAttribute("aria-invalid");
    this.box.hidden = this.panel.hidden = true;
  }
}

/**
 * @param {number} n
 * @param {string} textContent
 */
function offerItem(n, textContent) {
  const item = make("li", { id: `offer-${n}`, textContent });
  item.setAttribute("role", "option");
  return item;
}
