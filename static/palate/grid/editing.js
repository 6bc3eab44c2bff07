// Editing: every change of cells goes through here, whatever asked for it: it is painted, put on its way, and can be undone.

import { answerOf } from "../core/codes.js";
import { fill } from "../core/sentences.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/steps.js").Step} Step */
/** @typedef {import("../core/steps.js").Steps} Steps */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./cells.js").Wanted} Wanted */
/** @typedef {import("./checking.js").Checking} Checking */
/** @typedef {import("./saving.js").Saving} Saving */
/**
 * What a change did: the cells that changed, and those that were left out and why.
 * @typedef {object} Done
 * @property {Cell[]} changed
 * @property {Cell[]} off not asked
 * @property {Cell[]} locked submitted
 * @property {Cell[]} foreign no answer fits
 * @property {[cell: Cell, sentence: string][]} refused by a check of the scheme
 * @property {number} replaced how many of those that changed have another answer now
 * @property {string} word the answer, as a sentence says it
 */
/** @typedef {{cell: Cell, before: string, now: string}} Changed a cell with its codes */
/** @typedef {{cells: Cells, checking: Checking, saving: Saving, steps: Steps, words: Sentences, refuse: (sentence: string) => void}} Parts */

export class Editing {
  /** @param {Parts} parts */
  constructor({ cells, checking, saving, steps, words, refuse }) {
    this.cells = cells;
    this.checking = checking;
    this.saving = saving;
    this.steps = steps;
    this.words = words;
    this.refuse = refuse;
    /** @type {(assignment: string) => void} */
    this.reopened = () => {}; // a correction has opened a submitted document
    /** @type {((changes: Changed[]) => void)[]} */
    this.changed = []; // who is told of each change; of none, where a step was taken back or done again
    /** @type {(assignment: string) => boolean} */
    this.isClosing = () => false; // a submission is on its way: what is changed meanwhile corrects it
  }

  /**
   * Change cells as one step, line by line. "" clears; undefined stands where no answer fits. A change of a single cell opens a
   * submitted document again; one of many leaves out what is submitted.
   * @param {[cell: Cell, code: string | undefined][]} wanted
   * @param {{word?: string, seen?: string}} [how] word: the answer, as a sentence says it; seen: what stood in the cell when its
   *   answer was begun, if that was not now
   */
  change(wanted, { word = "", seen: begun } = {}) {
    /** @type {Done} */
    const left = { changed: [], off: [], locked: [], foreign: [], refused: [], replaced: 0, word };
    /** @type {Wanted[]} */
    let possible = [];
    /** @type {Cell[]} */
    const same = [];
    const corrected = wanted.length === 1 && this.cells.isLocked(wanted[0][0]) && this.cells.takesAnswers(wanted[0][0]);
    for (const [cell, code] of wanted) {
      if (this.cells.isLocked(cell) && !corrected) left.locked.push(cell);
      else if (code === undefined) left.foreign.push(cell);
      else if (cell.code === code) same.push(cell);
      else possible.push([cell, code]);
    }
    const refusals = this.checking.refusals(possible);
    left.refused = [...refusals];
    possible = possible.filter(([cell]) => !refusals.has(cell));
    this.refuse([...new Set(refusals.values())].join(" "));
    const seen = new Map(possible.map(([cell]) => [cell, begun ?? answerOf(cell.code)]));
    const { diff, unasked } = this.cells.apply(possible);
    left.off = possible.map(([cell]) => cell).filter((cell) => unasked.has(cell));
    const done = possible.filter(([cell]) => !unasked.has(cell));
    if (!done.length && (!same.length || corrected)) return left;
    if (corrected) this.reopened(done[0][0].assignment);
    left.changed = done.map(([cell]) => cell);
    left.replaced = done.filter(([cell, code]) => code && seen.get(cell)).length;
    /**
     * @param {Cell} cell
     * @param {string} code
     * @param {string} before
     * @returns {import("../core/queue.js").Change}
     */
    const sent = ({ id }, code, before) => [id, code, before];
    // A choice of what stands there already is sent too: somewhere else it may have been changed since.
    const key = this.saving.add(
      [
        ...done.map(([cell, code]) => sent(cell, code, seen.get(cell) ?? "")),
        ...same.map((cell) => sent(cell, cell.code, answerOf(cell.code))),
      ],
      { reopen: corrected || [...done.map(([cell]) => cell), ...same].some((cell) => this.isClosing(cell.assignment)) },
    );
    this.steps.push({ key, cells: diff });
    const changes = done.map(([cell, code]) => ({ cell, before: seen.get(cell) ?? "", now: code }));
    if (changes.length) for (const tell of this.changed) tell(changes);
    return left;
  }

