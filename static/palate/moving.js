// Moving: one cell has the focus, and keys take it elsewhere.
//
// Tells whoever listens on the tables: `palate:focus-cell`, once the cell is painted, with the ids of what has the focus.
class Focus {
  constructor(cells) {
    this.cells = cells;
    this.cell = null;
    this.told = null;
    this.low = matchMedia("(max-height: 560px)");
    this.listeners = []; // called at once, before the paint: keep them quick
  }

  at(y, x) {
    const line = this.cells.lines[y];
    return line && line.cells[Math.max(0, Math.min(x, line.cells.length - 1))];
  }

  // `point` shows a cell without giving it the keys, while one types elsewhere; `keep` leaves a range selected.
  go(cell, { scroll = true, point = false, keep = false } = {}) {
    if (!cell) return;
    const before = this.cell;
    this.cell = cell;
    if (before !== cell) {
      before?.td.removeAttribute("tabindex");
      cell.td.tabIndex = 0;
      this.light(before, cell);
    }
    if (!point && document.activeElement !== cell.td) cell.td.focus({ preventScroll: true });
    if (scroll) this.reveal(cell);
    this.listeners.forEach((listener) => listener(cell, keep));
    this.tell();
  }

  // Whoever went elsewhere on the page, into a dialog say, comes back to all as it was.
  back({ scroll = true } = {}) {
    this.go(this.cell, { keep: true, scroll });
  }

  // After the paint, and of many quick moves only the last one.
  tell() {
    if (this.told) return;
    this.told = requestAnimationFrame(() =>
      setTimeout(() => {
        this.told = null;
        const { id, assignment, column, question } = this.cell;
        const { about, section } = this.cells.spec(this.cell);
        const detail = { id, assignment, column, question, section, about };
        this.cells.tables.dispatchEvent(new CustomEvent("palate:focus-cell", { detail, bubbles: true }));
      }),
    );
  }

  // Softly light the focused line and column.
  light(before, now) {
    const lit = (cell, on) => {
      for (const element of [cell.line.tr, cell.line.head, this.cells.columns.get(cell.column).head])
        element.classList.toggle("lit", on);
    };
    if (before) lit(before, false);
    lit(now, true);
    this.beam ??= Object.assign(document.createElement("div"), { className: "beam", ariaHidden: "true" });
    const { table } = now.line;
    if (this.beam.parentNode !== table) table.append(this.beam);
    this.beam.style.left = `calc(var(--doc) + var(--q) + ${now.x} * var(--cell))`;
  }

  // Scroll the cell clear of the headings that stay in place.
  reveal({ td, line: { table } }) {
    const { tables } = this.cells;
    const box = td.getBoundingClientRect();
    const view = tables.getBoundingClientRect();
    // On a low window only the first line of the headings stays.
    const staying = this.low.matches ? table.tHead.rows[0] : table.tHead;
    const top = view.top + staying.offsetHeight;
    const bottom = view.top + tables.clientHeight;
    const corner = table.querySelector(".corner").offsetWidth;
    if (box.top < top) tables.scrollTop -= top - box.top;
    else if (box.bottom > bottom) tables.scrollTop += box.bottom - bottom + 2;
    if (box.left < view.left + corner) tables.scrollLeft -= view.left + corner - box.left;
    else if (box.right > view.left + tables.clientWidth) tables.scrollLeft += box.right - view.left - tables.clientWidth + 16;
  }

  // --- where keys lead ------------------------------------------------------------------------------------------------

  // There is something to do in it.
  isWaiting(cell) {
    return this.cells.isOpen(cell) || cell.state === "conflict";
  }

  // The next waiting cell in the order of the work.
  next(cell, step) {
    const { order } = this.cells;
    for (let i = cell.rank + step; order[i]; i += step) if (this.isWaiting(order[i])) return order[i];
    return null;
  }

  // Where the work goes on after a cell: in its own document, to its end and then from its beginning. Null where nothing
  // waits there any more: a complete document is left by a key of its own, `s` as a rule.
  onward(cell) {
    const mine = this.cells.parts.get(cell.assignment);
    const at = mine.indexOf(cell);
    return [...mine.slice(at + 1), ...mine.slice(0, at)].find((other) => this.isWaiting(other)) || null;
  }

  // The next waiting cell above or below, in the same column of the table.
  nextInColumn({ x, line }, step) {
    const { lines } = this.cells;
    for (let y = line.y + step; lines[y]?.table === line.table; y += step)
      if (this.isWaiting(lines[y].cells[x])) return lines[y].cells[x];
    return null;
  }

  firstOf(assignment) {
    const mine = this.cells.parts.get(assignment);
    return mine.find((cell) => this.cells.isOpen(cell)) || mine[0];
  }

