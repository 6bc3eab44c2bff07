// Undo and redo: by keys and buttons, and in words where a step cannot be taken.

import { fill } from "../core/sentences.js";
import { byId } from "../page/elements.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/steps.js").Steps} Steps */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./submitting.js").Submitting} Submitting */
/**
 * @typedef {object} Parts
 * @property {Cells} cells
 * @property {Focus} focus
 * @property {Steps} steps
 * @property {Editing} editing
 * @property {Submitting} submitting
 * @property {Sentences} words
 * @property {(sentence: string) => void} refuse
 * @property {(back: boolean, cell: import("./cells.js").Cell, n: number) => void} turned a step was taken back, or done again: its first cell, and how many it has
 */

export class Undo {
  /** @param {Parts} parts */
  constructor({ cells, focus, steps, editing, submitting, words, refuse, turned }) {
    this.cells = cells;
    this.focus = focus;
    this.steps = steps;
    this.editing = editing;
    this.submitting = submitting;
    this.words = words;
    this.refuse = refuse;
    this.turned = turned;
    byId("undo").addEventListener("click", () => this.turn(true));
    byId("redo").addEventListener("click", () => this.turn(false));
    window.addEventListener("storage", ({ key }) => {
      if (key === steps.name) steps.read(); // another tab has taken a step
    });
    editing.saving.acknowledged.push((edit, answer) => {
      if (!edit || !("refused" in answer)) return;
      if (edit.restore && (answer.refused.length || answer.conflicts.length)) {
        // Without columns it is about what is not this person's any more, and the server has said so.
        const isHere = answer.columns.length > 0;
        const isKept = steps.returned(edit.step, (step, back) => isHere && editing.fits(step, back));
        if (!isKept && answer.conflicts.length) refuse(words.stepIsGone);
      } else {
        // What the server holds, not what the cells show: choices made since may stand in them by now.
        const held = new Map(answer.columns.map(([assignment, column, codes]) => [`${assignment}-${column}`, codes]));
        steps.amend(edit.key, (id) => {
          const [, assignment, column, question] = id.split("-");
          const codes = held.get(`${assignment}-${column}`);
          return codes ? (codes[question] ?? "") : (cells.get(id)?.code ?? "");
        });
      }
    });
  }

  /** @param {Keys} keys */
  keys(keys) {
    keys.add("Ctrl+z", () => this.turn(true));
    keys.add("Ctrl+Shift+z", () => this.turn(false));
    keys.add("Ctrl+y", () => this.turn(false));
  }

  /** @param {boolean} back */
  turn(back) {
    const { cell, why, lock } = this.steps.turn(back, this.editing);
    if (why === "nothing") this.refuse(back ? this.words.nothingToUndo : this.words.nothingToRedo);
    else if (why === "gone") this.refuse(this.words.stepIsGone);
    else if (why === "waits") this.refuse(this.whyItWaits(lock));
    else if (cell) {
      this.focus.go(cell);
      this.turned(back, cell, this.steps.stacks(back)[1].at(-1)?.cells.length ?? 1);
    }
  }

  /** @param {string} assignment */
  whyItWaits(assignment) {
    if (this.words.locked === this.words.closed) return this.words.stepWaitsOnSheet;
    if (this.submitting.stateOf(assignment) === "withdrawn") return this.words.notYours;
    return fill(this.words.stepWaits, { row: this.cells.nameOf(assignment) });
  }
}
