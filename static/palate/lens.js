// The lens: everybody's letters in each cell, filters and keys that lead from one difference to the next, and decisions.
(() => {
  const config = document.getElementById("lens-config").dataset;
  const palette = JSON.parse(document.getElementById("palette-data").textContent);
  const words = JSON.parse(document.getElementById("messages-data").textContent);
  const $ = (id) => document.getElementById(id);
  const tables = $("tables");
  const work = $("work");

  // --- the cells --------------------------------------------------------------------------------------------------------

  const lines = []; // {tr, table, row, question, cells}
  const cells = []; // reading order: a section after the other, in it row by row, in it column by column
  const byKey = new Map();
  const byCell = new WeakMap();
  const keyOf = (row, column, question) => `${row}/${column}/${question}`;
  for (const table of tables.querySelectorAll("table")) {
    const columns = [...table.querySelectorAll("col[data-column]")];
    let ofRow = []; // the cells of a row, question by question
    const readColumnByColumn = () => {
      columns.forEach((_col, x) => ofRow.forEach((line) => cells.push(line[x])));
      ofRow = [];
    };
    let doc = null;
    for (const tr of table.tBodies[0].rows) {
      const head = tr.querySelector("th.doc");
      if (head) {
        readColumnByColumn();
        doc = head;
      }
      const { r: row, q: question } = tr.dataset;
      const line = { y: lines.length, tr, table, doc, row, question, cells: [] };
      line.cells = [...tr.querySelectorAll("td")].map((td, x) => {
        const cell = { td, line, x, row, question, column: columns[x].dataset.column, col: columns[x], flags: flagsOf(td) };
        byKey.set(keyOf(row, cell.column, question), cell);
        byCell.set(td, cell);
        return cell;
      });
      ofRow.push(line.cells);
      lines.push(line);
    }
    readColumnByColumn();
  }
  cells.forEach((cell, rank) => (cell.rank = rank));

  function flagsOf(td) {
    return new Set((td.dataset.f || "").split(" ").filter(Boolean));
  }

  // --- filters ----------------------------------------------------------------------------------------------------------

  const filters = $("filters").elements;
  const chosen = () => ({
    kind: filters.kind.value,
    judge: filters.judge?.value || "",
    question: filters.question.value,
    undecided: filters.undecided.checked,
  });

  function isOf(cell, kind, judge) {
    if (!kind) return !cell.td.classList.contains("off");
    if (kind === "judge") return judge ? cell.flags.has(`judge-${judge}`) : [...cell.flags].some((flag) => flag.startsWith("judge-"));
    return cell.flags.has(kind);
  }

  const isAsked = (cell, { question, undecided }) =>
    (!question || cell.question === question) && !(undecided && cell.flags.has("decided"));

  // Where nothing is filtered, the keys lead from one difference to the next.
  const isTarget = (cell, now) =>
    isAsked(cell, now) && (now.kind ? isOf(cell, now.kind, now.judge) : isOf(cell, "people") || isOf(cell, "judge", now.judge));

  let targets = [];

  function filter() {
    const now = chosen();
    const narrow = Boolean(now.kind || now.question || now.undecided);
    const rows = new Set();
    targets = [];
    for (const cell of cells) {
      const shown = isAsked(cell, now) && isOf(cell, now.kind, now.judge);
      if (shown) rows.add(cell.line.doc);
      cell.td.classList.toggle("dim", narrow && !shown);
      if (isTarget(cell, now)) targets.push(cell);
    }
    for (const line of lines) line.tr.hidden = narrow && !rows.has(line.doc);
    for (const table of tables.querySelectorAll("table")) table.hidden = [...table.tBodies[0].rows].every((tr) => tr.hidden);
    $("nothing").hidden = !narrow || rows.size > 0;
    count(now);
    const query = new URLSearchParams(Object.entries(now).filter(([, value]) => value).map(([key, value]) => [key, value === true ? "1" : value]));
    history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
    document.querySelectorAll("a[data-sheet]").forEach((link) => (link.search = query)); // the next sheet under the same filter
    showPlace();
  }

  function count(now) {
    const counts = {};
    for (const cell of cells) {
      if (!isAsked(cell, now)) continue;
      for (const kind of kinds) if (isOf(cell, kind, now.judge)) counts[kind] = (counts[kind] || 0) + 1;
    }
    for (const kind of kinds) document.querySelector(`[data-count="${kind}"]`).textContent = counts[kind] || 0;
  }
  const kinds = [...document.querySelectorAll("[data-count]")].map((element) => element.dataset.count);

  function showPlace() {
    const here = targets.indexOf(focused);
    const all = targets.length;
    $("place").textContent = !all ? words.none : (here < 0 ? words.of : words.place).replace("{here}", here + 1).replace("{all}", all);
    $("next").disabled = $("previous").disabled = !all;
  }

  // The next target after the focus in reading order, or before it; from the last one on to the first.
  function step(by) {
    if (!targets.length) return;
    const rank = focused ? focused.rank : -1;
    const next = by > 0 ? targets.find((cell) => cell.rank > rank) || targets[0] : targets.findLast((cell) => cell.rank < rank) || targets.at(-1);
    focus(next);
  }

  // --- focus ------------------------------------------------------------------------------------------------------------

  let focused = null;
  let asking = null; // the timer, then the request, of what is said of the focused cell
  const panel = new EvidencePanel($("evidence"), (row) => config.evidence.replace("/0/", `/${row}/`), words);

  function focus(cell, { keys = true } = {}) {
    if (!cell) return;
    cancelReason({ back: false });
    if (focused) {
      focused.td.removeAttribute("tabindex");
      light(focused, false);
    }
    focused = cell;
    cell.td.tabIndex = 0;
    light(cell, true);
    if (keys) cell.td.focus({ preventScroll: true });
    reveal(cell);
    describe();
    showPlace();
    clearTimeout(asking?.timer);
    asking?.request?.abort();
    const mine = (asking = { timer: setTimeout(() => tell(cell, mine), 60) }); // not for each cell that one runs over
  }

  function light(cell, on) {
    for (const element of [cell.line.tr, cell.line.doc, cell.col, $(`h-${cell.column}`)]) element.classList.toggle("lit", on);
  }

  function reveal({ td, line: { table } }) {
    const box = td.getBoundingClientRect();
    const view = tables.getBoundingClientRect();
    const head = table.tHead;
    const top = view.top + (getComputedStyle(head).position === "sticky" ? head : head.rows[0]).offsetHeight;
    const left = view.left + head.querySelector(".corner").offsetWidth;
    if (box.top < top) tables.scrollTop -= top - box.top;
    else if (box.bottom > view.bottom) tables.scrollTop += box.bottom - view.bottom + 2;
    if (box.left < left) tables.scrollLeft -= left - box.left;
    else if (box.right > view.right) tables.scrollLeft += box.right - view.right + 16;
  }

  // What is said of a cell, and the document beside it.
  async function tell(cell, mine) {
    panel.show(cell.row, cell.column, palette[cell.question].about);
    mine.request = new AbortController();
    const query = new URLSearchParams({ row: cell.row, column: cell.column, question: cell.question });
    try {
      const answer = await fetch(`${config.cell}?${query}`, { signal: mine.request.signal, credentials: "same-origin" });
      if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
      const html = await answer.text();
      if (asking !== mine) return;
      $("detail").innerHTML = html;
      $("detail").scrollTop = 0;
    } catch (error) {
      if (error.name !== "AbortError" && asking === mine) $("detail").textContent = words.detailFailed;
    }
  }

  function describe() {
    const { question, column, line } = focused;
    $("where").textContent = `${line.doc.querySelector(".name").textContent} › ${palette[question].title} › ${$(`h-${column}`).title}`;
    const choices = $("choices");
    if (!config.decide) return choices.replaceChildren(words.readOnly);
    choices.replaceChildren(
      ...palette[question].options.map((o) => button(o.hotkey, `${o.sign}  ${o.label}`, o.key, `choice t-${o.colour}`)),
      ...(focused.flags.has("decided") ? [button("⌫", words.withdraw, "", "choice")] : []),
    );
  }

  function button(hotkey, label, key, classes) {
    const element = document.createElement("button");
    element.type = "button";
    element.tabIndex = -1;
    element.dataset.choose = key;
    element.className = classes;
    const kbd = document.createElement("kbd");
    kbd.textContent = hotkey;
    element.append(kbd, ` ${label}`);
    return element;
  }

  // --- deciding ---------------------------------------------------------------------------------------------------------

  let deciding = null; // {cell, option} while the reason is asked for
  let saving = false;

  function decide(option) {
    if (!config.decide || saving || (!option && !focused.flags.has("decided"))) return;
    deciding = { cell: focused, option };
    say("");
    refuse("");
    $("reason-of").replaceChildren(option ? chip(option) : "", ` ${option ? option.label : words.withdraw}`);
    $("reason").value = "";
    $("reason-form").hidden = false;
    $("choices").hidden = true;
    $("reason").focus();
  }

  function chip({ sign, colour }) {
    const element = document.createElement("span");
    element.className = `chip t-${colour}`;
    element.textContent = sign;
    return element;
  }

  function cancelReason({ back = true } = {}) {
    if (!deciding) return;
    deciding = null;
    refuse("");
    $("reason-form").hidden = true;
    $("choices").hidden = false;
    if (back) focused.td.focus({ preventScroll: true });
  }

  async function save() {
    if (!deciding || saving) return;
    const { cell, option } = deciding;
    saving = true;
    const slow = setTimeout(() => say(words.saving), 300);
    try {
      const answer = await fetch(config.decide, {
        method: "POST",
        credentials: "same-origin",
        headers: { "X-CSRFToken": document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] || "" },
        body: new URLSearchParams({ row: cell.row, column: cell.column, question: cell.question, option: option?.key || "", reason: $("reason").value }),
      });
      if (answer.status === 409) return refuse((await answer.json()).message);
      if (answer.status === 403 || answer.redirected) return refuse(words.loggedOut);
      if (!answer.ok) return refuse(words.notSaved);
      (await answer.json()).cells.forEach(redraw);
      cancelReason();
      say(option ? words.decided.replace("{option}", option.label) : words.withdrawn);
      const narrow = chosen().kind || chosen().undecided;
      filter();
      if (narrow && option) step(1);
      else focus(cell);
    } catch {
      refuse(words.notSaved);
    } finally {
      clearTimeout(slow);
      saving = false;
    }
  }

  function redraw([row, column, question, html]) {
    const cell = byKey.get(keyOf(row, column, question));
    const holder = document.createElement("tr");
    holder.innerHTML = html;
    const td = holder.firstElementChild;
    cell.td.replaceChildren(...td.childNodes);
    cell.td.className = td.className;
    cell.td.dataset.f = td.dataset.f || "";
    cell.flags = flagsOf(td);
  }

  function say(sentence) {
    $("said").textContent = sentence;
  }

  function refuse(sentence) {
    $("refusal").textContent = sentence;
    $("refusal").hidden = !sentence;
  }

  // --- keys -------------------------------------------------------------------------------------------------------------

  const shownLines = () => lines.filter((line) => !line.tr.hidden);
  function moved(event) {
    const shown = shownLines();
    const y = shown.indexOf(focused.line);
    const at = (row, x) => shown[row] && shown[row].cells[Math.max(0, Math.min(x, shown[row].cells.length - 1))];
    const bounded = (row) => Math.max(0, Math.min(row, shown.length - 1));
    switch ((event.ctrlKey ? "Ctrl+" : "") + event.key) {
      case "ArrowLeft": return at(y, focused.x - 1);
      case "ArrowRight": return at(y, focused.x + 1);
      case "ArrowUp": return at(y - 1, focused.x);
      case "ArrowDown": return at(y + 1, focused.x);
      case "PageUp": return at(bounded(y - 10), focused.x);
      case "PageDown": return at(bounded(y + 10), focused.x);
      case "Home": return at(y, 0);
      case "End": return at(y, Infinity);
      case "Ctrl+Home": return at(0, 0);
      case "Ctrl+End": return at(shown.length - 1, Infinity);
      default: return null;
    }
  }

  tables.addEventListener("keydown", (event) => {
    if (!focused || event.altKey || event.metaKey) return;
    const cell = moved(event);
    if (cell !== null) {
      event.preventDefault();
      return focus(cell);
    }
    if (event.ctrlKey || event.repeat) return;
    if (event.key === "Backspace" || event.key === "Delete") {
      event.preventDefault();
      decide(null);
    } else if (/^[0-9]$/.test(event.key)) {
      const option = palette[focused.question].options.find((o) => o.hotkey === event.key);
      if (!option) return;
      event.preventDefault();
      decide(option);
    }
  });

  // Letters are keys in the grid, and where nothing has the focus; on a button or in a field they would come as a surprise.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && deciding) return cancelReason();
    const free = event.target === document.body || tables.contains(event.target);
    if (!free || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const action = {
      n: () => step(1), j: () => step(1), p: () => step(-1), k: () => step(-1),
      o: () => $("original")?.click(),
      "?": () => $("help").showModal(),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  tables.addEventListener("mousedown", (event) => {
    const td = event.target.closest("td");
    if (!td) return;
    event.preventDefault();
    focus(byCell.get(td));
  });
  tables.addEventListener("focusin", (event) => {
    const cell = event.target.matches("td") && byCell.get(event.target);
    if (cell && cell !== focused) focus(cell);
  });
  // A click to read on, or to mark words, leaves the keys in the grid.
  for (const text of [$("detail"), $("evidence")])
    text.addEventListener("click", ({ target }) => {
      if (focused && !deciding && !target.closest("a, button, summary")) focused.td.focus({ preventScroll: true });
    });
  $("choices").addEventListener("click", (event) => {
    const choice = event.target.closest("[data-choose]");
    if (choice) decide(palette[focused.question].options.find((o) => o.key === choice.dataset.choose) || null);
  });
  $("reason-form").addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  $("reason-cancel").addEventListener("click", () => cancelReason());
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("change", () => {
    // To ask for a judge is to ask where it differs.
    if (filters.judge?.value && !filters.kind.value) filters.kind.value = "judge";
    filter();
    if (focused?.line.tr.hidden || (targets.length && !targets.includes(focused))) focus(targets[0], { keys: false });
  });
  $("next").addEventListener("click", () => step(1));
  $("previous").addEventListener("click", () => step(-1));
  $("open-help").addEventListener("click", () => $("help").showModal());
  $("open-counts").addEventListener("click", () => $("counts").showModal());
  document.querySelectorAll("dialog").forEach((dialog) => dialog.addEventListener("close", () => focused?.td.focus({ preventScroll: true })));

  // --- the divider ------------------------------------------------------------------------------------------------------

  const divider = $("divider");
  const setWidth = (share) => {
    const bounded = Math.max(20, Math.min(60, share));
    work.style.setProperty("--evidence", `${bounded}%`);
    divider.setAttribute("aria-valuenow", Math.round(bounded));
    localStorage.setItem("palate:evidence-width", bounded);
  };
  setWidth(Number(localStorage.getItem("palate:evidence-width")) || 32);
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    divider.onpointermove = ({ clientX }) => {
      const box = work.getBoundingClientRect();
      setWidth((100 * (box.right - clientX)) / box.width);
    };
    divider.onpointerup = () => (divider.onpointermove = null);
  });
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: 2, ArrowRight: -2 }[event.key];
    if (by) setWidth(Number(divider.getAttribute("aria-valuenow")) + by);
  });

  // --- start ------------------------------------------------------------------------------------------------------------

  const asked = new URLSearchParams(location.search);
  for (const name of ["kind", "judge", "question"]) if (asked.has(name) && filters[name]) filters[name].value = asked.get(name);
  filters.undecided.checked = asked.has("undecided");
  filter();
  focus(targets[0] || cells[0]);
})();
