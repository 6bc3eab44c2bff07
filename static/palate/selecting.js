// A range of cells beside the one that has the focus: Shift and the keys that move, Shift and a click, or a drag.
//
// As in a spreadsheet the focus stays where the range began, until Tab or Enter take it through the range; it is within one table.
class CellRange {
  constructor(cells, focus, words, shown) {
    this.cells = cells;
    this.focus = focus;
    this.words = words;
    this.shown = shown; // element that says how many are selected
    this.near = null; // the corner where the range began
    this.far = null; // the opposite one; null where nothing but the focus is selected
    this.selected = new Set();
    focus.listeners.push((cell, keep) => this.far && !keep && this.collapse());
  }

  // The cells that a command is about, line by line.
  get() {
    const { y0, y1, x0, x1 } = this.box();
    return this.cells.lines.slice(y0, y1 + 1).flatMap((line) => line.cells.slice(x0, x1 + 1));
  }

  box() {
    const [near, far] = this.far ? [this.near, this.far] : [this.focus.cell, this.focus.cell];
    return {
      y0: Math.min(near.line.y, far.line.y),
      y1: Math.max(near.line.y, far.line.y),
      x0: Math.min(near.x, far.x),
      x1: Math.max(near.x, far.x),
    };
  }

  get isRange() {
    return this.far !== null;
  }

  // From the focused cell to another one of its table: where Tab or Enter have moved the focus, a new range begins.
  extend(cell) {
    const here = this.focus.cell;
    if (!cell || cell.line.table !== here.line.table || (cell === this.far && here === this.near)) return;
    this.select(here, cell);
    this.focus.reveal(cell);
  }

  // The end that Shift and a key that moves take further.
  get end() {
    const here = this.focus.cell;
    return this.far && this.near === here ? this.far : here;
  }

  select(near, far) {
    this.near = near;
    this.far = far === near ? null : far;
    this.paint();
  }

  // The next cell of the range, line by line or column by column, and from the last one the first.
  through(step, byColumns) {
    const { y0, y1, x0, x1 } = this.box();
    const [wide, high] = [x1 - x0 + 1, y1 - y0 + 1];
    const { x, line } = this.focus.cell;
    const at = byColumns ? (x - x0) * high + line.y - y0 : (line.y - y0) * wide + x - x0;
    const there = (at + step + wide * high) % (wide * high);
    const [right, down] = byColumns ? [Math.floor(there / high), there % high] : [there % wide, Math.floor(there / wide)];
    this.focus.go(this.focus.at(y0 + down, x0 + right), { keep: true });
  }

  collapse() {
    this.far = null;
    this.paint();
  }

  paint() {
    const now = new Set(this.far ? this.get() : []);
    for (const cell of this.selected) if (!now.has(cell)) cell.td.removeAttribute("aria-selected");
    for (const cell of now) if (!this.selected.has(cell)) cell.td.setAttribute("aria-selected", "true");
    this.selected = now;
    this.shown.textContent = now.size ? this.words.selected.replace("{n}", now.size) : "";
  }

  keys(keys) {
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"])
      keys.add(`Shift+${key}`, () => this.extend(this.within(key, this.end)));
    for (const [key, where] of Object.entries(CellRange.EDGES)) keys.add(`Ctrl+Shift+${key}`, () => this.extend(this.edge(where, this.end)));
    // The focus stays where it is: what a number means in the range depends on it.
    const whole = (from, to) => () => this.select(this.edge(from, this.focus.cell), this.edge(to, this.focus.cell));
    keys.add("Ctrl+a", whole({ x: 0, y: 0 }, { x: -1, y: -1 }));
    keys.add("Shift+ ", whole({ x: 0 }, { x: -1 }));
    keys.add("Ctrl+ ", whole({ y: 0 }, { y: -1 }));
    for (const [key, byColumns] of [["Tab", false], ["Enter", true]])
      for (const [shift, step] of [["", 1], ["Shift+", -1]])
        keys.add(`${shift}${key}`, () => this.through(step, byColumns), () => this.isRange);
    keys.add("Escape", () => this.isRange && this.collapse());
  }

  static EDGES = {
    ArrowLeft: { x: 0 },
    ArrowRight: { x: -1 },
    ArrowUp: { y: 0 },
    ArrowDown: { y: -1 },
    Home: { x: 0, y: 0 },
    End: { x: -1, y: -1 },
  };

  // The cell at an edge of the table: 0 is the first, -1 the last line or column; where nothing is said, that of the cell.
  edge({ x, y }, cell) {
    const lines = this.linesOf(cell.line.table);
    const line = y === undefined ? cell.line : lines.at(y);
    return line.cells.at(x ?? cell.x);
  }

  linesOf(table) {
    return this.cells.lines.filter((line) => line.table === table);
  }

  // Where a key leads; out of the table it leads to the table's first or last line.
  within(key, from) {
    const cell = this.focus.target(key, from);
    const { table } = this.focus.cell.line;
    if (!cell || cell.line.table === table) return cell;
    const lines = this.linesOf(table);
    return (cell.line.y < lines[0].y ? lines[0] : lines.at(-1)).cells[from.x];
  }

  // A click on a heading selects the column, the document's lines or the line; on the corner the table. The focus stays in its
  // line or column as far as it can, so that the document beside the grid stays too.
  selectBy(head) {
    const here = this.focus.cell;
    const lines = this.linesOf(head.closest("table"));
    const inHead = head.closest("thead");
    const column = inHead && !head.classList.contains("corner") ? head.cellIndex - 1 : null;
    const picked = inHead ? lines : lines.filter((line) => (head.matches(".doc") ? line.head === head : line.tr === head.parentNode));
    const own = picked.find((line) => line === here.line) || picked.find((line) => line.assignment === here.assignment) || picked[0];
    this.focus.go(this.focus.at(own.y, column ?? here.x), { scroll: false });
    this.select(picked[0].cells.at(column ?? 0), picked.at(-1).cells.at(column ?? -1));
  }

  mouse(tables) {
    let dragging = false;
    tables.addEventListener("mousedown", (event) => {
      if (event.button) return;
      const head = event.target.closest("th");
      if (head) {
        event.preventDefault(); // the keys stay in the grid
        return this.selectBy(head);
      }
      const cell = event.target.closest("td")?.cell;
      if (!cell) return;
      event.preventDefault();
      if (event.shiftKey) this.extend(cell);
      else this.focus.go(cell);
      dragging = true;
    });
    tables.addEventListener("mouseover", (event) => {
      if (!dragging) return;
      if (event.buttons & 1) this.extend(event.target.closest("td")?.cell);
      else dragging = false;
    });
    window.addEventListener("mouseup", () => (dragging = false));
  }
}
