// A thing that a step makes got another name: the steps below that use it are offered to take the new name too. Nothing is
// changed before somebody says so, and what is, is one step of undo.

import { valueCode } from "../core/codes.js";
import { fill } from "../core/sentences.js";
import { after, folded } from "../core/values.js";
import { renamedAgain, renamedBelow, renamesIn } from "../core/world.js";
import { byId, inside } from "../page/elements.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../core/values.js").Transition} Transition */
/** @typedef {import("../core/world.js").Rename} Rename */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {{cells: Cells, editing: Editing, focus: Focus, keys: Keys, words: Sentences, thereAt: (cell: Cell) => string[]}} RenamingParts */

export class Renaming {
  /** @param {RenamingParts} parts */
  constructor({ cells, editing, focus, keys, words, thereAt }) {
    this.cells = cells;
    this.editing = editing;
    this.focus = focus;
    this.words = words;
    this.thereAt = thereAt;
    /** @type {{cell: Cell, code: string, renames: Rename[]} | null} */
    this.found = null;
    this.panel = byId("renaming");
    this.title = inside(this.panel, "h2", HTMLElement);
    this.told = inside(this.panel, ".told", HTMLElement);
    inside(this.panel, "[data-take]", HTMLElement).addEventListener("click", () => this.take());
    inside(this.panel, "[data-close]", HTMLElement).addEventListener("click", () => this.close());
    keys.add(
      "l",
      () => this.take(),
      () => !this.panel.hidden,
    );
    editing.changed.push((changes) => this.look(changes));
  }

  /** @param {import("./editing.js").Changed[]} changes none where a step of undo was taken */
  look(changes) {
    const [one] = changes;
    if (changes.length === 1 && this.cells.spec(one.cell).kind === "transitions") {
      const [before, now] = [one.before, one.now].map((code) => this.answer(code));
      const there = now ? after(this.thereAt(one.cell), now) : [];
      // A thing of the old name that is there still may be what the steps below mean.
      /** @param {Rename} rename */
      const isGone = ([old]) => !there.some((name) => folded(name) === folded(old));
      const found = before && now ? renamesIn(before, now) : [];
      const earlier = this.found?.cell === one.cell ? this.found.renames : [];
      const renames = renamedAgain(earlier, found).filter(isGone);
      if (renames.length) this.found = { cell: one.cell, code: one.cell.code, renames };
    }
    this.draw();
  }

  draw() {
    const { found, words } = this;
    const below = found && found.cell.code === found.code ? this.below(found) : [];
    if (!found || !below.length) {
      this.found = null;
      if (!this.panel.hidden) this.panel.hidden = true;
      return;
    }
    const pairs = found.renames.map(([old, now]) => fill(words.nowCalled, { old, now }));
    const title = pairs.join("; ");
    const told = fill(words.usedBelow, { steps: below.map(({ number }) => number).join(", ") });
    // It is read aloud whole when any of it is written.
    if (!this.panel.hidden && this.title.textContent === title && this.told.textContent === told) return;
    this.title.textContent = title;
    this.told.textContent = told;
    this.panel.hidden = false;
  }

  /**
   * The steps below that would change, counted from 1 on, with the answers that they would have.
   * @param {{cell: Cell, renames: Rename[]}} found
   */
  below({ cell, renames }) {
    const steps = this.cells.partsOf(cell.assignment).filter(({ question }) => question === cell.question);
    const first = steps.indexOf(cell) + 1;
    const answers = steps.slice(first).map(({ code }) => this.answer(code));
    return renamedBelow(renames, answers).flatMap((now, n) =>
      now ? [{ cell: steps[first + n], number: first + n + 1, code: valueCode(now) }] : [],
    );
  }

  /**
   * @param {string} code
   * @returns {Transition[] | undefined}
   */
  answer(code) {
    return /** @type {Transition[] | undefined} */ (code ? this.cells.value(code) : undefined);
  }

  // The steps below take the new names, as one step.
  take() {
    if (!this.found) return;
    const below = this.below(this.found);
    this.found = null;
    const done = this.editing.change(below.map(({ cell, code }) => [cell, code]));
    this.editing.report(done, true);
    this.close();
  }

  close() {
    this.found = null;
    this.panel.hidden = true;
    this.focus.back({ scroll: false });
  }
}
