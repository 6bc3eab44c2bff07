// Submitting a document and taking it back; how much is left of each and of the sheet.

import { answerOf } from "../core/codes.js";
import { fill } from "../core/sentences.js";
import { byId, elementOf, placeOf } from "../page/elements.js";
import { isJson, PATIENCE } from "../page/requests.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/queue.js").Edit} Edit */
/** @typedef {import("../core/queue.js").Store} Store */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
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
 * @property {string} name under which it keeps what was corrected and not submitted again
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
    for (const assignment of this.kept().filter((one) => this.marks.has(one))) {
      // Of a correction that is still to be saved the server knows nothing yet.
      if (this.isOpen(assignment) || saving.queue.edits.length) this.corrected.add(assignment);
      else this.keep(assignment, false);
    }
    editing.reopened = (assignment) => this.reopened(assignment);
    this.closing = ""; // the assignment whose submission is on its way by itself
    editing.isClosing = (assignment) => assignment === this.closing;
    focus.listeners.push(() => this.closeCorrected());
    this.busy = false;
    this.next = ""; // the assignment to submit as soon as its last choices are saved
    this.counting = 0;
    saving.rider = (edits) => this.rider(edits);
    this.rests = 0; // until when `s` does nothing, in milliseconds since the page was opened
    saving.acknowledged.push((edit, { states }) => {
      for (const [assignment, state] of Object.entries(states)) this.set(assignment, state);
      if (edit?.reopen && this.closing in states) this.crossed.add(this.closing);
      if (edit && !edit.restore && "submits" in config) this.submitComplete(Object.keys(states));
    });
    saving.changed.push((state) => {
      this.count();
      if (!this.next) return;
      if (state === "retrying") {
        refuse(words.waiting);
        this.next = "";
      } else if (state !== "saving") this.turn(this.next);
    });
    saving.changed.push((state) => {
      if (state === "saved") this.closeCorrected();
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

  /** @returns {string[]} the assignments that were corrected and are not known to be submitted again */
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
      if (repeat || this.busy || this.next || performance.now() < this.rests) return;
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
      this.keep(assignment, false);
    }
    this.cells.lock(assignment, !this.isOpen(assignment));
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

  // What was opened by a correction, is complete, saved and left by now is submitted again.
  closeCorrected() {
    const left = this.toClose().find((one) => one !== this.focus.cell.assignment);
    if (!left) return;
    this.corrected.delete(left);
    this.turn(left, true).then(() => this.closeCorrected());
  }

  // Who leaves the page leaves the document that has the focus too. What does not get through is tried when the sheet is
  // opened again.
  closeBehind() {
    for (const assignment of this.toClose()) {
      fetch(this.address("submit", assignment), { ...this.submission(assignment), keepalive: true }).catch(() => null);
    }
  }

  /** @returns {string[]} what was opened by a correction, is complete and saved */
  toClose() {
    if (this.busy || this.saving.queue.edits.length) return [];
    return [...this.corrected].filter((one) => this.isOpen(one) && !this.cells.left.get(one) && !this.isContested(one));
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
   * Where the study wants it: the last answer of the document that has the focus submits it.
   * @param {string[]} answered
   */
  submitComplete(answered) {
    const { assignment } = this.focus.cell;
    const isDone = !this.cells.left.get(assignment) && !this.focus.onward(this.focus.cell);
    if (!answered.includes(assignment) || !isDone) return;
    if (this.stateOf(assignment) === "started") this.next = assignment; // as soon as nothing is on its way
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
    this.next = "";
    const { queue } = this.saving;
    queue.adopt(); // what another tab has not got through belongs to the document too
    if (queue.waiting.length) {
      if (queue.state === "retrying") this.refuse(this.words.waiting);
      else {
        this.next = assignment;
        this.saving.flush();
      }
      return;
    }
    if (this.isContested(assignment)) return this.refuse(this.words.decideFirst);
    if (this.stateOf(assignment) === "withdrawn") return this.refuse(this.words.notYours);
    if (this.busy) return;
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
    if (loggedOut) return this.refuse(loggedOut);
    if (!answer) return this.refuse(this.words.notSubmitted);
    if (response?.status === 409) {
      // A correction of one's own may be there before the submission that it followed, which then shows something else.
      const { columns } = answer;
      if (taken || !columns || !this.correctedMeanwhile(assignment, crossed)) this.refused(assignment, answer);
      else this.saving.takeOver({ columns, states: {} });
      return;
    }
    if (stay || taken) {
      const { submittedAgain } = this.words;
      this.refuse(stay ? fill(submittedAgain, { row: this.cells.nameOf(assignment) }) : "", { calm: true });
      if (!stay) this.rests = performance.now() + REST;
      this.told(assignment, answer.state);
      if (stay) {
        this.correctedMeanwhile(assignment, crossed);
        return;
      }
      queue.release((edit) => edit.changes.some(([id]) => this.cells.get(id)?.assignment === assignment));
      return this.focus.back();
    }
    this.refuse("");
    this.told(assignment, answer.state);
    if (!this.correctedMeanwhile(assignment, crossed)) this.goOn(assignment, answer);
  }

  /**
   * The document that is submitted behind these edits, which are all that it waits for: `s` was pressed meanwhile, or the
   * study wants that its last answer submits it. A correction of a submitted one closes it again in the same request.
   * @param {Edit[]} edits
   * @returns {import("./saving.js").Rider | null}
   */
  rider(edits) {
    const assignment = this.next || this.completed(edits);
    if (!assignment || this.busy || this.isContested(assignment)) return null;
    if (!this.isOpen(assignment)) return null;
    return {
      assignment,
      seen: () => this.seen(assignment),
      heard: (answer) => {
        this.next = "";
        if (answer.message !== undefined) return () => this.refused(assignment, answer);
        const isCorrected = this.corrected.has(assignment);
        this.told(assignment, answer.state ?? "");
        return () => {
          if (this.correctedMeanwhile(assignment)) return;
          this.goOn(assignment, isCorrected ? {} : answer); // who corrects at the end of a sheet has heard of it
          const { submittedAgain } = this.words;
          this.refuse(isCorrected ? fill(submittedAgain, { row: this.cells.nameOf(assignment) }) : "", { calm: true });
        };
      },
    };
  }

  /**
   * @param {Edit[]} edits
   * @returns {string} the document that they complete, if the study wants that its last answer submits it
   */
  completed(edits) {
    if (!("submits" in this.config)) return "";
    const { assignment } = this.focus.cell;
    /** @param {Edit} edit */
    const isOf = ({ restore, changes }) =>
      !restore && changes.some(([id]) => this.cells.get(id)?.assignment === assignment);
    if (!edits.some(isOf) || this.cells.left.get(assignment) || this.focus.onward(this.focus.cell)) return "";
    return assignment;
  }

  /**
   * @param {string} assignment
   * @param {import("./saving.js").Submitted} answer
   */
  refused(assignment, { columns, open, message = "" }) {
    if (columns) this.saving.takeOver({ columns, states: {} });
    if (open) this.stillOpen.show(assignment, open, message);
    this.refuse(message);
  }

  /**
   * A document is submitted: to the next one, or to what the server says at the end of the sheet.
   * @param {string} assignment
   * @param {import("./saving.js").Submitted} answer
   */
  goOn(assignment, { done }) {
    this.rests = performance.now() + REST;
    const { documents } = this.cells;
    const at = documents.indexOf(assignment) + 1;
    // Behind the last one those are left that were passed over.
    const next = [...documents.slice(at), ...documents.slice(0, at)].find((one) => this.isOpen(one));
    this.focus.go(next ? this.focus.firstOf(next) : this.focus.cell);
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
