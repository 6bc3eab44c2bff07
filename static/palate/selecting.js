// A range of cells beside the one that has the focus: Shift and the keys that move, Shift and a click, or a drag.
//
// As in a spreadsheet the focus stays where the range began; it is within one table.
class CellRange {
  constructor(cells, focus, words, shown) {
    this.cells = cells;
    this.focus = focus;
    this.words = words;
    this.shown = shown; // element that says how many are selected
    this.far = null; // the corner opposite to the focus
    this.selected = new Set();
    focus.listeners.push(() => this.far && this.collapse());
  }

  // The cells that a command is about, line by line.
  get() {
    const { y0, y1, x0, x1 } = this.box();
    return this.cells.lines.slice(y0, y1 + 1).flatMap((line) => line.cells.slice(x0, x1 + 1));
  }

  box() {
    const here = this.focus.cell;
    const far = this.far || here;
    return {
      y0: Math.min(here.line.y, far.line.y),
      y1: Math.max(here.line.y, far.line.y),
      x0: Math.min(here.x, far.x),
      x1: Math.max(here.x, far.x),
    };
  }

  get isRange() {
    return this.far !== null;
  }

  extend(cell) {
    if (!cell || cell.line.table !== this.focus.cell.line.table || cell === this.far) return;
    this.far = cell === this.focus.cell ? null : cell;
    this.paint();
    this.focus.reveal(cell);
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
      keys.add(`Shift+${key}`, () => this.extend(this.within(key, this.far || this.focus.cell)));
    const edge = (first) => {
      const lines = this.cells.lines.filter(({ table }) => table === this.focus.cell.line.table);
      return first ? lines[0].cells[0] : lines.at(-1).cells.at(-1);
    };
    keys.add("Ctrl+Shift+Home", () => this.extend(edge(true)));
    keys.add("Ctrl+Shift+End", () => this.extend(edge(false)));
    keys.add("Ctrl+a", () => {
      this.focus.go(edge(true), { scroll: false });
      this.far = edge(false);
      this.paint();
    });
    keys.add("Escape", () => this.isRange && this.collapse());
  }

  // Where a key leads; out of the table it leads to the table's first or last line.
  within(key, from) {
    const cell = this.focus.target(key, from);
    const { table } = this.focus.cell.line;
    if (!cell || cell.line.table === table) return cell;
    const lines = this.cells.lines.filter((line) => line.table === table);
    return (cell.line.y < lines[0].y ? lines[0] : lines.at(-1)).cells[from.x];
  }

  mouse(tables) {
    let dragging = false;
    tables.addEventListener("mousedown", (event) => {
      const cell = event.target.closest("td")?.cell;
      if (!cell || event.button) return;
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
