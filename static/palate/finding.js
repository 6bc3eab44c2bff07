// Finding an item: `/` opens a line in which one types, and the grid goes to the columns that have these letters in them.
class Finder {
  constructor({ cells, focus, words, box }) {
    Object.assign(this, { cells, focus, words, box });
    this.input = box.querySelector("input");
    this.found = [];
    this.input.addEventListener("input", () => this.search());
    this.input.addEventListener("keydown", (event) => {
      const action = {
        Enter: () => this.step(event.shiftKey ? -1 : 1),
        Escape: () => this.close(this.from),
        ArrowDown: () => this.close(this.there),
        Tab: () => this.close(this.there),
      }[event.key];
      if (!action || event.isComposing) return;
      event.preventDefault();
      action();
    });
    this.input.addEventListener("blur", () => (box.hidden = true));
  }

  keys(keys) {
    keys.add("/", () => this.open());
  }

  open() {
    this.from = this.there = this.focus.cell;
    this.box.hidden = false;
    this.input.value = "";
    this.input.focus();
    this.search();
  }

  close(cell) {
    this.box.hidden = true;
    this.focus.go(cell);
  }

  search() {
    const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();
    const wanted = plain(this.input.value.trim());
    const names = [...this.cells.columns].map(([column, { name }]) => [column, plain(name)]);
    const starts = (name) => Number(!name.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(wanted)));
    this.found = !wanted ? [] : names.filter(([, name]) => name.includes(wanted)).sort((a, b) => starts(a[1]) - starts(b[1]));
    this.at = 0;
    this.show();
  }

  step(step) {
    this.at = (this.at + step + this.found.length) % (this.found.length || 1);
    this.show();
  }

  // Show the column in the document that had the focus, while one goes on typing.
  show() {
    const match = this.found[this.at];
    const count = this.box.querySelector("output");
    count.textContent = match
      ? this.words.found.replace("{n}", this.at + 1).replace("{all}", this.found.length)
      : this.input.value.trim() && this.words.notFound;
    this.there = match ? this.cells.groups.get(`${this.from.assignment}-${match[0]}`)?.[0] || this.elsewhere(match[0]) : this.from;
    this.focus.go(this.there, { point: true });
  }

  // The column's section is not asked of this document.
  elsewhere(column) {
    return this.cells.order.find((cell) => cell.column === column);
  }
}
