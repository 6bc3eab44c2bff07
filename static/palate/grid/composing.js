// Composing: answers that have parts, lists of records and transitions, are put together in an editor below the tables, while
// the document stays in sight beside it. What is half done is kept in the browser with each key, so that a reload, a crash or
// a log-out loses none of it. Ctrl+Enter takes it as one step, Escape leaves the cell as it was.

import { answerOf, valueCode } from "../core/codes.js";
import { Trail } from "../core/trail.js";
import { writtenValue } from "../core/values.js";
import { hasDialog, make, placeOf } from "../page/elements.js";
import { Begun } from "./begun.js";

/** @typedef {import("../core/queue.js").Store} Store */
/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/values.js").Read} Read */
/** @typedef {import("../core/values.js").Value} Value */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/**
 * An editor of one kind of answer. It draws itself from a draft, which is plain data.
 * @typedef {object} Editor
 * @property {HTMLElement} element
 * @property {string} keys what its keys do, in a sentence
 * @property {(cell: Cell, value: Value | undefined, isBegun: boolean) => unknown} begin the draft of an answer; `isBegun`: a letter follows
 * @property {(cell: Cell, draft: unknown) => boolean} fits it is a draft of this editor
 * @property {(cell: Cell, draft: unknown) => void} draw
 * @property {(cell: Cell, draft: unknown) => Read | null} read
 * @property {(cell: Cell, draft: unknown) => void} refused what cannot be taken is shown at its place
 * @property {() => void} focus
 * @property {() => void} [left] it is closed
 */
/**
 * @typedef {object} Parts
 * @property {HTMLElement} tables
 * @property {Cells} cells
 * @property {Focus} focus
 * @property {Editing} editing
 * @property {Sentences} words
 * @property {(sentence: string) => void} refuse
 * @property {Store} store
 * @property {string} name of the entries in the store
 */

export class Composing {
  /** @param {Parts} parts */
  constructor({ tables, cells, focus, editing, words, refuse, store, name }) {
    this.tables = tables;
    this.cells = cells;
    this.focus = focus;
    this.editing = editing;
    this.words = words;
    this.refuse = refuse;
    this.begun = new Begun({ cells, store, name });
    /** @type {Map<string, Editor>} */
    this.editors = new Map(); // kind of answer -> its editor
    /** @type {(cell: Cell, text: string, seen: string) => void} */
    this.write = () => {}; // the same answer in its text form
    /** @type {Cell | null} */
    this.cell = null; // the one whose answer is put together
    /** @type {unknown} */
    this.draft = null;
    /** @type {Trail<unknown>} */
    this.trail = new Trail();
    this.seen = ""; // what stood in the cell when it was begun
    this.isChanged = false; // since the editor was opened
    this.title = make("h2", { id: "composing-title" });
    this.note = make("div", { className: "both" });
    this.place = make("div", { className: "body" });
    this.said = make("p", { className: "told error", role: "alert" });
    this.keys = make("p", { className: "quiet keys-line", id: "composing-keys" });
    const buttons = make(
      "p",
      { className: "buttons" },
      this.button(words.take, "Ctrl+Enter", () => this.take(), "primary"),
      this.button(words.leave, "Esc", () => this.cancel()),
      this.button(words.asText, "F2", () => this.toText()),
    );
    this.box = make("section", { className: "composing", role: "group", hidden: true });
    this.box.setAttribute("aria-labelledby", "composing-title");
    this.box.setAttribute("aria-describedby", "composing-keys");
    this.box.append(make("header", {}, this.title, this.note), this.place, this.said, this.keys, buttons);
    tables.after(this.box);
    this.begun.changed = (cell) => {
      if (cell !== this.cell || this.isChanged) return;
      this.quit();
      this.focus.go(cell);
    };
    this.box.addEventListener("keydown", (event) => this.press(event));
    // A click on what takes no keys leaves them where they are.
    this.box.addEventListener("mousedown", (event) => {
      if (!placeOf(event).closest("input, textarea, button")) event.preventDefault();
    });
    tables.addEventListener("focusin", (event) => {
      if (this.cell && placeOf(event) !== this.cell.td) this.quit();
    });
    // From the document, which is read beside it, Escape leads back.
    document.addEventListener(
      "keydown",
      (event) => {
        if (!this.cell || event.key !== "Escape" || hasDialog()) return;
        if (this.box.contains(placeOf(event)) || tables.contains(placeOf(event))) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        this.editor.focus();
      },
      { capture: true },
    );
  }

