// The document beside the tables: fetched once a row, with the places of every column's words in it. Kinds of match are told
// apart by their line, not by colour alone; see annotation/evidence/matching.py for what each of them is.

import { charactersOf, unitsOf } from "../core/places.js";
import { make, placeOf } from "../page/elements.js";

/** @typedef {[block: number, start: number, end: number, kind: string, share: number]} Hit a place of a facet's words in a block */
/** @typedef {Record<string, Record<string, Hit[]>>} Hits column -> facet -> places */
/**
 * @typedef {object} DocumentPage
 * @property {HTMLElement} article
 * @property {Hits} hits
 * @property {HTMLElement[]} blocks
 * @property {Set<HTMLElement>} marked the blocks that have marks in them
 * @property {HTMLElement | null} best
 */
/** @typedef {{start: number, end: number, kind: string, strong: boolean}} Span */
/** @typedef {import("../core/places.js").Place} Place */
/** @typedef {{matches: Record<string, string>, noMatch: string, evidenceFailed: string}} Messages matches: kind -> its name */
/** @typedef {{pressed: (event: KeyboardEvent) => void, left: () => void}} Beside what keys do in a stored page; left: Esc */

const WHOLE_LINE = "line"; // in the place of a kind: the block is the column itself, whose words are not marked

export class EvidencePanel {
  /**
   * @param {HTMLElement} panel
   * @param {(row: string) => string} urlOf
   * @param {Messages} messages
   * @param {Beside} beside
   */
  constructor(panel, urlOf, messages, beside) {
    this.beside = beside;
    this.isPage = false; // the stored page is shown in place of the text, of every document that has one
    this.panel = panel;
    this.urlOf = urlOf;
    this.messages = messages;
    /** @type {Map<string, Promise<DocumentPage>>} */
    this.pages = new Map();
    /** @type {DocumentPage | null} */
    this.shown = null;
    this.wanted = "";
    this.isTied = false; // what is marked are the words of entries
    /** @type {{row: string, column: string, about: string | null} | null} */
    this.now = null;
    /** @type {[row: string, column: string, about: string | null] | null} what was asked for last, shown or not */
    this.asked = null;
    addEventListener("online", () => this.again());
    panel.addEventListener("click", (event) => {
      if (placeOf(event).closest("[data-original]")) this.turn();
    });
  }

  /** @param {string} row */
  fetch(row) {
    const known = this.pages.get(row);
    if (known) return known;
    const page = this.load(row);
    page.catch(() => this.pages.delete(row));
    this.pages.set(row, page);
    return page;
  }

  /**
   * @param {string} row
   * @returns {Promise<DocumentPage>}
   */
  async load(row) {
    const response = await fetch(this.urlOf(row), { credentials: "same-origin" });
    if (!response.ok || response.redirected) throw new Error(response.statusText);
    const scheme = response.headers.get("X-Scheme-Version");
    this.panel.dispatchEvent(new CustomEvent("fetched", { detail: { scheme } }));
    const article = make("article", { innerHTML: await response.text() });
    const hits = JSON.parse(article.querySelector("script[type='application/json']")?.textContent ?? "");
    const blocks = /** @type {NodeListOf<HTMLElement>} */ (article.querySelectorAll("[data-b]"));
    return { article, hits, blocks: [...blocks], marked: new Set(), best: null };
  }

  /**
   * Show a row's document, and in it the words of a column; those of the facet `about` stand out.
   * @param {string} row
   * @param {string} column
   * @param {string | null} about
   */
  async show(row, column, about) {
    const wanted = `${row}/${column}/${about}`;
    this.wanted = wanted;
    this.asked = [row, column, about];
    /** @type {DocumentPage} */
    let page;
    try {
      page = await this.fetch(row);
    } catch {
      if (this.wanted === wanted) {
        this.panel.textContent = this.messages.evidenceFailed;
        this.shown = null;
      }
      return;
    }
    if (this.wanted !== wanted) return; // the focus has moved on meanwhile
    this.now = { row, column, about };
    if (this.shown !== page) {
      this.panel.replaceChildren(page.article);
      this.panel.scrollTop = 0;
      this.shown = page;
      this.panel.dispatchEvent(new CustomEvent("shown", { detail: { row } }));
      this.drawPage(page);
    }
    if (!this.isTied) this.mark(page, page.hits[column] || {}, about);
  }

