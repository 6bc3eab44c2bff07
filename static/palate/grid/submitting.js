// Submitting a document and taking it back; how much is left of each and of the sheet.

import { answerOf } from "../core/codes.js";
import { fill } from "../core/sentences.js";
import { byId, elementOf, isWriting, placeOf } from "../page/elements.js";
import { isJson, PATIENCE } from "../page/requests.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/queue.js").Edit} Edit */
/** @typedef {import("../core/queue.js").Store} Store */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./hints.js").Hints} Hints */
/** @typedef {import("./saving.js").Saving} Saving */
/** @typedef {import("./sheet_done.js").SheetDone} SheetDone */
/** @typedef {import("./still_open.js").StillOpen} StillOpen */
/** @typedef {{state: string, shown: string, elements: HTMLElement[]}} Mark of a document; shown: the state that its elements show */
/**
 * @typedef {object} Parts
 * @property {Cells} cells
 * @property {Focus} focus
 * @property {Editing} editing
 * @property {Saving} saving
 * @property {StillOpen} stillOpen
 * @property {SheetDone} sheetDone
 * @property {Hints} hints
 * @property {DOMStringMap} config
 * @property {Sentences} words
 * @property {(sentence: string, how?: {calm?: boolean}) => void} refuse
 * @property {HTMLElement} panel of the document, which has the buttons
 * @property {Store} store
 * @property {string} name under which it keeps what is to be submitted, as soon as it is left
 */

const REST = 1000; // ms after a submission in which `s` does nothing

