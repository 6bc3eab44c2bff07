// Asking the manager about a cell: a dialog on a key; a corner on each cell that was asked about; and, in the bottom line,
// what was asked of the focused cell and what was answered.

import { fill } from "../core/sentences.js";
import { byId, elementOf, fragment, inside } from "../page/elements.js";
import { isOfAnother, PATIENCE } from "../page/requests.js";
import { browserStore } from "../page/store.js";

/** @typedef {import("../core/sentences.js").Sentences} Sentences */
/** @typedef {import("../sheet/keys.js").Keys} Keys */
/** @typedef {import("./cells.js").Cell} Cell */
/** @typedef {import("./cells.js").Cells} Cells */
/** @typedef {import("./focus.js").Focus} Focus */
/** @typedef {{ok: true, html: string} | {ok: false, message: string}} Heard */
/**
 * @typedef {object} Parts
 * @property {HTMLElement} tables
 * @property {Focus} focus
 * @property {Cells} cells
 * @property {Keys} keys
 * @property {DOMStringMap} config
 * @property {Sentences} words
 * @property {(cell: Cell) => void} noted another note stands at a cell, or none
 * @property {(element: HTMLElement, sentence: string) => void} say
 * @property {() => Record<string, string>} headers
 */

const READ = 1500; // ms after which an answer that stands in the bottom line counts as read

