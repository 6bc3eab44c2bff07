// The cells of a sheet: where each one stands, what is in it, and what follows from it by the scheme's rules.
//
// A value is the key of an option, "=" before it when the option follows from the column and nobody chose it, "!" and the
// reason where the rater cannot tell, or "".
class Cells {
  static LINE = 32; // the height of a line in pixels, as in the style sheet

  constructor(tables, palette, words) {
    this.tables = tables;
    this.palette = palette;
    this.words = words;
    this.byId = new Map();
    this.lines = []; // the lines of all tables in the order of the page: {y, tr, table, assignment, question, cells}
    this.columns = new Map(); // column -> {name, head}
    // assignment -> its cells, a section after the other, in it column by column
    this.parts = new Map(tables.dataset.documents.trim().split(/\s+/).map((assignment) => [assignment, []]));
    this.groups = new Map(); // "assignment-column" -> the cells of that column in that document, question by question
    this.names = new Map(); // assignment -> name of its document
    this.locked = new Set(); // assignments that are submitted
    this.left = new Map(); // assignment -> cells that are asked and open
    this.asked = 0;
    this.open = 0;
    for (const table of tables.querySelectorAll("table")) this.read(table);
    this.documents = [...this.parts.keys()].filter((assignment) => this.names.has(assignment)); // in this person's order
    // The order of the work: a document after the other, in it the sections, in them column by column.
    this.order = this.documents.flatMap((assignment) => this.parts.get(assignment));
    this.order.forEach((cell, rank) => (cell.rank = rank));
  }

  read(table) {
    const columns = [...table.tHead.querySelectorAll("th[data-column]")].map((head) => {
      this.columns.set(head.dataset.column, { name: head.title, head });
      return head.dataset.column;
    });
    let groups, document_;
    const rows = [...table.tBodies].flatMap((body) => {
      // What is out of sight is not laid out, but has its size.
      body.style.containIntrinsicBlockSize = `${body.rows.length * Cells.LINE}px`;
      return [...body.rows];
    });
    for (const [n, tr] of rows.entries()) {
      const { a: assignment, q: question } = tr.dataset;
      const cells = [];
      const line = { y: this.lines.length, tr, table, assignment, question, cells };
      this.lines.push(line);
      const head = tr.querySelector("th.doc");
      if (head) {
        document_ = head;
        groups = columns.map(() => []);
        columns.forEach((column, x) => this.groups.set(`${assignment}-${column}`, groups[x]));
        if (!this.names.has(assignment)) {
          this.names.set(assignment, head.querySelector(".name").textContent);
          this.left.set(assignment, 0);
          if ("locked" in tr.dataset) this.locked.add(assignment);
        }
      }
      line.head = document_;
      const first = tr.cells.length - columns.length;
      columns.forEach((column, x) => {
        const td = tr.cells[first + x];
        const id = `c-${assignment}-${column}-${question}`;
        td.id = id;
        const value = "skip" in td.dataset ? `!${td.dataset.skip}` : ("preset" in td.dataset ? "=" : "") + (td.dataset.option || "");
        const cell = { id, td, line, x, assignment, column, question, group: groups[x], value, off: td.hasAttribute("aria-disabled") };
        groups[x].push(cell);
        cells.push(cell);
        this.byId.set(id, cell);
        td.cell = cell;
        this.tally(cell, 1);
      });
      if (rows[n + 1]?.dataset.a !== assignment) for (const group of groups) this.parts.get(assignment).push(...group);
    }
  }

  get(id) {
    return this.byId.get(id);
  }

  spec(cell) {
    return this.palette[cell.question];
  }

  option(cell, value = cell.value) {
    const key = optionOf(value);
    return key ? this.spec(cell).options.find((option) => option.key === key) : undefined;
  }

  presetOf(cell) {
    const key = this.spec(cell).presets[cell.column];
    return key ? `=${key}` : "";
  }

  isLocked(cell) {
    return this.locked.has(cell.assignment);
  }

  isOpen(cell) {
    return !cell.value && !cell.off && !this.isLocked(cell);
  }

  // "Google 1 › Task › shred"
  title(cell) {
    return `${this.names.get(cell.assignment)} › ${this.spec(cell).title} › ${this.columns.get(cell.column).name}`;
  }

  // --- what is in a cell ----------------------------------------------------------------------------------------------