  /**
   * Scroll the text by most of what is seen of it; nothing where the stored page is shown.
   * @param {1 | -1} by
   */
  scroll(by) {
    if (this.isPage) return false;
    const head = this.shown?.article.querySelector("header")?.clientHeight ?? 0;
    this.panel.scrollTop += by * Math.max(0.8 * (this.panel.clientHeight - head), 40);
    return true;
  }

  // The connection is back: what did not come is asked for anew.
  again() {
    if (this.shown?.article.querySelector(".no-page")) this.drawPage(this.shown);
    else if (!this.shown && this.asked) this.show(...this.asked);
  }

  // --- the words that the entries of a list come from -------------------------------------------------------------------

  /**
   * The texts of a row's blocks; none while another document is shown.
   * @param {string} row
   * @returns {string[]}
   */
  textsOf(row) {
    return this.shown && this.now?.row === row ? this.shown.blocks.map((block) => block.textContent) : [];
  }

  /**
   * Mark the words of an entry, and faintly those of the others, in place of what else is marked.
   * @param {string} row
   * @param {Place[]} own
   * @param {Place[]} others
   */
  tie(row, own, others) {
    const page = this.shown;
    if (!page || this.now?.row !== row) return;
    this.isTied = true;
    for (const block of page.marked) block.replaceChildren(block.textContent);
    page.marked.clear();
    page.best?.classList.remove("best");
    page.best = null;
    /** @type {Map<number, Span[]>} */
    const byBlock = new Map();
    for (const place of [...own, ...others]) {
      const text = page.blocks[place.block]?.textContent;
      if (text === undefined) continue;
      const strong = own.includes(place);
      const [start, end] = [unitsOf(text, place.start), unitsOf(text, place.end)];
      byBlock.set(place.block, [...(byBlock.get(place.block) ?? []), { start, end, kind: "tied", strong }]);
    }
    for (const [number, spans] of byBlock) {
      this.wrap(page.blocks[number], apart(spans));
      page.marked.add(page.blocks[number]);
    }
    page.article.querySelector(".matches")?.replaceChildren();
    if (own.length && page.blocks[own[0].block]) this.scrollTo(page.blocks[own[0].block]);
  }

  // What is marked are the words of the column again.
  untie() {
    if (!this.isTied) return;
    this.isTied = false;
    if (this.shown && this.now) this.mark(this.shown, this.shown.hits[this.now.column] || {}, this.now.about);
  }

  /**
   * Where the words stand that are selected in the document, without blanks around them; the selection is gone then.
   * @returns {Place[]}
   */
  selected() {
    const selection = document.getSelection();
    if (!this.shown || !selection?.rangeCount || selection.isCollapsed) return [];
    const range = selection.getRangeAt(0);
    /** @type {Place[]} */
    const places = [];
    for (const [block, element] of this.shown.blocks.entries()) {
      if (!range.intersectsNode(element)) continue;
      const text = element.textContent;
      const [from, to] = [offsetIn(element, range, true), offsetIn(element, range, false)];
      const words = text.slice(from, to);
      const start = from + (words.length - words.trimStart().length);
      const end = from + words.trimEnd().length;
      if (start < end) places.push({ block, start: charactersOf(text, start), end: charactersOf(text, end) });
    }
    selection.removeAllRanges();
    return places;
  }

  // --- the words of columns ---------------------------------------------------------------------------------------------