  /**
   * @param {string} label
   * @param {string} key
   * @param {() => void} action
   * @param {string} [className]
   */
  button(label, key, action, className = "") {
    const button = make("button", { type: "button", className }, `${label} `, make("kbd", { textContent: key }));
    button.addEventListener("click", action);
    return button;
  }

  /** @param {Cell} cell */
  takes(cell) {
    return this.editors.has(this.cells.spec(cell).kind);
  }

  /** The editor of the cell that is open. */
  get editor() {
    return this.editorOf(/** @type {Cell} */ (this.cell));
  }

  /** @param {Cell} cell */
  editorOf(cell) {
    return /** @type {Editor} */ (this.editors.get(this.cells.spec(cell).kind));
  }

  // What an earlier visit left half done is put before its person again.
  start() {
    const left = this.begun.start();
    const cell = left.find((one) => this.takes(one) && !one.off && this.cells.takesAnswers(one) && this.kept(one));
    if (!cell) return;
    this.focus.go(cell);
    this.open(cell);
  }

  /**
   * What was left half done in a cell; undefined where it is nothing that its editor knows.
   * @param {Cell} cell
   * @returns {{draft: unknown, seen: string} | undefined}
   */
  kept(cell) {
    try {
      const { text, seen } = this.begun.read(cell) ?? { text: "null", seen: "" };
      const draft = JSON.parse(text);
      return draft && this.editorOf(cell).fits(cell, draft) ? { draft, seen } : undefined;
    } catch {
      return undefined; // somebody else's entry
    }
  }

  // --- how it begins --------------------------------------------------------------------------------------------------

  /**
   * @param {Cell} cell
   * @param {boolean} [isBegun] a letter has been typed, which comes into the field that has the focus by then
   */
  open(cell, isBegun = false) {
    if (this.cell === cell) {
      this.editor.focus();
      return;
    }
    const mine = this.editing.saving.conflicts.get(cell.id);
    const kept = this.kept(cell);
    const editor = this.editorOf(cell);
    this.cell = cell;
    this.trail = new Trail();
    this.seen = kept?.seen ?? answerOf(cell.code);
    this.isChanged = false;
    this.draft = kept?.draft ?? editor.begin(cell, this.cells.value(mine ?? cell.code), isBegun);
    this.title.textContent = this.cells.title(cell);
    this.keys.textContent = editor.keys;
    this.place.replaceChildren(editor.element);
    this.showBoth(mine === undefined ? "" : cell.code);
    this.say(kept === undefined ? "" : this.words.wasKept, { calm: true });
    this.refuse("");
    this.box.hidden = false;
    editor.draw(cell, this.draft);
    editor.focus();
    this.focus.reveal(cell);
  }

  /**
   * Where the cell has two answers, the one that is saved stands above the editor, which has the other one.
   * @param {string} theirs its code; "" where there is one answer
   */
  showBoth(theirs) {
    this.note.hidden = !theirs;
    if (!theirs || !this.cell) return;
    const { cell } = this;
    const other = make("button", { type: "button", textContent: this.words.takeTheirs });
    other.addEventListener("click", () => {
      this.change(this.editorOf(cell).begin(cell, this.cells.value(theirs), false));
      this.editor.focus();
    });
    const saved = make("span", {}, this.words.conflictTheirs, this.cells.inEntries(cell, theirs));
    this.note.replaceChildren(saved, this.words.mineBelow, other);
  }

  // --- while it lasts -------------------------------------------------------------------------------------------------

  /**
   * The draft is another one now.
   * @param {unknown} draft
   * @param {{kind?: string, isDrawn?: boolean}} [how] `kind` of a change that goes on with the one before; `isDrawn` already
   */
  change(draft, { kind = "", isDrawn = false } = {}) {
    if (!this.cell) return;
    this.trail.keep(this.draft, kind);
    this.put(draft, isDrawn);
  }

  /**
   * @param {unknown} draft
   * @param {boolean} isDrawn
   */
  put(draft, isDrawn) {
    const { cell } = this;
    if (!cell) return;
    this.draft = draft;
    this.isChanged = true;
    this.begun.write(cell, { text: JSON.stringify(draft), seen: this.seen });
    this.say("");
    if (!isDrawn) this.editor.draw(cell, draft);
    this.tables.dispatchEvent(new CustomEvent("palate:activity", { bubbles: true }));
  }

