// Choosing: a key or a button answers the focused cell, or all cells of a range, as one step.

import { optionNamed } from "../core/answers.js";
import { answerOf, isDraft, optionOf, reasonOf } from "../core/codes.js";
import { fill } from "../core/sentences.js";
import { hasValues, numbersTaken } from "../core/values.js";
import { make, placeOf } from "../page/elements.js";
import { choiceButton, optionButtons } from "../sheet/options.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./cells.js").Line} Line */
/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {import("./hints.js").Hints} Hints */
/** @typedef {import("./range.js").CellRange} CellRange */
/** @typedef {{cells: Cells, focus: Focus, range: CellRange, editing: Editing, hints: Hints, words: Sentences, where: HTMLElement, choices: HTMLElement}} Parts */

const DOUBLE_CLICK = 300; // ms
const LONGEST_TITLE = 72; // characters

export class Choosing {
  /** @param {Parts} parts */
  constructor({ cells, focus, range, editing, hints, words, where, choices }) {
    this.cells = cells;
    this.focus = focus;
    this.range = range;
    this.editing = editing;
    this.hints = hints;
    this.words = words;
    this.where = where;
    this.choices = choices;
    /** @type {string | null} */
    this.drawn = null; // the question whose buttons stand there, and how it is answered
    this.clicked = 0;
    /** @type {(cell: Cell) => string[]} */
    this.doubts = () => []; // what is doubtful about the answer in a cell
    /** @type {((cell: Cell) => void)[]} */
    this.described = []; // listeners: the line says of the focused cell what it says
    focus.listeners.push(() => this.describe());
    // In a range keys are commands, and letters no text.
    range.listeners.push(() => this.cells.takesValues(focus.cell) && this.describe());
    choices.addEventListener("mousedown", (event) => event.preventDefault());
    choices.addEventListener("click", (event) => {
      const button = /** @type {HTMLElement | null} */ (placeOf(event).closest("[data-choose]"));
      // The second half of a double click is no choice: the focus has gone on, and it would answer the next cell.
      const double = event.detail > 1 && event.timeStamp - this.clicked < DOUBLE_CLICK;
      this.clicked = event.timeStamp;
      if (button && !double) this.choose(button.dataset.choose ?? "");
      const taken = /** @type {HTMLElement | null} */ (placeOf(event).closest("[data-take]"))?.dataset.take;
      if (taken !== undefined && !double) this.decide(taken);
    });
  }

  /** @param {Keys} keys */
  keys(keys) {
    for (const digit of "0123456789-")
      keys.add(digit, (event) => {
        const option = this.cells.spec(this.focus.cell).options.find(({ hotkey }) => hotkey === digit);
        if (!option && digit !== "0") return this.noOption(digit);
        // A key that is held down is one choice, not a line of them.
        if (!event.repeat) this.choose(option ? option.key : "");
        return true;
      });
    for (const key of ["Backspace", "Delete"]) keys.add(key, () => this.choose(""));
    keys.add("Ctrl+d", () => this.fillDown());
    const hasTwo = () => this.cells.takesValues(this.focus.cell) && this.mine(this.focus.cell) !== undefined;
    keys.add("c", () => this.decide(answerOf(this.focus.cell.code)), hasTwo);
  }

  /**
   * A number that means nothing in the focused cell: it is said, and leads nobody there.
   * @param {string} key
   */
  noOption(key) {
    const { cell } = this.focus;
    const isAsked = !this.cells.takesValues(cell) && !cell.off && this.cells.takesAnswers(cell);
    if (isAsked) this.editing.refuse(fill(this.words.noOption, { key }));
    return false;
  }

  /**
   * Of a cell with two answers the one that was given here.
   * @param {Cell} cell
   */
  mine(cell) {
    return this.editing.saving.conflicts.get(cell.id);
  }

  /**
   * Which of two answers stands from now on.
   * @param {string} code
   */
  decide(code) {
    const { cell } = this.focus;
    if (!this.cells.takesAnswers(cell)) return;
    const { refused } = this.editing.change([[cell, code]]);
    if (refused.length) this.describe();
    else this.focus.answered(cell);
  }

