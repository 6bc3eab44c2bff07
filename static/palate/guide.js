// The guideline beside the work: it opens above the document at the focused question's place, follows the focus to other
// questions, and leaves the keys in the grid.
class Guide {
  constructor({ tables, focus, cells, keys }) {
    Object.assign(this, { focus, cells });
    this.panel = document.getElementById("guide");
    this.button = document.getElementById("open-guide");
    this.at = null;
    this.title = this.panel.querySelector("h2");
    this.name = this.title.textContent;
    keys.add("g", () => this.turn());
    this.button.addEventListener("mousedown", (event) => event.preventDefault());
    this.button.addEventListener("click", () => this.turn());
    this.panel.querySelector("[data-close]").addEventListener("click", () => this.turn(false));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || this.panel.hidden || document.querySelector("dialog[open]")) return;
      this.turn(false);
    });
    tables.addEventListener("palate:focus-cell", () => this.follow());
  }

  turn(open = this.panel.hidden) {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    this.at = null;
    if (open) this.follow();
    else this.focus.back();
  }

  follow() {
    if (this.panel.hidden || !this.focus.cell) return;
    const { section, key } = this.cells.spec(this.focus.cell);
    const place = document.getElementById(`guide-${section}-${key}`);
    if (!place || place === this.at) return;
    this.at?.classList.remove("here");
    this.at = place;
    this.title.textContent = `${this.name}: ${this.cells.spec(this.focus.cell).title}`;
    place.classList.add("here");
    const body = this.panel.querySelector(".body");
    body.scrollTop += place.getBoundingClientRect().top - body.getBoundingClientRect().top;
  }
}