  tally(cell, step) {
    if (cell.off) return;
    this.asked += step;
    if (cell.value) return;
    this.open += step;
    this.left.set(cell.assignment, this.left.get(cell.assignment) + step);
  }

  put(cell, value, off = cell.off) {
    if (cell.value === value && cell.off === off) return;
    this.tally(cell, -1);
    cell.value = value;
    cell.off = off;
    this.tally(cell, 1);
    this.paint(cell);
  }

  paint(cell) {
    const { td } = cell;
    const reason = reasonOf(cell.value);
    const chosen = this.option(cell);
    const faint = !cell.value && !cell.off && this.option(cell, this.presetOf(cell));
    const shown = chosen || faint;
    td.className = chosen ? `t-${chosen.colour}` : reason ? "cannot-tell" : cell.off ? "off" : faint ? "preset" : "";
    if (reason) td.dataset.skip = td.title = reason;
    else if ("skip" in td.dataset) {
      delete td.dataset.skip;
      td.removeAttribute("title");
    }
    if (chosen) td.dataset.option = chosen.key;
    else delete td.dataset.option;
    if (shown || reason) td.dataset.sign = shown ? shown.sign : "?";
    else delete td.dataset.sign;
    if (cell.off) td.setAttribute("aria-disabled", "true");
    else td.removeAttribute("aria-disabled");
    const { off, empty, skipped } = this.words;
    td.firstChild.data = shown ? shown.label : reason ? skipped.replace("{reason}", reason) : cell.off ? off : empty;
  }

  // How far the cell's value is from the database: "saving", "failed", "conflict" or "".
  mark(cell, state) {
    cell.state = state;
    if (state) cell.td.dataset.state = state;
    else delete cell.td.dataset.state;
  }

  lock(assignment, locked) {
    if (locked) this.locked.add(assignment);
    else this.locked.delete(assignment);
    for (const line of this.lines)
      if (line.assignment === assignment)
        for (const { td } of line.cells) {
          if (locked) td.setAttribute("aria-readonly", "true");
          else td.removeAttribute("aria-readonly");
        }
  }

  // --- what follows from it -------------------------------------------------------------------------------------------

  // Put values as the server will, rules and presets included; questions come before those that depend on them.
  // Gives what changed as [[id, before, after]]. A value for a cell that is not asked goes to `leave` instead.
  apply(changes, leave = () => {}) {
    const before = new Map();
    const cleared = new Set();
    const groups = new Set();
    const put = (cell, value, off) => {
      if (!before.has(cell)) before.set(cell, cell.value);
      this.put(cell, value, off);
    };
    const switchOff = (cell) => put(cell, "", true);
    for (const [cell, value] of changes) {
      if (cell.off && value) {
        leave(cell);
        continue;
      }
      put(cell, value);
      if (!value) cleared.add(cell);
      groups.add(cell.group);
      if (cell.group.length > 1) this.switch(cell.group, switchOff);
    }
    for (const group of groups) this.settle(group, cleared, put);
    return [...before].filter(([cell, value]) => cell.value !== value).map(([cell, value]) => [cell.id, value, cell.value]);
  }

  settle(group, cleared, put) {
    if (group.every((cell) => !cell.value || cell.value.startsWith("="))) {
      // Nobody has answered this column, or nobody any more: what follows from answering it goes too.
      group.forEach((cell) => cell.value && put(cell, ""));
    } else {
      for (const cell of group) if (!cell.value && !cleared.has(cell)) put(cell, this.presetOf(cell));
    }
    this.switch(group, (cell) => put(cell, "", true));
  }

  // Switch the cells of one column of one document on and off, as the answers above them say.
  switch(group, off = (cell) => this.put(cell, "", true)) {
    const answers = {};
    for (const cell of group) {
      const rules = Object.entries(this.spec(cell).askUnless);
      const asked = rules.every(([above, options]) => above in answers && !options.includes(answers[above]));
      if (asked) {
        answers[cell.question] = optionOf(cell.value);
        if (cell.off) this.put(cell, cell.value, false);
      } else if (cell.value || !cell.off) off(cell);
    }
  }
}

const reasonOf = (value) => (value.startsWith("!") ? value.slice(1) : "");
const optionOf = (value) => (value.startsWith("=") ? value.slice(1) : value);
