// What a document still owes when its submission is refused: a list beside the work, each line leads to its cell.
class StillOpen {
  constructor({ tables, focus, cells, saving, words }) {
    Object.assign(this, { focus, cells, words });
    this.panel = document.getElementById("still-open");
    this.list = this.panel.querySelector("ol");
    this.panel.addEventListener("click", ({ target }) => {
      const line = target.closest("[data-cell]");
      if (line) focus.go(cells.get(line.dataset.cell));
      else if (target.closest("[data-close]")) this.close();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !this.panel.hidden && !document.querySelector("dialog[open]")) this.close();
    });
    for (const kind of ["palate:focus-cell", "palate:activity"]) tables.addEventListener(kind, () => this.later());
    saving.changed.push(() => this.later());
  }

  // `open` is [[id, name]], as the server sees it.
  show(assignment, open) {
    this.assignment = assignment;
    this.list.replaceChildren(
      ...open.map(([id, name]) => {
        const item = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        button.className = "link";
        button.dataset.cell = id;
        button.textContent = name;
        item.append(button);
        return item;
      }),
    );
    this.panel.hidden = false;
    this.draw();
  }

  close() {
    this.panel.hidden = true;
    this.focus.back();
  }

  // Once a frame: what is answered or skipped by now leaves the list.
  later() {
    if (this.panel.hidden) return;
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  draw() {
    for (const line of [...this.list.children]) {
      const cell = this.cells.get(line.firstChild.dataset.cell);
      if (cell && !this.cells.isOpen(cell)) line.remove();
      else line.firstChild.toggleAttribute("aria-current", cell === this.focus.cell);
    }
    const n = this.list.children.length;
    if (!n) this.panel.hidden = true;
    else this.panel.querySelector("h2").textContent = this.words.stillOpen.replace("{row}", this.cells.names.get(this.assignment)).replace("{n}", n);
  }
}