  /** @param {string} option its key; "" clears */
  choose(option) {
    if (this.range.isRange) {
      this.fill(option);
      return;
    }
    const { cell } = this.focus;
    if (cell.off || !this.cells.takesAnswers(cell)) {
      this.describe();
      return;
    }
    const { refused } = this.editing.change([[cell, option]]);
    if (option && !refused.length) this.focus.answered(cell);
    else this.describe();
  }

  /**
   * One answer into every cell of the range where it is one of the answers.
   * @param {string} key
   */
  fill(key) {
    const answer = key ? this.cells.option(this.focus.cell, key) : undefined;
    /** @param {Cell} cell */
    const same = (cell) => this.match(cell, key) || this.match(cell, answer?.label ?? key);
    /** @type {[Cell, string | undefined][]} */
    const wanted = this.range.get().map((cell) => [cell, key ? same(cell)?.key : ""]);
    this.editing.report(this.editing.change(wanted, { word: answer?.label }));
    this.describe();
  }

  // Each line of the range takes the answers of the first line with its question; a single line those of the document above.
  fillDown() {
    const { y0, y1, x0, x1 } = this.range.box();
    const { lines } = this.cells;
    /** @param {Line} line */
    const above = (line) => {
      for (let y = line.y - 1; lines[y]?.table === line.table; y--)
        if (lines[y].question === line.question) return lines[y];
      return undefined;
    };
    const picked = lines.slice(y0, y1 + 1);
    /** @type {Map<string, Line>} */
    const first = new Map();
    for (const line of picked) if (!first.has(line.question)) first.set(line.question, line);
    const single = picked.every((line) => first.get(line.question) === line);
    const wanted = picked.flatMap((line) => {
      const source = single ? above(line) : first.get(line.question);
      if (!source || source === line) return [];
      return line.cells
        .slice(x0, x1 + 1)
        .map((cell) => /** @type {[Cell, string]} */ ([cell, answerOf(source.cells[cell.x].code)]));
    });
    this.editing.report(this.editing.change(wanted));
    this.describe();
  }

  /**
   * The option of a cell's question that a word names.
   * @param {Cell} cell
   * @param {string} word
   */
  match(cell, word) {
    return optionNamed(this.cells.spec(cell).options, word);
  }

  // --- the line below the grid: what has the focus, and what each key does there --------------------------------------------

  describe() {
    const { cell } = this.focus;
    this.draw(cell);
    for (const listener of this.described) listener(cell);
  }