  // The same question and column in the next document that has them.
  document(step) {
    const { x, question, line } = this.cell;
    const { lines } = this.cells;
    for (let y = line.y + step; lines[y]?.table === line.table; y += step)
      if (lines[y].assignment !== line.assignment && lines[y].question === question) return this.go(lines[y].cells[x]);
  }

  // Where a key that moves leads from a cell; undefined where it does not move.
  target(key, { x, line: { y } }) {
    const last = this.cells.lines.length - 1;
    switch (key) {
      case "ArrowLeft":
        return this.at(y, x - 1);
      case "ArrowRight":
        return this.at(y, x + 1);
      case "ArrowUp":
        return this.at(y - 1, x);
      case "ArrowDown":
        return this.at(y + 1, x);
      case "Home":
        return this.at(y, 0);
      case "End":
        return this.at(y, Infinity);
      case "PageUp":
        return this.at(Math.max(0, y - 10), x);
      case "PageDown":
        return this.at(Math.min(last, y + 10), x);
      case "Ctrl+Home":
        return this.at(0, 0);
      case "Ctrl+End":
        return this.at(last, Infinity);
    }
  }

  // In the order of the lines; at either end Tab leaves the grid, as it does everywhere.
  tab(step) {
    const { x, line } = this.cell;
    return line.cells[x + step] || this.at(line.y + step, step > 0 ? 0 : Infinity);
  }

  keys(keys) {
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown", "Ctrl+Home", "Ctrl+End"])
      keys.add(key, () => this.go(this.target(key, this.cell)));
    for (const [key, step] of [["Right", 1], ["Left", -1]]) keys.add(`Ctrl+Arrow${key}`, () => this.go(this.next(this.cell, step)));
    for (const [key, step] of [["Down", 1], ["Up", -1]])
      keys.add(`Ctrl+Arrow${key}`, () => this.go(this.nextInColumn(this.cell, step)));
    keys.add("Enter", () => this.go(this.target("ArrowDown", this.cell)));
    keys.add("Shift+Enter", () => this.go(this.target("ArrowUp", this.cell)));
    for (const [key, step] of [["Tab", 1], ["Shift+Tab", -1]])
      keys.add(key, () => {
        const there = this.tab(step);
        this.go(there);
        return Boolean(there);
      });
    keys.add(" ", () => {}); // a browser would scroll the focus out of sight
    keys.add("n", () => this.document(1));
    keys.add("p", () => this.document(-1));
  }
}

// What each key does while the focus is in the grid, or in the text beside it. Names are as KeyboardEvent.key says them, with "Ctrl+" and "Shift+"
// before them in this order; Shift is named only where the key itself does not tell. On a Mac, Command counts as Ctrl.
class Keys {
  constructor(tables, focus) {
    this.does = new Map(); // name -> [{action, when}], the latest first
    tables.addEventListener("keydown", (event) => this.press(event));
    // Who has clicked into the document to read it labels from there, and is in the grid then.
    document.addEventListener("keydown", (event) => {
      if (!event.target.matches("body, #evidence, .drawer .body") || document.querySelector("dialog[open]")) return;
      if (Keys.READING.test(Keys.name(event)) || !this.press(event)) return;
      if (document.activeElement === event.target) focus.back({ scroll: false });
    });
  }

  static READING = /Arrow|Home|End|Page|Tab|Enter|Escape| $|^Ctrl\+a$/; // what scrolls a text, selects it or leads away

  // What gives back false has not done anything, and leaves the key to the browser.
  press(event) {
    const action = this.find(Keys.name(event)) || this.find(Keys.name(event, Keys.placed(event)));
    const done = Boolean(action) && action(event) !== false;
    if (done) event.preventDefault();
    return done;
  }

  static name(event, key = event.key) {
    if (event.altKey || event.isComposing || !key) return "";
    const ctrl = event.ctrlKey || event.metaKey;
    const letter = key.length === 1 && key !== " ";
    const small = letter && (ctrl || event.getModifierState("CapsLock"));
    return `${ctrl ? "Ctrl+" : ""}${event.shiftKey && (ctrl || !letter) ? "Shift+" : ""}${small ? key.toLowerCase() : key}`;
  }

  // What the key's place on the keyboard means where its sign means nothing here: a digit that needs Shift on Czech and French
  // keyboards, a letter in Greek or Cyrillic.
  static placed(event) {
    const [, digit, letter] = /^(?:Digit(\d)|Key([A-Z]))$/.exec(event.code) || [];
    if (event.getModifierState("AltGraph")) return "";
    if (letter) return event.key > "\x7f" ? letter.toLowerCase() : "";
    return event.shiftKey ? "" : digit;
  }

  find(name) {
    return this.does.get(name)?.find(({ when }) => when())?.action;
  }

  // What is added later comes first, as long as its `when` holds.
  add(name, action, when = () => true) {
    this.does.set(name, [{ action, when }, ...(this.does.get(name) || [])]);
  }
}
