// Submitting a document and taking it back; how much is left of each and of the sheet.
class Submitting {
  constructor({ cells, focus, saving, stillOpen, config, words, refuse, panel }) {
    Object.assign(this, { cells, focus, saving, stillOpen, config, words, refuse, panel });
    this.marks = new Map();
    for (const mark of cells.tables.querySelectorAll(".mark")) {
      const { mark: assignment, state } = mark.dataset;
      if (!this.marks.has(assignment)) this.marks.set(assignment, { state, shown: null, elements: [] });
      this.marks.get(assignment).elements.push(mark);
    }
    this.busy = false;
    this.next = null; // the assignment to submit as soon as its last choices are saved
    this.drawn = false;
    this.rests = 0; // until when `s` does nothing, in milliseconds since the page was opened
    saving.acknowledged.push((edit, { states }) => {
      for (const [assignment, state] of Object.entries(states)) this.set(assignment, state);
    });
    saving.changed.push((state) => {
      this.count();
      if (!this.next) return;
      if (state === "retrying") {
        refuse(words.waiting);
        this.next = null;
      } else if (state !== "saving") this.turn(this.next);
    });
    panel.addEventListener("click", (event) => {
      if (event.detail < 2 && event.target.closest("[data-submit], [data-reopen]")) this.turn(focus.cell.assignment);
    });
    panel.addEventListener("shown", () => this.buttons());
    document.addEventListener("keydown", ({ key }) => key.toLowerCase() !== "s" && (this.rests = 0));
  }

  keys(keys) {
    keys.add("s", ({ repeat }) => {
      // Held down or pressed twice it is one submission: the focus goes on, and the second would be about another document.
      if (repeat || this.busy || this.next || performance.now() < this.rests) return;
      this.turn(this.focus.cell.assignment);
    });
  }

  set(assignment, state) {
    const mark = this.marks.get(assignment);
    if (!mark || mark.state === state) return;
    mark.state = state;
    this.cells.lock(assignment, ["submitted", "withdrawn"].includes(state));
    this.count();
  }

  // Submit a document, or take it back when it is submitted.
  async turn(assignment) {
    this.next = null;
    this.saving.queue.adopt(); // what another tab has not got through belongs to the document too
    if (this.saving.queue.waiting.length) {
      if (this.saving.queue.state === "retrying") return this.refuse(this.words.waiting);
      this.next = assignment;
      return;
    }
    if ([...this.saving.conflicts.keys()].some((id) => this.cells.get(id).assignment === assignment))
      return this.refuse(this.words.decideFirst);
    if (this.marks.get(assignment).state === "withdrawn") return this.refuse(this.words.withdrawn);
    if (this.busy) return;
    this.busy = true;
    const taken = this.marks.get(assignment).state === "submitted";
    const url = (taken ? this.config.reopen : this.config.submit).replace("/0/", `/${assignment}/`);
    const body = new URLSearchParams(taken ? {} : { seen: JSON.stringify(this.seen(assignment)) });
    const response = await fetch(url, { method: "POST", body, headers: this.saving.headers(), signal: AbortSignal.timeout(20000) }).catch(() => null);
    this.busy = false;
    const answer = response?.headers.get("Content-Type")?.startsWith("application/json") ? await response.json() : null;
    if (response && isLoggedOut(response, this.config)) return this.refuse(this.words.loggedOut);
    if (!answer) return this.refuse(this.words.notSubmitted);
    if (response.status === 409) {
      if (answer.columns) this.saving.takeOver({ columns: answer.columns, states: {} });
      if (answer.open) this.stillOpen.show(assignment, answer.open);
      return this.refuse(answer.message);
    }
    this.refuse("");
    this.rests = performance.now() + 1000;
    this.set(assignment, answer.state);
    this.saving.others?.postMessage({ columns: [], states: { [assignment]: answer.state } });
    if (taken) {
      this.saving.queue.release((edit) => edit.changes.some(([id]) => this.cells.get(id)?.assignment === assignment));
      return this.focus.back();
    }
    const { documents } = this.cells;
    const next = documents.slice(documents.indexOf(assignment) + 1).find((a) => this.marks.get(a).state !== "submitted");
    this.focus.go(next ? this.focus.firstOf(next) : this.focus.cell);
  }

  // The answers that this page shows of a document: [[column, question, code], …].
  seen(assignment) {
    return this.cells.order
      .filter((cell) => cell.assignment === assignment && cell.value)
      .map((cell) => [Number(cell.column), Number(cell.question), optionOf(cell.value)]);
  }

  // --- counts ---------------------------------------------------------------------------------------------------------

  // Once a frame, however many cells have changed.
  count() {
    this.counting ??= requestAnimationFrame(() => {
      this.counting = null;
      this.draw();
    });
  }

  draw() {
    const { asked, open, left } = this.cells;
    document.getElementById("cells-left").textContent = this.words.left.replace("{open}", open).replace("{all}", asked);
    const progress = document.getElementById("sheet-progress");
    progress.max = asked || 1;
    progress.value = asked - open;
    const states = [...this.marks.values()];
    document.getElementById("n-submitted").textContent = states.filter(({ state }) => state === "submitted").length;
    for (const [assignment, mark] of this.marks) {
      const shown = mark.state !== "submitted" && !left.get(assignment) ? "ready" : mark.state;
      if (mark.shown === shown) continue;
      mark.shown = shown;
      for (const element of mark.elements) {
        element.dataset.state = shown;
        element.title = this.words[shown];
      }
    }
    this.buttons();
  }

  buttons() {
    if (!this.focus.cell) return;
    const submitted = this.marks.get(this.focus.cell.assignment).state === "submitted";
    this.panel.querySelectorAll("[data-submit]").forEach((button) => (button.hidden = submitted));
    this.panel.querySelectorAll("[data-reopen]").forEach((button) => (button.hidden = !submitted));
  }
}