export class Notes {
  /** @param {Parts} parts */
  constructor({ tables, focus, cells, keys, config, words, noted, say, headers }) {
    this.focus = focus;
    this.cells = cells;
    this.config = config;
    this.words = words;
    this.noted = noted;
    this.say = say;
    this.headers = headers;
    this.draftStore = `palate:draft:${config.store}:`;
    /** @type {Map<string, string>} */
    this.drafts = new Map(); // cell id -> what was written and not sent, where the browser's store does not take it
    /** @type {Map<string, Promise<Heard>>} */
    this.threads = new Map(); // cell id -> its thread
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.reading = undefined;
    /** @type {Cell | null} */
    this.asking = null; // the cell that the dialog is about
    this.dialog = elementOf("ask", HTMLDialogElement);
    this.shown = byId("asked");
    this.form = inside(this.dialog, "form", HTMLFormElement);
    this.text = elementOf("ask-text", HTMLTextAreaElement);
    this.thread = inside(this.dialog, ".thread", HTMLElement);
    this.error = inside(this.dialog, "[role=alert]", HTMLElement);
    keys.add("m", () => void this.open());
    byId("open-ask").addEventListener("click", () => this.open());
    tables.addEventListener("palate:focus-cell", () => this.show());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { value = "" } = /** @type {HTMLButtonElement | null} */ (event.submitter) ?? {};
      if (value === "withdraw") this.withdraw();
      else if (value === "ask") this.send();
      else this.dialog.close();
    });
    this.text.addEventListener("input", () => this.asking && this.keepDraft(this.asking, this.text.value));
    this.form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.send();
    });
  }

  /**
   * @param {Cell} cell
   * @param {string} [end]
   */
  url({ assignment, column, question }, end = "") {
    const address = this.config.notes ?? "";
    return `${address.replace("/0/notes/0/0/", `/${assignment}/notes/${column}/${question}/`)}${end}`;
  }

  /**
   * The server that is not there is a message as well.
   * @param {string} url
   * @param {Record<string, string>} [body]
   * @returns {Promise<Heard>}
   */
  async call(url, body) {
    const post = body ? { method: "POST", body: new URLSearchParams(body), headers: this.headers() } : {};
    const response = await fetch(url, { ...post, signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
    if (!response) return { ok: false, message: this.words.noAnswer };
    if (isOfAnother(response)) return { ok: false, message: this.words.anotherLogin };
    if (response.redirected || response.status === 403) return { ok: false, message: this.words.loggedOut };
    if (response.status === 409) return { ok: false, message: (await response.json()).message };
    if (!response.ok) return { ok: false, message: this.words.noAnswer };
    return { ok: true, html: await response.text() };
  }

  /** @param {Cell} cell */
  load(cell) {
    const known = this.threads.get(cell.id);
    if (known) return known;
    const thread = this.call(this.url(cell));
    thread.then(({ ok }) => ok || this.threads.delete(cell.id));
    this.threads.set(cell.id, thread);
    return thread;
  }

  // --- the bottom line --------------------------------------------------------------------------------------------------

  async show() {
    const { cell } = this.focus;
    clearTimeout(this.reading);
    if (!cell.td.dataset.note) {
      this.shown.textContent = "";
      return;
    }
    const thread = await this.load(cell);
    if (!thread.ok || this.focus.cell !== cell) return;
    const last = [...fragment(thread.html).querySelectorAll(".note")].at(-1);
    if (!last) return;
    const asked = textOf(last, ".asked");
    const answer = textOf(last, ".said");
    this.shown.textContent = answer ? fill(this.words.noteAnswered, { answer }) : fill(this.words.noteOpen, { asked });
    // Read is what has stood there for a moment, not what was passed on the way.
    if (cell.td.dataset.note === "answered") this.reading = setTimeout(() => this.read(cell), READ);
  }

  /** @param {Cell} cell */
  async read(cell) {
    const { ok } = await this.call(this.url(cell, "read/"), {});
    if (ok) this.set(cell, "read");
  }

  // --- the dialog -------------------------------------------------------------------------------------------------------

  async open() {
    const { cell } = this.focus;
    this.asking = cell;
    this.error.textContent = "";
    inside(this.dialog, ".where", HTMLElement).textContent = this.cells.title(cell);
    this.text.value = this.draftOf(cell);
    this.thread.replaceChildren();
    this.dialog.showModal();
    this.text.focus();
    if (!cell.td.dataset.note) return this.draw(cell, "");
    const thread = await this.load(cell);
    if (!this.dialog.open || this.asking !== cell) return;
    if (!thread.ok) return this.say(this.error, thread.message);
    this.draw(cell, thread.html);
    if (cell.td.dataset.note === "answered") this.read(cell);
  }

  /**
   * @param {Cell} cell
   * @param {string} html
   */
  draw(cell, html) {
    this.thread.replaceChildren(...fragment(html).childNodes);
    const open = this.thread.querySelector("[data-open]");
    this.text.value = this.draftOf(cell) || (open ? textOf(open, ".asked") : "");
    inside(this.form, "[value=withdraw]", HTMLElement).hidden = !open;
  }

  /**
   * What is written stays until it is sent, whatever closes the dialog or the page.
   * @param {Cell} cell
   * @param {string} text
   */
  keepDraft(cell, text) {
    this.drafts.delete(cell.id);
    if (!text.trim()) browserStore.remove(this.draftStore + cell.id);
    // Where the store does not take it, it is kept as long as this page is open.
    else if (!browserStore.write(this.draftStore + cell.id, text)) this.drafts.set(cell.id, text);
  }

  /** @param {Cell} cell */
  draftOf(cell) {
    return this.drafts.get(cell.id) ?? browserStore.read(this.draftStore + cell.id) ?? "";
  }

  async send() {
    const cell = this.asking;
    if (!cell) return;
    const sent = await this.call(this.url(cell), { text: this.text.value });
    if (!sent.ok) return this.say(this.error, sent.message);
    this.keepDraft(cell, "");
    this.threads.set(cell.id, Promise.resolve(sent));
    this.set(cell, "open");
    this.dialog.close();
  }

  async withdraw() {
    const cell = this.asking;
    const open = inside(this.thread, "[data-open]", HTMLElement);
    if (!cell) return;
    const address = this.config.withdraw ?? "";
    const withdrawn = await this.call(address.replace("/0/", `/${open.dataset.pk}/`), {});
    this.threads.delete(cell.id);
    if (!withdrawn.ok) return this.say(this.error, withdrawn.message);
    this.keepDraft(cell, "");
    const thread = await this.load(cell);
    const left = thread.ok ? fragment(thread.html).querySelectorAll(".note").length : 0;
    this.set(cell, left ? "read" : "");
    this.dialog.close();
  }

  /**
   * @param {Cell} cell
   * @param {string} state of its note; "" for none
   */
  set(cell, state) {
    if (state) cell.td.dataset.note = state;
    else delete cell.td.dataset.note;
    this.noted(cell);
    if (this.focus.cell === cell) this.show();
  }
}

/**
 * @param {Element} note
 * @param {string} part
 */
const textOf = (note, part) => note.querySelector(part)?.textContent?.trim() ?? "";