  /**
   * What taking a step back, or doing it again, changes in the cells that are here still.
   * @param {Step} step
   * @param {boolean} back
   */
  turned(step, back) {
    return step.cells.flatMap(([id, before, after]) => {
      const cell = this.cells.get(id);
      return cell ? [{ cell, to: back ? before : after, from: back ? after : before }] : [];
    });
  }

  /**
   * The step's cells hold what it left in them, and those that it fills are asked, or it turns what switches them off.
   * @param {Step} step
   * @param {boolean} back
   */
  fits(step, back) {
    const wanted = this.turned(step, back);
    const ids = new Set(step.cells.map(([id]) => id));
    /** @param {Cell} cell */
    const isAsked = ({ assignment, column, off, question }) =>
      !off ||
      Object.keys(this.cells.palette[question].askUnless).some((above) =>
        ids.has(`c-${assignment}-${column}-${above}`),
      );
    const fitting = wanted.filter(
      ({ cell, from, to }) => answerOf(cell.code) === answerOf(from) && (!to || isAsked(cell)),
    );
    return wanted.length > 0 && fitting.length === wanted.length;
  }

  /**
   * The assignment that keeps a step waiting.
   * @param {Step} step
   */
  lockOf(step) {
    const here = step.cells.flatMap(([id]) => this.cells.get(id) ?? []);
    return here.find((cell) => this.cells.isLocked(cell))?.assignment;
  }

  /**
   * Take a step back, or do it again; gives the cell to go to. Null when its cells hold something else by now: nothing is touched.
   * @param {Step} step
   * @param {boolean} back
   */
  restore(step, back) {
    if (!this.fits(step, back)) return null;
    const wanted = this.turned(step, back).sort((a, b) => a.cell.line.y - b.cell.line.y || a.cell.x - b.cell.x);
    this.refuse("");
    this.cells.apply(wanted.map(({ cell, to }) => [cell, to]));
    this.saving.add(
      wanted.map(({ cell, to, from }) => [cell.id, to, answerOf(from)]),
      { restore: true, step: step.key, reopen: wanted.some(({ cell }) => this.isClosing(cell.assignment)) },
    );
    for (const tell of this.changed) tell([]);
    return wanted[0].cell;
  }

  /**
   * How many cells were filled, with how many answers in the place of others, and how many were cleared.
   * @param {Pick<Done, "changed"> & Partial<Done>} done
   */
  told({ changed, replaced = 0 }) {
    const cleared = changed.filter((cell) => !cell.code).length;
    const filled = changed.length - cleared;
    const said = [];
    if (filled || !cleared) said.push(fill(this.words.filled, { n: filled }));
    if (replaced) said.push(fill(this.words.replaced, { n: replaced }));
    if (cleared) said.push(fill(this.words.cleared, { n: cleared }));
    return said.join(" ");
  }

  /**
   * Say how many cells were filled, and which were not.
   * @param {Done} done
   * @param {boolean} [isSaid] also where none was left out
   */
  report(done, isSaid = false) {
    const { off, locked, foreign, refused, word } = done;
    const left = [...new Set(refused.map(([, sentence]) => sentence))];
    if (off.length) left.push(fill(this.words.leftOff, { n: off.length }));
    if (locked.length) left.push(fill(this.words.leftLocked, { n: locked.length }));
    if (foreign.length) left.push(fill(this.words.leftForeign, { option: word, n: foreign.length }));
    if (left.length || isSaid) this.refuse([this.told(done), ...left].join(" "));
  }
}
