// The document beside the grid: fetched once a row, with the places of every column's words in it.
class EvidencePanel {
  constructor(panel, urlOf, messages) {
    this.panel = panel;
    this.urlOf = urlOf;
    this.messages = messages;
    this.pages = new Map(); // assignment -> promise of {article, hits}
    this.shown = null;
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
          return { article, hits: JSON.parse(data.textContent), scroll: 0 };
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
      if (this.wanted === wanted) this.panel.textContent = this.messages.evidenceFailed;
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
    const blocks = page.article.querySelectorAll("[data-b]");
    page.article.querySelectorAll("[data-b]:has(mark)").forEach((block) => (block.textContent = block.textContent));
    const byBlock = new Map();
    let best = null;
    for (const [facet, places] of Object.entries(hits)) {
      const strong = !about || facet === about;
      for (const [block, start, end, share] of places) {
        if (!byBlock.has(block)) byBlock.set(block, []);
        byBlock.get(block).push([start, end, strong]);
        if (strong && (!best || share > best.share)) best = { block, share };
      }
    }
    for (const [number, spans] of byBlock) this.wrap(blocks[number], spans);
    blocks.forEach((block, number) => block.classList.toggle("best", best?.block === number));
    page.article.querySelector(".no-match").hidden = Boolean(best) || !Object.keys(hits).length;
    if (best) this.scrollTo(blocks[best.block]);
  }

  wrap(block, spans) {
    const text = block.textContent;
    const parts = [];
    let at = 0;
    spans.sort((a, b) => a[0] - b[0] || b[2] - a[2]);
    for (const [start, end, strong] of spans) {
      if (start < at) continue;
      parts.push(text.slice(at, start));
      const mark = document.createElement("mark");
      mark.className = strong ? "strong" : "";
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
      this.panel.scrollTop += box.top - panel.top - panel.height / 3;
  }
}
