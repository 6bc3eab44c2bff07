// Skipping: the rater cannot tell, and says why; of one cell, of the open cells of a range, or of what is left of a document.
// A skip goes the way of every other change: through the queue, with undo. Its value is "!" and the reason.
class Skipping {
  constructor({ focus, cells, range, editing, choosing, keys, words }) {
    Object.assign(this, { focus, cells, range, editing, choosing, words });
    this.dialog = document.getElementById("skip");
    this.form = this.dialog.querySelector("form");
    this.store = "palate:skip-reasons";
    keys.add("x", () => this.open());
    document.getElementById("open-skip").addEventListener("click", () => this.open());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (event.submitter?.value === "cancel") this.dialog.close();
      else this.skip();
    });
  }

  reasons() {
    try {
      return JSON.parse(localStorage.getItem(this.store)) || [];
    } catch {
      return [];
    }
  }

  open() {
    const { cell } = this.focus;
    if (cell.off || this.cells.isLocked(cell)) return this.choosing.describe();
    this.here = this.range.isRange ? this.range.get().filter((other) => this.cells.isOpen(other)) : [cell];
    this.rest = this.cells.order.filter((other) => other.assignment === cell.assignment && this.cells.isOpen(other));
    const reasons = this.reasons();
    const [scopeHere, scopeRest] = this.form.scope;
    scopeHere.nextElementSibling.textContent = this.range.isRange ? this.words.skipRange.replace("{n}", this.here.length) : this.cells.title(cell);
    scopeRest.nextElementSibling.textContent = this.words.skipRest
      .replace("{row}", this.cells.names.get(cell.assignment))
      .replace("{n}", this.rest.length);
    scopeHere.checked = true;
    scopeRest.disabled = !this.rest.length;
    this.form.reason.value = cell.value.startsWith("!") ? cell.value.slice(1) : reasons[0] || "";
    document.getElementById("skip-reasons").replaceChildren(
      ...reasons.map((reason) => {
        const option = document.createElement("option");
        option.value = reason;
        return option;
      }),
    );
    this.dialog.showModal();
    this.form.reason.select();
  }

  skip() {
    const value = skipOf(this.form.reason.value);
    const reason = reasonOf(value);
    if (!reason) return;
    const whole = this.form.scope[1].checked;
    // What the column presets is filled in by itself once something else of the column is said.
    const wanted = whole ? this.rest.filter((cell) => !this.cells.presetOf(cell)) : this.here;
    try {
      localStorage.setItem(this.store, JSON.stringify([reason, ...this.reasons().filter((other) => other !== reason)].slice(0, 8)));
    } catch {
      // A full or forbidden store: the reason is not offered next time.
    }
    this.editing.change(wanted.map((cell) => [cell, value]));
    this.dialog.close();
    const last = wanted[wanted.length - 1];
    if (last && !this.range.isRange) this.focus.go(this.focus.onward(last) || last);
    else this.choosing.describe();
  }
}

// The value of a cell that is skipped; a reason that is too long is cut, but not in half of a character.
const skipOf = (reason) => `!${reason.trim().slice(0, 500).replace(/[\ud800-\udbff]$/, "")}`;