  /** @param {Cell} cell */
  draw(cell) {
    this.hints.draw();
    const isText = this.hints.isText();
    // An item may be a sentence: what is said of the cell after its name has to be seen.
    const title = this.cells.title(cell);
    this.where.textContent = title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1)}…` : title;
    const mine = this.mine(cell);
    if (!this.cells.takesAnswers(cell)) return this.say(this.words.locked);
    if (cell.off && mine === undefined) return this.say(this.words.notAsked);
    if (mine !== undefined && this.cells.takesValues(cell)) return this.showBoth(cell, mine);
    const drawn = `${cell.question} ${isText}`;
    if (this.drawn !== drawn) {
      const { means } = this.cells.spec(cell);
      const meaning = means
        ? [make("span", { className: "means quiet", dir: "auto", title: means, textContent: means })]
        : [];
      this.choices.replaceChildren(...this.buttonsOf(cell.question, isText), ...meaning);
      this.drawn = drawn;
    }
    const chosen = optionOf(cell.code);
    for (const button of this.choices.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(chosen !== "" && button.dataset.choose === chosen));
    if (this.cells.spec(cell).optional) this.where.append(` · ${this.words.optional}`);
    if (reasonOf(cell.code)) this.where.append(` · ${this.cells.skipped(reasonOf(cell.code))}`);
    if (isDraft(cell.code)) this.where.append(` · ${isText ? this.words.draftTyped : this.words.draft}`);
    const { judgeSaid } = cell.td.dataset;
    if (judgeSaid) this.where.append(" · ", make("em", { className: "judge-said", textContent: judgeSaid }));
    const doubts = this.doubts(cell);
    if (doubts.length) this.where.append(" ", make("span", { className: "doubts", textContent: doubts.join(" ") }));
    if (mine !== undefined) this.where.append(" ", this.bothAnswers(cell, mine));
    else if (this.cells.isLocked(cell)) this.where.append(` · ${this.words.corrects}`);
    else if (!this.cells.left.get(cell.assignment))
      this.where.append(` · ${isText ? this.words.completeTyped : this.words.complete}`);
  }

  /**
   * Two answers that are values, one below the other: they may be long.
   * @param {Cell} cell
   * @param {string} mine
   */
  showBoth(cell, mine) {
    const { conflictOfValues, conflictTheirs, conflictMine } = this.words;
    this.where.append(" ", make("strong", { className: "both", textContent: conflictOfValues }));
    const [saved, own] = [answerOf(cell.code), answerOf(mine)];
    this.choices.replaceChildren(
      this.answerButton("Alt+C", conflictTheirs, saved, this.cells.inEntries(cell, saved)),
      this.answerButton("Enter", conflictMine, own, this.cells.inEntries(cell, own)),
    );
    this.drawn = null;
  }

  /**
   * @param {string} key
   * @param {string} where it was given
   * @param {string} code
   * @param {Node | string} shown
   */
  answerButton(key, where, code, shown) {
    const kbd = make("kbd", { textContent: key });
    const whose = make("span", { className: "quiet", textContent: where });
    const whole = make("span", { className: "text", dir: "auto" }, shown);
    const button = make("button", { type: "button", tabIndex: -1, className: "choice answer" }, kbd, whose, whole);
    button.dataset.take = code;
    return button;
  }

  /**
   * @param {Cell} cell
   * @param {string} mine
   */
  bothAnswers(cell, mine) {
    const [theirs, here] = [cell.code, mine].map((code) => this.cells.inWords(cell, code));
    return make("strong", { className: "both", textContent: fill(this.words.conflict, { theirs, mine: here }) });
  }

  /** @param {string} sentence */
  say(sentence) {
    this.choices.replaceChildren(sentence);
    this.drawn = null;
  }

  /**
   * @param {string} question
   * @param {boolean} isText letters are typed into it
   */
  buttonsOf(question, isText) {
    const clear = choiceButton("⌫", this.words.clear, "", "choice");
    const { kind, options, number, text, takes = "" } = this.cells.palette[question];
    if (!hasValues(kind)) return [...optionButtons(options), clear];
    const taken = number ? numbersTaken(number, this.words) : takes;
    const told = this.words[text?.from.length ? "typing-suggested" : `typing-${kind}`];
    const how = isText ? [make("span", { className: "quiet", textContent: told })] : [];
    return [...(taken ? [make("strong", { className: "taken", textContent: taken })] : []), ...how, clear];
  }

  // Room for the question with the most options, so that the grid does not jump from one question to the next.
  reserve() {
    const { choices } = this;
    // Out of the flow meanwhile: each try would lay out the whole page anew.
    choices.style.cssText = `position: absolute; visibility: hidden; width: ${choices.clientWidth}px`;
    let isScrolled = false;
    const heights = Object.keys(this.cells.palette).map((question) => {
      choices.replaceChildren(...this.buttonsOf(question, true));
      isScrolled ||= choices.scrollWidth > choices.clientWidth;
      return choices.offsetHeight;
    });
    choices.style.cssText = `min-height: ${Math.max(...heights)}px`;
    // On a narrow window they stand in one line, which keys must be able to scroll.
    if (isScrolled) choices.tabIndex = 0;
    else choices.removeAttribute("tabindex");
    this.drawn = null;
    if (this.focus.now) this.describe();
  }
}