export class Submitting {
  /** @param {Parts} parts */
  constructor({
    cells,
    focus,
    editing,
    saving,
    stillOpen,
    sheetDone,
    hints,
    config,
    words,
    refuse,
    panel,
    store,
    name,
  }) {
    this.cells = cells;
    this.focus = focus;
    this.saving = saving;
    this.stillOpen = stillOpen;
    this.sheetDone = sheetDone;
    this.hints = hints;
    this.config = config;
    this.words = words;
    this.refuse = refuse;
    this.panel = panel;
    this.store = store;
    this.name = name;
    /** @type {Map<string, Mark>} */
    this.marks = new Map();
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (cells.tables.querySelectorAll(".mark"))) {
      const { mark: assignment = "", state = "" } = element.dataset;
      const mark = this.marks.get(assignment) ?? { state, shown: "", elements: [] };
      mark.elements.push(element);
      this.marks.set(assignment, mark);
      if (state === "submitted") cells.submitted.add(assignment);
    }
    /** @type {Set<string>} */
    this.crossed = new Set(); // corrected while their submission was on its way: which came first is the server's to say
    /** @type {Set<string>} */
    this.corrected = new Set(); // opened again by a correction: submitted again as soon as they are left
    /** @type {Set<string>} */
    this.toLeave = new Set(); // complete but for what is optional, where the last answer submits: submitted once they are left
    const kept = this.kept().filter((one) => this.marks.has(one));
    this.leftBehind = new Set(kept); // by an earlier page, or for the first time: none is said to be submitted again
    for (const assignment of kept) {
      // Of a correction that is still to be saved the server knows nothing yet.
      if (this.isOpen(assignment) || saving.queue.edits.length) this.corrected.add(assignment);
      else this.keep(assignment, false);
    }
    editing.reopened = (assignment) => this.reopened(assignment);
    /** @type {(assignment: string) => void} */
    this.submitted = () => {}; // a document is submitted
    this.closing = ""; // the assignment whose submission is on its way by itself
    editing.isClosing = (assignment) => assignment === this.closing;
    focus.listeners.push(() => this.closeLeft());
    this.busy = false;
    /** @type {string[]} */
    this.next = []; // the assignments to submit as soon as their last choices are saved, in their order
    /** @type {Map<string, {from: Cell, to: Cell}>} */
    this.going = new Map(); // assignment -> where it was left, before the server has said that it is submitted
    focus.beyond = (cell) => this.beyond(cell);
    this.counting = 0;
    saving.rider = (edits) => this.rider(edits);
    this.rests = 0; // until when `s` does nothing, in milliseconds since the page was opened
    saving.acknowledged.push((edit, { states }) => {
      for (const [assignment, state] of Object.entries(states)) this.set(assignment, state);
      if (edit?.reopen && this.closing in states) this.crossed.add(this.closing);
      if (edit) this.submitComplete(edit);
    });
    saving.changed.push((state) => {
      this.count();
      if (!this.next.length) return;
      if (state === "retrying") {
        for (const assignment of this.next.splice(0)) this.comeBack(assignment);
        refuse(words.waiting);
      } else if (state !== "saving") this.turn(this.next[0]);
    });
    saving.changed.push((state) => {
      if (state === "saved") this.closeLeft();
    });
    panel.addEventListener("click", (event) => {
      if (event.detail < 2 && placeOf(event).closest("[data-submit], [data-reopen]")) this.turn(focus.cell.assignment);
    });
    panel.addEventListener("shown", () => this.buttons());
    document.addEventListener("keydown", ({ key }) => {
      if (key.toLowerCase() !== "s") this.rests = 0;
    });
    window.addEventListener("pagehide", () => this.closeBehind());
  }

  /** @returns {string[]} the assignments that are left with the page and are not known to be submitted */
  kept() {
    try {
      const found = JSON.parse(this.store.read(this.name) ?? "[]");
      return Array.isArray(found) ? found : [];
    } catch {
      return []; // somebody else's entry
    }
  }

  /**
   * @param {string} assignment
   * @param {boolean} isOpen whether it waits to be submitted again
   */
  keep(assignment, isOpen) {
    const before = this.kept();
    const others = before.filter((one) => one !== assignment);
    if (!isOpen && others.length === before.length) return;
    const now = isOpen ? [...others, assignment] : others;
    if (now.length) this.store.write(this.name, JSON.stringify(now));
    else this.store.remove(this.name);
  }

  /** @param {Keys} keys */
  keys(keys) {
    keys.add("s", ({ repeat }) => {
      // Held down or pressed twice it is one submission: the focus goes on, and the second would be about another document.
      if (repeat || performance.now() < this.rests) return;
      this.turn(this.focus.cell.assignment);
    });
  }

  /** @param {string} assignment */
  stateOf(assignment) {
    return this.marks.get(assignment)?.state ?? "";
  }

  /**
   * @param {string} assignment
   * @param {string} state
   */
  set(assignment, state) {
    const mark = this.marks.get(assignment);
    if (!mark || mark.state === state) return;
    mark.state = state;
    if (state === "submitted") this.cells.submitted.add(assignment);
    else this.cells.submitted.delete(assignment);
    if (!this.isOpen(assignment)) {
      this.corrected.delete(assignment);
      this.toLeave.delete(assignment);
      this.keep(assignment, false);
      this.forget(assignment);
    }
    this.cells.lock(assignment, !this.isOpen(assignment));
    if (state === "submitted") this.submitted(assignment);
    this.count();
  }

  /**
   * A correction opens a submitted document: the server does so with the change itself.
   * @param {string} assignment
   */
  reopened(assignment) {
    this.set(assignment, "started");
    this.corrected.add(assignment);
    this.keep(assignment, true);
    this.refuse(
      fill(this.hints.isText() ? this.words.correctedTyped : this.words.corrected, {
        row: this.cells.nameOf(assignment),
      }),
      { calm: true },
    );
  }

  /**
   * What was chosen while its document was being submitted corrects it: it opens the document again.
   * @param {string} assignment that is submitted by now
   * @param {boolean} [crossed] whether one was acknowledged while the submission was on its way
   * @returns {boolean} whether there is such a change
   */
  correctedMeanwhile(assignment, crossed = false) {
    const { queue } = this.saving;
    const later = queue.waiting.filter(({ changes }) =>
      changes.some(([id]) => this.cells.get(id)?.assignment === assignment),
    );
    for (const edit of later) {
      edit.reopen = true;
      queue.keep(edit);
    }
    if (!later.length && !crossed) return false;
    this.reopened(assignment);
    return true;
  }

  // What was opened by a correction, is complete, saved and left by now is submitted again; what waited to be left is submitted.
  closeLeft() {
    const left = this.toClose().find((one) => one !== this.focus.cell.assignment);
    if (!left) return;
    this.corrected.delete(left);
    if (this.toLeave.delete(left)) this.leftBehind.add(left);
    this.turn(left, true).then(() => this.closeLeft());
  }

  // Who leaves the page leaves the document that has the focus too, and those whose submission waits for its turn. What does
  // not get through is tried when the sheet is opened again.
  closeBehind() {
    const waiting = [this.closing, ...this.next].filter((one) => one && this.isOpen(one) && this.isDone(one));
    for (const assignment of waiting) this.keep(assignment, true);
    const isSaved = !this.saving.queue.edits.length;
    const turned = isSaved ? this.next.filter((one) => waiting.includes(one) && !this.isContested(one)) : [];
    for (const assignment of new Set([...this.toClose(), ...turned])) {
      fetch(this.address("submit", assignment), { ...this.submission(assignment), keepalive: true }).catch(() => null);
    }
  }

  /** @returns {string[]} what was opened by a correction or waits to be left, is complete and saved */
  toClose() {
    if (this.busy || this.saving.queue.edits.length) return [];
    return [...this.corrected, ...this.toLeave].filter(
      (one) => this.isOpen(one) && !this.going.has(one) && !this.cells.left.get(one) && !this.isContested(one),
    );
  }

  /** @param {string} assignment */
  isOpen(assignment) {
    return !["submitted", "withdrawn"].includes(this.stateOf(assignment));
  }

  /**
   * @param {"submit" | "reopen"} what
   * @param {string} assignment
   */
  address(what, assignment) {
    return (this.config[what] ?? "").replace("/0/", `/${assignment}/`);
  }

  /**
   * @param {string} assignment
   * @returns {RequestInit}
   */
  submission(assignment) {
    return {
      method: "POST",
      body: new URLSearchParams({ seen: JSON.stringify(this.seen(assignment)) }),
      headers: this.saving.headers(),
    };
  }

  /**
   * What an edit has completed is submitted as soon as nothing is on its way, where the study wants it.
   * @param {Edit} edit
   */
  submitComplete(edit) {
    const assignment = this.completed([edit]);
    if (this.stateOf(assignment) === "started" && !this.next.includes(assignment)) this.next.push(assignment);
    // Who may still make a remark is not cut off.
    const complete = this.completed([edit], (one) => this.isDone(one) && !this.isFull(one));
    if (this.stateOf(complete) !== "started" || this.corrected.has(complete)) return;
    this.toLeave.add(complete);
    this.keep(complete, true);
  }

  /**
   * Nothing waits in it.
   * @param {string} assignment
   */
  isDone(assignment) {
    if (this.cells.left.get(assignment)) return false;
    return !this.cells.partsOf(assignment).some((cell) => this.focus.isWaiting(cell));
  }

  /**
   * Nor could anything more be answered in it.
   * @param {string} assignment
   */
  isFull(assignment) {
    return this.isDone(assignment) && !this.cells.partsOf(assignment).some((cell) => this.cells.isOpen(cell));
  }

  /** @param {string} assignment */
  isContested(assignment) {
    return [...this.saving.conflicts.keys()].some((id) => this.cells.get(id)?.assignment === assignment);
  }

  /**
   * Submit a document, or take it back when it is submitted.
   * @param {string} assignment
   * @param {boolean} [stay] the focus stays where it is
   */
  async turn(assignment, stay = false) {
    this.forget(assignment);
    const { queue } = this.saving;
    queue.adopt(); // what another tab has not got through belongs to the document too
    if (queue.waiting.length && queue.state === "retrying") return this.failed(assignment, this.words.waiting);
    if (this.isContested(assignment)) return this.failed(assignment, this.words.decideFirst);
    if (this.stateOf(assignment) === "withdrawn") return this.failed(assignment, this.words.notYours);
    const from = this.focus.cell;
    // Whoever goes on means the next document, and does not wait for the server's answer.
    const leaves = !stay && from.assignment === assignment && !this.going.has(assignment);
    if (leaves && this.isOpen(assignment) && this.isDone(assignment)) this.focus.go(this.leave(from));
    if (queue.waiting.length || this.busy) {
      this.next.push(assignment);
      if (!this.busy) this.saving.flush();
      return;
    }
    this.busy = true;
    const taken = this.stateOf(assignment) === "submitted";
    this.closing = taken ? "" : assignment;
    const request = taken ? { method: "POST", headers: this.saving.headers() } : this.submission(assignment);
    const response = await fetch(this.address(taken ? "reopen" : "submit", assignment), {
      ...request,
      signal: AbortSignal.timeout(PATIENCE),
    }).catch(() => null);
    // What is chosen before the answer is read is chosen while the document is being submitted.
    const answer = response && isJson(response) ? await response.json().catch(() => null) : null;
    this.busy = false;
    this.closing = "";
    const crossed = this.crossed.delete(assignment);
    const loggedOut = response ? this.saving.withoutLogin(response) : "";
    if (loggedOut || !answer) this.failed(assignment, loggedOut || this.words.notSubmitted);
    else if (response?.status === 409) {
      // A correction of one's own may be there before the submission that it followed, which then shows something else.
      const { columns } = answer;
      if (taken || !columns || !this.correctedMeanwhile(assignment, crossed)) this.refused(assignment, answer);
      else this.saving.takeOver({ columns, states: {} });
    } else if (stay) {
      const { nowSubmitted, submittedAgain } = this.words;
      const isFirst = this.leftBehind.delete(assignment);
      const sentence = isFirst ? nowSubmitted : submittedAgain;
      this.refuse(fill(sentence, { row: this.cells.nameOf(assignment) }), { calm: true });
      this.told(assignment, answer.state);
      if (!this.correctedMeanwhile(assignment, crossed) && isFirst && answer.done) this.sheetDone.show(answer.done);
    } else if (taken) {
      this.refuse("", { calm: true });
      this.rests = performance.now() + REST;
      this.told(assignment, answer.state);
      queue.release((edit) => edit.changes.some(([id]) => this.cells.get(id)?.assignment === assignment));
      if (!isWriting()) this.focus.back();
    } else {
      this.told(assignment, answer.state);
      if (!this.correctedMeanwhile(assignment, crossed)) this.goOn(assignment, from, answer);
    }
    if (this.next.length && !queue.waiting.length) this.turn(this.next[0]);
  }

  /** @param {string} assignment that is not to be submitted any more, or is on its way */
  forget(assignment) {
    this.next = this.next.filter((one) => one !== assignment);
  }

  /**
   * @param {string} assignment that could not be submitted
   * @param {string} sentence
   */
  failed(assignment, sentence) {
    this.comeBack(assignment);
    this.refuse(sentence);
  }

  // --- where the focus goes -------------------------------------------------------------------------------------------

  /**
   * Behind a document that is submitted: the next one, and behind the last one those that were passed over.
   * @param {Cell} from
   * @returns {Cell | null}
   */
  following({ assignment }) {
    const { documents } = this.cells;
    const at = documents.indexOf(assignment);
    const others = [...documents.slice(at + 1), ...documents.slice(0, at)];
    const next = others.find((one) => this.isOpen(one) && !this.going.has(one));
    return next ? this.focus.firstOf(next) : null;
  }

  /**
   * The cell to which a document is left that is about to be submitted.
   * @param {Cell} from
   */
  leave(from) {
    const to = this.following(from);
    if (to) {
      this.going.set(from.assignment, { from, to });
      this.rests = performance.now() + REST;
    }
    return to;
  }

  /**
   * Where the study wants it, the last answer of a document submits it, and leads out of it.
   * @param {Cell} cell
   */
  beyond(cell) {
    const isSubmitted = "submits" in this.config && this.isOpen(cell.assignment) && this.isFull(cell.assignment);
    return isSubmitted ? this.leave(cell) : null;
  }

  /**
   * It is not submitted: whoever has not gone on from where the focus was put is led back.
   * @param {string} assignment
   */
  comeBack(assignment) {
    const went = this.going.get(assignment);
    this.going.delete(assignment);
    this.rests = 0;
    if (went && this.focus.cell === went.to && !isWriting()) this.focus.go(went.from);
  }

  /**
   * The document that is submitted behind these edits, which are all that it waits for: `s` was pressed meanwhile, or the
   * study wants that its last answer submits it. A correction of a submitted one closes it again in the same request.
   * @param {Edit[]} edits
   * @returns {import("./saving.js").Rider | null}
   */
  rider(edits) {
    const assignment = this.next[0] || this.completed(edits);
    if (!assignment || this.busy || this.isContested(assignment)) return null;
    if (!this.isOpen(assignment)) return null;
    const from = this.focus.cell;
    return {
      assignment,
      seen: () => this.seen(assignment),
      heard: (answer) => {
        this.forget(assignment);
        if (answer.message !== undefined) return () => this.refused(assignment, answer);
        const isCorrected = this.corrected.has(assignment);
        this.told(assignment, answer.state ?? "");
        return () => {
          if (this.correctedMeanwhile(assignment)) return;
          this.goOn(assignment, from, isCorrected ? {} : answer); // who corrects at the end of a sheet has heard of it
          const { submittedAgain } = this.words;
          if (isCorrected) this.refuse(fill(submittedAgain, { row: this.cells.nameOf(assignment) }), { calm: true });
        };
      },
    };
  }

  /**
   * @param {Edit[]} edits
   * @param {(assignment: string) => boolean} [isComplete]
   * @returns {string} the document that they complete, if the study wants that its last answer submits it
   */
  completed(edits, isComplete = (one) => this.isFull(one)) {
    if (!("submits" in this.config)) return "";
    const { assignment: here } = this.focus.cell;
    for (const { restore, changes } of edits) {
      const touched = new Set(changes.map(([id]) => this.cells.get(id)?.assignment ?? ""));
      // What fills cells of many documents submits the one that has the focus alone.
      const [assignment] = touched.size === 1 ? touched : [...touched].filter((one) => one === here);
      if (!restore && assignment && isComplete(assignment)) return assignment;
    }
    return "";
  }

  /**
   * @param {string} assignment
   * @param {import("./saving.js").Submitted} answer
   */
  refused(assignment, { columns, open, message = "" }) {
    this.comeBack(assignment);
    if (columns) this.saving.takeOver({ columns, states: {} });
    if (open) this.stillOpen.show(assignment, open, message);
    this.refuse(message);
  }

  /**
   * A document is submitted: to the next one, if it has not been left, or to what the server says at the end of the sheet.
   * @param {string} assignment
   * @param {Cell} from which cell had the focus then
   * @param {import("./saving.js").Submitted} answer
   */
  goOn(assignment, from, { done }) {
    const isLeft = this.going.delete(assignment);
    // Whoever has gone elsewhere meanwhile, or is writing, is left there.
    if (!isLeft && from.assignment === assignment && this.focus.cell === from && !isWriting()) {
      this.rests = performance.now() + REST;
      this.refuse("");
      this.focus.go(this.following(from) || from);
    }
    if (done) this.sheetDone.show(done);
  }

  /**
   * The server has said what a document is by now; other tabs hear of it.
   * @param {string} assignment
   * @param {string} state
   */
  told(assignment, state) {
    this.set(assignment, state);
    this.saving.others?.postMessage({ columns: [], states: { [assignment]: state } });
  }

  /**
   * The answers that this page shows of a document: [[column, question, code], …].
   * @param {string} assignment
   */
  seen(assignment) {
    return this.cells.order
      .filter((cell) => cell.assignment === assignment && cell.code)
      .map((cell) => [Number(cell.column), Number(cell.question), answerOf(cell.code)]);
  }

  // --- counts ---------------------------------------------------------------------------------------------------------

  // Once a frame, however many cells have changed.
  count() {
    this.counting ||= requestAnimationFrame(() => {
      this.counting = 0;
      this.draw();
    });
  }

  draw() {
    const { asked, open, left } = this.cells;
    const marks = [...this.marks.values()];
    const submitted = marks.filter(({ state }) => state === "submitted");
    const waiting = marks.filter(({ state }) => state !== "submitted" && state !== "withdrawn").length;
    const isComplete = !open && waiting > 0;
    byId("cells-left").textContent = isComplete
      ? fill(this.words.toSubmit, { n: waiting })
      : fill(this.words.left, { open, all: asked });
    const progress = elementOf("sheet-progress", HTMLProgressElement);
    progress.max = asked || 1;
    progress.value = asked - open;
    byId("n-submitted").textContent = String(submitted.length + Number(this.config.elsewhere ?? 0));
    for (const [assignment, mark] of this.marks) {
      const shown = mark.state !== "submitted" && !left.get(assignment) ? "ready" : mark.state;
      if (mark.shown === shown) continue;
      mark.shown = shown;
      for (const element of mark.elements) {
        element.dataset.state = shown;
        element.title = this.words[shown];
      }
    }
    this.buttons();
  }

  buttons() {
    if (!this.focus.now) return;
    const submitted = this.stateOf(this.focus.cell.assignment) === "submitted";
    /**
     * @param {string} selector
     * @param {boolean} hidden
     */
    const hide = (selector, hidden) => {
      for (const button of this.panel.querySelectorAll(selector)) button.toggleAttribute("hidden", hidden);
    };
    hide("[data-submit]", submitted);
    hide("[data-reopen]", !submitted);
  }
}
