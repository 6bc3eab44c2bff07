// The document beside the grid: fetched once a row, with the places of every column's words in it. Kinds of match are told
// apart by their line, not by colour alone; see annotation/matching.py for what each of them is.
class EvidencePanel {
  constructor(panel, urlOf, messages) {
    this.panel = panel;
    this.urlOf = urlOf;
    this.messages = messages;
    this.pages = new Map(); // assignment -> promise of {article, hits}
    this.shown = null;
    panel.addEventListener("click", ({ target }) => target.closest("[data-original]") && this.turnPage());
  }

  fetch(assignment) {
    if (!this.pages.has(assignment)) {
      const page = fetch(this.urlOf(assignment), { credentials: "same-origin" })
        .then((response) => {
          if (!response.ok || response.redirected) throw new Error(response.statusText);
          return response.text();
        })
        .then((html) => {
          const article = document.createElement("article");
          article.innerHTML = html;
          const data = article.querySelector("script[type='application/json']");
          return { article, hits: JSON.parse(data.textContent), blocks: [...article.querySelectorAll("[data-b]")], marked: new Set(), best: null };
        });
      page.catch(() => this.pages.delete(assignment));
      this.pages.set(assignment, page);
    }
    return this.pages.get(assignment);
  }

  // Show the row of `assignment`, and in it the words of `column`; those of the facet `about` stand out.
  async show(assignment, column, about) {
    const wanted = (this.wanted = `${assignment}/${column}/${about}`);
    let page;
    try {
      page = await this.fetch(assignment);
    } catch {
      if (this.wanted === wanted) {
        this.panel.textContent = this.messages.evidenceFailed;
        this.shown = null;
      }
      return;
    }
    if (this.wanted !== wanted) return; // the focus has moved on meanwhile
    if (this.shown !== page) {
      this.panel.replaceChildren(page.article);
      this.panel.scrollTop = 0;
      this.shown = page;
      this.panel.dispatchEvent(new CustomEvent("shown", { detail: { assignment } }));
    }
    this.mark(page, page.hits[column] || {}, about);
  }

  mark(page, hits, about) {
    for (const block of page.marked) block.textContent = block.textContent;
    page.marked.clear();
    const byBlock = new Map();
    const counts = new Map();
    let best = null;
    for (const [facet, places] of Object.entries(hits)) {
      const strong = !about || facet === about;
      for (const [block, start, end, kind, share] of places) {
        if (!byBlock.has(block)) byBlock.set(block, []);
        byBlock.get(block).push({ start, end, kind, strong });
        if (!strong) continue;
        counts.set(kind, (counts.get(kind) || 0) + 1);
        if (!best || share > best.share) best = { block, share };
      }
    }
    for (const [number, spans] of byBlock) {
      this.wrap(page.blocks[number], spans);
      page.marked.add(page.blocks[number]);
    }
    const block = best && page.blocks[best.block];
    if (page.best !== block) {
      page.best?.classList.remove("best");
      block?.classList.add("best");
      page.best = block;
    }
    this.tell(page.article.querySelector(".matches"), counts, Object.keys(hits).length);
    if (block) this.scrollTo(block);
  }

  // What was found, by kind, each drawn as it is marked in the text.
  tell(line, counts, looked) {
    const kinds = Object.keys(this.messages.matches).filter((kind) => counts.has(kind));
    if (!kinds.length) {
      line.textContent = looked ? this.messages.noMatch : "";
      line.classList.toggle("none", Boolean(looked));
      return;
    }
    line.classList.remove("none");
    line.replaceChildren(
      ...kinds.map((kind) => {
        const item = document.createElement("span");
        const mark = document.createElement("span");
        mark.className = `mark-like strong m-${kind}`;
        mark.textContent = this.messages.matches[kind];
        item.append(mark, ` ${counts.get(kind)}`);
        return item;
      }),
    );
  }

  wrap(block, spans) {
    const text = block.textContent;
    const parts = [];
    let at = 0;
    spans.sort((a, b) => a.start - b.start || b.strong - a.strong);
    for (const { start, end, kind, strong } of spans) {
      if (start < at) continue;
      parts.push(text.slice(at, start));
      const mark = document.createElement("mark");
      mark.className = `m-${kind}${strong ? " strong" : ""}`;
      mark.title = this.messages.matches[kind];
      mark.textContent = text.slice(start, end);
      parts.push(mark);
      at = end;
    }
    block.replaceChildren(...parts, text.slice(at));
  }

  // Only as far as needed, so that the text does not jump while one moves along a line.
  scrollTo(block) {
    const panel = this.panel.getBoundingClientRect();
    const box = block.getBoundingClientRect();
    const head = this.panel.querySelector("header")?.offsetHeight || 0;
    if (box.top < panel.top + head || box.bottom > panel.bottom)
      this.panel.scrollTop += box.top - panel.top - head - (panel.height - head) / 3;
  }

  // The stored page in place of the text that was taken out of it, and back.
  turnPage() {
    const { article } = this.shown;
    const button = article.querySelector("[data-original]");
    const frame = article.querySelector("iframe");
    const text = article.querySelector(".blocks");
    if (frame) frame.remove();
    else {
      const original = document.createElement("iframe");
      original.setAttribute("sandbox", "");
      original.title = button.dataset.title;
      original.src = button.dataset.original;
      article.append(original);
    }
    text.hidden = !frame;
    article.classList.toggle("framed", !frame);
    button.setAttribute("aria-pressed", String(!frame));
    this.panel.scrollTop = 0;
  }
}