  /**
   * @param {DocumentPage} page
   * @param {Record<string, Hit[]>} hits
   * @param {string | null} about
   */
  mark(page, hits, about) {
    for (const block of page.marked) block.replaceChildren(block.textContent);
    page.marked.clear();
    /** @type {Map<number, Span[]>} */
    const byBlock = new Map();
    /** @type {Map<string, number>} */
    const counts = new Map();
    /** @type {{block: number, share: number} | null} */
    let best = null;
    for (const [facet, places] of Object.entries(hits)) {
      const strong = !about || facet === about;
      for (const [block, start, end, kind, share] of places) {
        if (kind === WHOLE_LINE) {
          if (strong) best = { block, share: Number.POSITIVE_INFINITY };
          continue;
        }
        const spans = byBlock.get(block) ?? [];
        spans.push({ start, end, kind, strong });
        byBlock.set(block, spans);
        if (!strong) continue;
        counts.set(kind, (counts.get(kind) || 0) + 1);
        if (!best || share > best.share) best = { block, share };
      }
    }
    for (const [number, spans] of byBlock) {
      this.wrap(page.blocks[number], spans);
      page.marked.add(page.blocks[number]);
    }
    const block = best ? page.blocks[best.block] : null;
    if (page.best !== block) {
      page.best?.classList.remove("best");
      block?.classList.add("best");
      page.best = block;
    }
    const looked = Object.values(hits).some((places) => places[0]?.[3] !== WHOLE_LINE);
    this.tell(page.article.querySelector(".matches"), counts, looked);
    this.markPage(page);
    if (block && !this.isPage) this.scrollTo(block);
  }

  /**
   * What was found, by kind, each drawn as it is marked in the text.
   * @param {Element | null} line
   * @param {Map<string, number>} counts
   * @param {boolean} looked there was something to look for
   */
  tell(line, counts, looked) {
    const kinds = Object.keys(this.messages.matches).filter((kind) => counts.has(kind));
    line?.classList.toggle("none", !kinds.length && looked);
    if (!kinds.length) line?.replaceChildren(looked ? this.messages.noMatch : "");
    else
      line?.replaceChildren(
        ...kinds.map((kind) => {
          const properties = { className: `mark-like strong m-${kind}`, textContent: this.messages.matches[kind] };
          return make("span", {}, make("span", properties), ` ${counts.get(kind)}`);
        }),
      );
  }

  /**
   * @param {HTMLElement} block
   * @param {Span[]} spans
   */
  wrap(block, spans) {
    const text = block.textContent;
    const parts = [];
    let at = 0;
    spans.sort((a, b) => a.start - b.start || Number(b.strong) - Number(a.strong));
    for (const { start, end, kind, strong } of spans) {
      if (start < at) continue;
      parts.push(text.slice(at, start));
      const className = `m-${kind}${strong ? " strong" : ""}`;
      parts.push(make("mark", { className, title: this.messages.matches[kind], textContent: text.slice(start, end) }));
      at = end;
    }
    block.replaceChildren(...parts, text.slice(at));
  }

  /**
   * Only as far as needed, so that the text does not jump while one moves along a line.
   * @param {HTMLElement} block
   */
  scrollTo(block) {
    const panel = this.panel.getBoundingClientRect();
    const box = block.getBoundingClientRect();
    const head = this.panel.querySelector("header")?.offsetHeight || 0;
    if (box.top < panel.top + head || box.bottom > panel.bottom)
      this.panel.scrollTop += box.top - panel.top - head - (panel.height - head) / 3;
  }

  // --- the stored page ----------------------------------------------------------------------------------------------------

  /** The stored page in place of the text that was taken out of it, and back; where there is none, nothing happens. */
  turn() {
    if (this.shown && !this.shown.article.querySelector("[data-original]")) return;
    this.isPage = !this.isPage;
    if (this.shown) this.drawPage(this.shown); // else it is drawn once the document is there
  }

  /** @param {DocumentPage} page */
  drawPage(page) {
    const { article } = page;
    const button = /** @type {HTMLElement | null} */ (article.querySelector("[data-original]"));
    if (!button) return;
    const { isPage } = this;
    article.querySelector("iframe, .no-page")?.remove();
    if (isPage) {
      const frame = make("iframe", { title: button.dataset.title ?? "" });
      // Nothing runs in it; that it is of our origin lets the keys be heard and the words be marked.
      frame.setAttribute("sandbox", "allow-same-origin");
      frame.addEventListener("load", () => this.enter(page, frame));
      frame.src = button.dataset.original ?? "";
      article.append(frame);
    }
    article.querySelector(".blocks")?.toggleAttribute("hidden", isPage);
    article.classList.toggle("framed", isPage);
    button.setAttribute("aria-pressed", String(isPage));
    this.panel.scrollTop = 0;
  }