  /**
   * @param {string} sentence
   * @param {{calm?: boolean}} [how] `calm`: nothing is wrong
   */
  say(sentence, { calm = false } = {}) {
    this.said.classList.toggle("error", !calm);
    this.said.role = calm ? "status" : "alert";
    this.said.textContent = sentence;
  }

  /** @param {KeyboardEvent} event that the editor has not used */
  press(event) {
    event.stopPropagation(); // the grid's keys are letters here
    if (event.defaultPrevented || event.isComposing) return;
    const { key, shiftKey } = event;
    const ctrl = event.ctrlKey || event.metaKey;
    const letter = key.toLowerCase();
    if (key === "Escape") this.cancel();
    else if (key === "Enter" && ctrl) this.take(shiftKey ? -1 : 1);
    else if (key === "F2") this.toText();
    else if (ctrl && (letter === "z" || letter === "y")) this.turn(letter === "z" && !shiftKey);
    else return;
    event.preventDefault();
  }

  /** @param {boolean} back */
  turn(back) {
    const draft = this.trail.turn(this.draft, back);
    if (draft === null) return;
    this.put(draft, false);
    this.editor.focus();
  }

  // --- how it ends ----------------------------------------------------------------------------------------------------

  /**
   * It goes into the cell, if it is an answer.
   * @param {1 | -1} step down or up from there
   */
  take(step = 1) {
    const { cell } = this;
    if (!cell) return;
    if (!this.cells.takesAnswers(cell)) {
      this.say(this.words.locked);
      return;
    }
    const read = this.editor.read(cell, this.draft);
    const why = this.refusal(cell, read);
    if (why) {
      this.say(why);
      this.editor.refused(cell, this.draft);
      return;
    }
    this.close();
    this.record(cell, read);
    this.focus.go(cell);
    this.focus.go(this.focus.afterTyped(cell, step));
  }

  /**
   * Why it is no answer, or which check of the scheme refuses it; "" for neither.
   * @param {Cell} cell
   * @param {Read | null} read
   */
  refusal(cell, read) {
    if (read && "refused" in read) return read.refused;
    return this.editing.checking.refusals([[cell, codeOf(read)]]).get(cell) ?? "";
  }

  /**
   * @param {Cell} cell
   * @param {Read | null} read
   */
  record(cell, read) {
    const code = codeOf(read);
    // What stands there already decides between two answers.
    if (code !== cell.code || this.editing.saving.conflicts.has(cell.id))
      this.editing.change([[cell, code]], { seen: this.seen });
  }

  // Somebody went elsewhere in the tables: what was changed here and is an answer is taken; what is none, or what only an
  // earlier visit has begun, is kept for later.
  quit() {
    const { cell, draft } = this;
    if (!cell) return;
    if (!this.isChanged) return this.close({ keep: true });
    const read = this.editorOf(cell).read(cell, draft);
    const refused = this.refusal(cell, read);
    this.close({ keep: refused !== "" });
    if (refused) this.refuse(`${refused} ${this.words.keptForLater}`);
    else this.record(cell, read);
  }

  cancel() {
    const { cell } = this;
    this.close();
    this.refuse("");
    this.focus.go(cell);
  }

  // The same answer as text, in which it can be pasted or written as a whole.
  toText() {
    const { cell } = this;
    if (!cell) return;
    const read = this.editor.read(cell, this.draft);
    if (read && "refused" in read) {
      this.say(read.refused);
      this.editor.refused(cell, this.draft);
      return;
    }
    const text = read ? writtenValue(this.cells.spec(cell), read.value) : "";
    this.close();
    this.focus.go(cell);
    this.write(cell, text, this.seen);
  }

  close({ keep = false } = {}) {
    if (this.cell && !keep) this.begun.remove(this.cell);
    else if (this.cell) this.begun.mark(this.cell);
    if (this.cell) this.editor.left?.();
    this.cell = null;
    this.box.hidden = true;
    this.place.replaceChildren();
  }
}

/** @param {Read | null} read */
const codeOf = (read) => (read && "value" in read ? valueCode(read.value) : "");
