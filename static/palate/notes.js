// Asking the manager about a cell: a dialog on a key; a corner on each cell that was asked about; and, in the bottom line,
// what was asked of the focused cell and what was answered.
class Notes {
  constructor({ tables, focus, cells, keys, config, words, say, headers }) {
    Object.assign(this, { tables, focus, cells, config, words, say, headers });
    this.draftStore = `palate:draft:${config.store}:`;
    this.drafts = new Map(); // cell id -> what was written and not sent, where the browser's store does not take it
    this.dialog = document.getElementById("ask");
    this.shown = document.getElementById("asked");
    this.threads = new Map(); // cell id -> promise of the thread's HTML
    this.form = this.dialog.querySelector("form");
    this.thread = this.dialog.querySelector(".thread");
    this.error = this.dialog.querySelector("[role=alert]");
    keys.add("m", () => this.open());
    document.getElementById("open-ask").addEventListener("click", () => this.open());
    tables.addEventListener("palate:focus-cell", () => this.show());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (event.submitter?.value === "withdraw") this.withdraw();
      else if (event.submitter?.value === "ask") this.send();
      else this.dialog.close();
    });
    this.form.text.addEventListener("input", () => this.keepDraft(this.cell, this.form.text.value));
    this.form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.send();
    });
  }

  url({ assignment, column, question }, end = "") {
    return `${this.config.notes.replace("/0/notes/0/0/", `/${assignment}/notes/${column}/${question}/`)}${end}`;
  }

  // {ok, html} or {ok: false, message}; the server that is not there is a message as well.
  async call(url, body) {
    const options = body ? { method: "POST", body: new URLSearchParams(body), headers: this.headers() } : {};
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(15000) }).catch(() => null);
    if (!response) return { ok: false, message: this.words.noAnswer };
    if (response.redirected || response.status === 403) return { ok: false, message: this.words.loggedOut };
    if (response.status === 409) return { ok: false, message: (await response.json()).message };
    if (!response.ok) return { ok: false, message: this.words.noAnswer };
    return { ok: true, html: await response.text() };
  }

  load(cell) {
    if (!this.threads.has(cell.id)) {
      const thread = this.call(this.url(cell));
      thread.then(({ ok }) => ok || this.threads.delete(cell.id));
      this.threads.set(cell.id, thread);
    }
    return this.threads.get(cell.id);
  }

  // --- the bottom line --------------------------------------------------------------------------------------------------

  async show() {
    const { cell } = this.focus;
    clearTimeout(this.reading);
    if (!cell.td.dataset.note) {
      this.shown.textContent = "";
      return;
    }
    const { ok, html } = await this.load(cell);
    if (!ok || this.focus.cell !== cell) return;
    const notes = parse(html).querySelectorAll(".note");
    const last = notes[notes.length - 1];
    if (!last) return;
    const [asked, answer] = [".asked", ".said"].map((part) => last.querySelector(part)?.textContent.trim());
    this.shown.textContent = answer ? this.words.noteAnswered.replace("{answer}", answer) : this.words.noteOpen.replace("{asked}", asked);
    // Read is what has stood there for a moment, not what was passed on the way.
    if (cell.td.dataset.note === "answered") this.reading = setTimeout(() => this.read(cell), 1500);
  }

  async read(cell) {
    const { ok } = await this.call(this.url(cell, "read/"), {});
    if (ok) this.set(cell, "read");
  }

  // --- the dialog -------------------------------------------------------------------------------------------------------

  async open() {
    const { cell } = this.focus;
    this.cell = cell;
    this.error.textContent = "";
    this.dialog.querySelector(".where").textContent = this.cells.title(cell);
    this.form.text.value = this.draftOf(cell);
    this.thread.replaceChildren();
    this.dialog.showModal();
    this.form.text.focus();
    if (!cell.td.dataset.note) return this.draw("");
    const { ok, html, message } = await this.load(cell);
    if (!this.dialog.open || this.cell !== cell) return;
    if (!ok) this.say(this.error, message);
    else this.draw(html);
    if (ok && cell.td.dataset.note === "answered") this.read(cell);
  }

  draw(html) {
    const thread = parse(html);
    this.thread.replaceChildren(...thread.childNodes);
    const open = this.thread.querySelector("[data-open]");
    this.form.text.value = this.draftOf(this.cell) || (open ? open.querySelector(".asked").textContent.trim() : "");
    this.form.querySelector("[value=withdraw]").hidden = !open;
  }

  // What is written stays until it is sent, whatever closes the dialog or the page.
  keepDraft(cell, text) {
    this.drafts.delete(cell.id);
    try {
      if (text.trim()) localStorage.setItem(this.draftStore + cell.id, text);
      else localStorage.removeItem(this.draftStore + cell.id);
    } catch {
      // A full or forbidden store: it is kept as long as this page is open.
      this.drafts.set(cell.id, text);
    }
  }

  draftOf(cell) {
    try {
      return this.drafts.get(cell.id) ?? localStorage.getItem(this.draftStore + cell.id) ?? "";
    } catch {
      return "";
    }
  }

  async send() {
    const { cell } = this;
    const { ok, html, message } = await this.call(this.url(cell), { text: this.form.text.value });
    if (!ok) return this.say(this.error, message);
    this.keepDraft(cell, "");
    this.threads.set(cell.id, Promise.resolve({ ok, html }));
    this.set(cell, "open");
    this.dialog.close();
  }

  async withdraw() {
    const { cell } = this;
    const { pk } = this.thread.querySelector("[data-open]").dataset;
    const { ok, message } = await this.call(this.config.withdraw.replace("/0/", `/${pk}/`), {});
    this.threads.delete(cell.id);
    if (!ok) return this.say(this.error, message);
    this.keepDraft(cell, "");
    const { html } = await this.load(cell);
    const left = html ? parse(html).querySelectorAll(".note").length : 0;
    this.set(cell, left ? "read" : "");
    this.dialog.close();
  }

  set(cell, state) {
    if (state) cell.td.dataset.note = state;
    else delete cell.td.dataset.note;
    if (state) cell.td.setAttribute("aria-description", this.words.noteStates[state]);
    else cell.td.removeAttribute("aria-description");
    if (this.focus.cell === cell) this.show();
  }
}

const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
};