  /**
   * @param {DocumentPage} page
   * @param {HTMLIFrameElement} frame that has loaded
   */
  enter(page, frame) {
    const stored = frame.contentDocument;
    // Without a connection the browser puts a page of its own there, which takes the keys.
    if (!stored)
      return frame.replaceWith(make("p", { className: "no-page", textContent: this.messages.evidenceFailed }));
    stored.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return this.beside.pressed(event);
      event.preventDefault();
      this.beside.left();
    });
    this.markPage(page);
  }

  /**
   * Mark in the stored page the words that are marked in the text, by the same lines; the first of the focused item is
   * scrolled to.
   * @param {DocumentPage} page
   */
  markPage({ article, marked }) {
    const frame = article.querySelector("iframe");
    const body = frame?.contentDocument?.body;
    if (!frame?.contentWindow || !body) return;
    /** @type {Map<string, string>} */
    const kinds = new Map(); // words -> the class of their mark
    for (const block of marked)
      for (const mark of block.querySelectorAll("mark")) {
        const words = wordsOf(mark.textContent);
        if (!kinds.get(words)?.includes("strong")) kinds.set(words, mark.className);
      }
    markWords(body, kinds);
    const first = body.querySelector("mark.strong");
    const { contentWindow } = frame;
    if (first)
      contentWindow.scrollTo(0, contentWindow.scrollY + first.getBoundingClientRect().top - frame.clientHeight / 3);
  }
}

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();

/**
 * Mark words wherever they stand in a page, in place of those that are marked there.
 * @param {HTMLElement} body
 * @param {Map<string, string>} kinds words -> the class of their mark
 */
function markWords(body, kinds) {
  for (const mark of body.querySelectorAll("mark[data-found]")) {
    const parent = mark.parentNode;
    mark.replaceWith(...mark.childNodes);
    parent?.normalize();
  }
  if (!kinds.size) return;
  const alternatives = [...kinds.keys()]
    .sort((a, b) => b.length - a.length)
    .map((words) => words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s+"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const walker = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  for (const text of texts) {
    if (text.parentElement?.closest(".said")) continue;
    const found = [...text.data.matchAll(pattern)];
    if (!found.length) continue;
    const parts = [];
    let at = 0;
    for (const { 0: words, index } of found) {
      parts.push(text.data.slice(at, index));
      const mark = make("mark", { className: kinds.get(wordsOf(words)) ?? "", textContent: words });
      mark.dataset.found = "";
      parts.push(mark);
      at = index + words.length;
    }
    text.replaceWith(...parts, text.data.slice(at));
  }
}

/**
 * Spans of which none overlaps: what is strong stays whole, and the others keep what it leaves of them.
 * @param {Span[]} spans
 */
function apart(spans) {
  const strong = spans.filter((span) => span.strong);
  const rest = spans
    .filter((span) => !span.strong)
    .flatMap((span) => {
      let left = [span];
      for (const other of strong)
        left = left.flatMap((one) =>
          one.end <= other.start || other.end <= one.start
            ? [one]
            : [
                { ...one, end: other.start },
                { ...one, start: other.end },
              ].filter(({ start, end }) => start < end),
        );
      return left;
    });
  return [...strong, ...rest];
}

/**
 * Where in an element's text a range begins, or ends.
 * @param {HTMLElement} element
 * @param {Range} range
 * @param {boolean} isStart
 */
function offsetIn(element, range, isStart) {
  const [node, offset] = isStart ? [range.startContainer, range.startOffset] : [range.endContainer, range.endOffset];
  const before = document.createRange();
  before.selectNodeContents(element);
  if (!element.contains(node)) return isStart ? 0 : before.toString().length;
  before.setEnd(node, offset);
  return before.toString().length;
}
