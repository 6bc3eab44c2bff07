// Choosing: a key or a button answers the focused cell, or all cells of a range, as one step.
class Choosing {
  constructor({ cells, focus, range, editing, words, where, choices }) {
    Object.assign(this, { cells, focus, range, editing, words, where, choices });
    this.drawn = null; // the question whose buttons stand there
    focus.listeners.push(() => this.describe());
    choices.addEventListener("mousedown", (event) => event.preventDefault());
    choices.addEventListener("click", (event) => {
      const button = event.target.closest("[data-choose]");
      // The second half of a double click is no choice: the focus has gone on, and it would answer the next cell.
      const double = event.detail > 1 && event.timeStamp - this.clicked < 300;
      this.clicked = event.timeStamp;
      if (button && !double) this.choose(button.dataset.choose);
    });
  }

  keys(keys) {
    for (const digit of "0123456789")
      keys.add(digit, (event) => {
        const option = this.cells.spec(this.focus.cell).options.find(({ hotkey }) => hotkey === digit);
        if (!option && digit !== "0") return false;
        if (!event.repeat) this.choose(option ? option.key : ""); // a key that is held down is one choice, not a line of them
      });
    for (const key of ["Backspace", "Delete"]) keys.add(key, () => this.choose(""));
    keys.add("Ctrl+d", () => this.fillDown());
  }

  choose(option) {
    if (this.range.isRange) return this.fill(option);
    const { cell } = this.focus;
    if (cell.off || this.cells.isLocked(cell)) return this.describe();
    this.editing.change([[cell, option]]);
    if (option) this.focus.go(this.focus.onward(cell) || cell);
    else this.describe();
  }

  // One answer into every cell of the range where it is one of the answers.
  fill(option) {
    const answer = option && this.cells.option(this.focus.cell, option);
    const wanted = this.range.get().map((cell) => {
      const same = option && (this.match(cell, option) || this.match(cell, answer.label));
      return [cell, option ? same?.key : ""];
    });
    this.editing.report(this.editing.change(wanted, answer?.label));
    this.describe();
  }

  // Each line of the range takes the answers of the first line with its question; a single line those of the document above.
  fillDown() {
    const { y0, y1, x0, x1 } = this.range.box();
    const { lines } = this.cells;
    const above = (line) => {
      for (let y = line.y - 1; lines[y]?.table === line.table; y--) if (lines[y].question === line.question) return lines[y];
    };
    const picked = lines.slice(y0, y1 + 1);
    const first = new Map();
    for (const line of picked) if (!first.has(line.question)) first.set(line.question, line);
    const single = picked.every((line) => first.get(line.question) === line);
    const wanted = picked.flatMap((line) => {
      const source = single ? above(line) : first.get(line.question);
      if (!source || source === line) return [];
      return line.cells.slice(x0, x1 + 1).map((cell) => [cell, optionOf(source.cells[cell.x].value)]);
    });
    this.editing.report(this.editing.change(wanted));
    this.describe();
  }

  // The option of a cell's question that a word names: by label, key or number key, in small or capital letters.
  match(cell, word) {
    const plain = (text) => text.normalize("NFC").toLocaleLowerCase().trim();
    const wanted = plain(word);
    const { options } = this.cells.spec(cell);
    return ["label", "key", "hotkey"].map((what) => options.find((option) => plain(option[what]) === wanted)).find(Boolean);
  }

  // --- the line below the grid: what has the focus, and what each key does there --------------------------------------------

  describe() {
    const { cell } = this.focus;
    this.where.textContent = this.cells.title(cell);
    const mine = this.editing.saving.conflicts.get(cell.id);
    if (this.cells.isLocked(cell)) return this.say(this.words.locked);
    if (cell.off && mine === undefined) return this.say(this.words.notAsked);
    if (this.drawn !== cell.question) {
      this.choices.replaceChildren(...this.buttonsOf(cell.question));
      this.drawn = cell.question;
    }
    const chosen = optionOf(cell.value);
    for (const button of this.choices.children) button.setAttribute("aria-pressed", chosen !== "" && button.dataset.choose === chosen);
    if (reasonOf(cell.value)) this.where.append(` · ${this.words.skipped.replace("{reason}", reasonOf(cell.value))}`);
    if (mine !== undefined) this.where.append(" ", this.bothValues(cell, mine));
    else if (!this.cells.left.get(cell.assignment)) this.where.append(` · ${this.words.complete}`);
  }

  bothValues(cell, mine) {
    const { skipped, empty } = this.words;
    const label = (value) => this.cells.option(cell, value)?.label || (reasonOf(value) ? skipped.replace("{reason}", reasonOf(value)) : empty);
    const sentence = document.createElement("strong");
    sentence.className = "both";
    sentence.textContent = this.words.conflict.replace("{theirs}", label(cell.value)).replace("{mine}", label(mine));
    return sentence;
  }

  say(sentence) {
    this.choices.replaceChildren(sentence);
    this.drawn = null;
  }

  buttonsOf(question) {
    const button = (hotkey, label, key, classes) => {
      const element = document.createElement("button");
      element.type = "button";
      element.tabIndex = -1;
      element.dataset.choose = key;
      element.className = classes;
      const kbd = document.createElement("kbd");
      kbd.textContent = hotkey;
      element.append(kbd, ` ${label}`);
      return element;
    };
    return [
      ...this.cells.palette[question].options.map((o) => button(o.hotkey, `${o.sign}  ${o.label}`, o.key, `choice t-${o.colour}`)),
      button("⌫", this.words.clear, "", "choice"),
    ];
  }

  // Room for the question with the most options, so that the grid does not jump from one question to the next.
  reserve() {
    const { choices } = this;
    // Out of the flow meanwhile: each try would lay out the whole page anew.
    choices.style.cssText = `position: absolute; visibility: hidden; width: ${choices.clientWidth}px`;
    let isScrolled = false;
    const heights = Object.keys(this.cells.palette).map((question) => {
      choices.replaceChildren(...this.buttonsOf(question));
      isScrolled ||= choices.scrollWidth > choices.clientWidth;
      return choices.offsetHeight;
    });
    choices.style.cssText = `min-height: ${Math.max(...heights)}px`;
    // On a narrow window they stand in one line, which keys must be able to scroll.
    if (isScrolled) choices.tabIndex = 0;
    else choices.removeAttribute("tabindex");
    this.drawn = null;
    if (this.focus.cell) this.describe();
  }
}
