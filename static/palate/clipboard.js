// Copy, cut and paste: between cells, and to and from Excel or Google Sheets, as tab-separated words of the options. A skipped
// cell travels with its reason, in the words of the workbook; see annotation/spreadsheet.
class CellClipboard {
  constructor({ cells, focus, range, choosing, editing, words, refused }) {
    Object.assign(this, { cells, focus, range, choosing, editing, words, refused });
    const [before, after] = words.skippedWord.split("{reason}").map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.skip = new RegExp(`^${before}\\s*(\\S.*)${after}$`, "isu");
    const inGrid = () => cells.tables.contains(document.activeElement);
    document.addEventListener("copy", (event) => inGrid() && this.copy(event));
    document.addEventListener("cut", (event) => inGrid() && this.cut(event));
    document.addEventListener("paste", (event) => inGrid() && this.paste(event));
  }

  copy(event) {
    const { y0, y1, x0, x1 } = this.range.box();
    const lines = this.cells.lines.slice(y0, y1 + 1).map(({ cells }) => cells.slice(x0, x1 + 1));
    const text = lines.map((line) => line.map((cell) => this.write(cell)).join("\t")).join("\n");
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  }

  cut(event) {
    this.copy(event);
    this.choosing.choose("");
  }

  // As a spreadsheet writes it: what has tabs or line ends in it stands in quotation marks.
  write(cell) {
    const reason = reasonOf(cell.value);
    const word = reason ? this.words.skippedWord.replace("{reason}", () => reason) : this.cells.option(cell)?.label || "";
    return /[\t\r\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word;
  }

  // What a word means in a cell: an option's key, a skip, "" to clear; undefined where it means nothing.
  read(cell, word) {
    if (!word.trim()) return "";
    const reason = this.skip.exec(word.trim())?.[1];
    return this.choosing.match(cell, word)?.key ?? (reason && skipOf(reason));
  }

  paste(event) {
    const rows = readTabs(event.clipboardData.getData("text/plain"));
    event.preventDefault();
    if (!rows.length) return;
    const wanted = [];
    const unknown = [];
    let outside = 0;
    for (const [cell, word] of this.targets(rows)) {
      const answer = cell && this.read(cell, word);
      if (!cell) outside += 1;
      else if (answer !== undefined) wanted.push([cell, answer]);
      else if (!cell.off) unknown.push([cell, word]);
    }
    const done = this.editing.change(wanted.filter(([cell, answer]) => answer || cell.value));
    // As in any spreadsheet an empty word clears; the words that went are not seen any more, so it is said.
    this.editing.report(done, done.changed.some((cell) => !cell.value));
    const left = [
      ...unknown.map(([cell, word]) => this.sentence(cell, this.words.unknownWord.replace("{word}", word.trim().slice(0, 80)))),
      ...done.off.map((cell) => this.sentence(cell, this.words.off)),
      ...done.locked.map((cell) => this.sentence(cell, this.words.submitted)),
    ];
    if (outside) left.push(this.words.leftOutside.replace("{n}", outside));
    if (unknown.length || outside) this.refused(this.editing.told(done), left);
    this.choosing.describe();
  }

  sentence(cell, reason) {
    return `${this.cells.title(cell)}: ${reason}`;
  }

  // Where each word goes: a single one into the whole range; a block again and again into a range that is a multiple of it,
  // else once from the first cell on. No cell where the block is larger than the table.
  targets(rows) {
    const { y0, y1, x0, x1 } = this.range.box();
    const height = rows.length;
    const width = rows.reduce((most, row) => Math.max(most, row.length), 0); // more rows than a call takes arguments
    const fits = (y1 - y0 + 1) % height === 0 && (x1 - x0 + 1) % width === 0;
    const [bottom, right] = fits ? [y1, x1] : [y0 + height - 1, x0 + width - 1];
    const { table } = this.cells.lines[y0];
    const found = [];
    for (let y = y0; y <= bottom; y++)
      for (let x = x0; x <= right; x++) {
        const line = this.cells.lines[y];
        found.push([line?.table === table ? line.cells[x] : undefined, rows[(y - y0) % height][(x - x0) % width] ?? ""]);
      }
    return found;
  }
}

// Tab-separated text as spreadsheets write it: a cell in quotation marks may hold line ends, and quotation marks twice.
function readTabs(text) {
  const rows = [[]];
  const pattern = /(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\r|\n|$)/y;
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex;
    let match = pattern.exec(text);
    if (!match) {
      // A quotation mark that belongs to a word.
      pattern.lastIndex = start;
      match = /([^\t\r\n]*)(\t|\r\n|\r|\n|$)/.exec(text.slice(start));
      pattern.lastIndex = start + match[0].length;
      match = [match[0], undefined, match[1], match[2]];
    }
    rows.at(-1).push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
    if (match[3] === "\t" && pattern.lastIndex === text.length) rows.at(-1).push("");
    else if (match[3] && match[3] !== "\t" && pattern.lastIndex < text.length) rows.push([]);
  }
  return rows[0].length ? rows : [];
}
