// The grid: one focused cell, keys that move and choose, each choice saved at once.
(() => {
  const config = document.getElementById("grid-config").dataset;
  const palette = JSON.parse(document.getElementById("palette-data").textContent);
  const words = JSON.parse(document.getElementById("messages-data").textContent);
  const tables = document.getElementById("tables");
  const work = document.getElementById("work");
  const $ = (id) => document.getElementById(id);
  const url = (pattern, pk) => pattern.replace("/0/", `/${pk}/`);

  // --- where things are -------------------------------------------------------------------------------------------------

  // Lines of cells over all tables, in the order of the page. Cells are replaced when saved, so ids are kept, not elements.
  const lines = [...tables.querySelectorAll("tbody tr")].map((tr) => ({
    ids: [...tr.querySelectorAll("td")].map((td) => td.id),
    assignment: tr.dataset.a,
    question: tr.dataset.q,
    section: tr.closest("table").dataset.section,
  }));
  const place = new Map();
  lines.forEach((line, y) => line.ids.forEach((id, x) => place.set(id, { x, y })));
  const assignments = [...new Set(lines.map((line) => line.assignment))];
  // Reading order: a section after the other, in it a document after the other, in it column by column with its questions.
  const order = [];
  for (let y = 0; y < lines.length; ) {
    let end = y;
    while (end < lines.length && lines[end].assignment === lines[y].assignment && lines[end].section === lines[y].section) end++;
    for (let x = 0; x < lines[y].ids.length; x++) for (let i = y; i < end; i++) order.push(lines[i].ids[x]);
    y = end;
  }
  const rank = new Map(order.map((id, i) => [id, i]));

  let focused = null;
  const cellOf = (id) => $(id);
  const partsOf = (id) => {
    const [, assignment, column, question] = id.split("-");
    return { assignment, column, question };
  };
  const isOpen = (td) => !td.dataset.option && !td.hasAttribute("aria-disabled") && !td.hasAttribute("aria-readonly");

  // --- focus ------------------------------------------------------------------------------------------------------------

  const panel = new EvidencePanel($("evidence"), (pk) => url(config.evidence, pk), words);

  function focus(id, { scroll = true } = {}) {
    const td = cellOf(id);
    if (!td) return;
    if (focused && focused !== id) {
      const old = cellOf(focused);
      old.tabIndex = -1;
      old.removeAttribute("aria-selected");
    }
    const before = focused && place.get(focused);
    focused = id;
    td.tabIndex = 0;
    td.setAttribute("aria-selected", "true");
    td.focus({ preventScroll: true });
    if (scroll) reveal(td);
    light(before, place.get(id));
    describe();
    const { assignment, column, question } = partsOf(id);
    panel.show(assignment, column, palette[question].about);
    const next = assignments[assignments.indexOf(assignment) + 1];
    if (next) panel.fetch(next).catch(() => {});
  }

  // Softly light the focused line and column.
  function light(before, now) {
    if (before && before.y === now.y && before.x === now.x) return;
    tables.querySelectorAll(".lit").forEach((element) => element.classList.remove("lit"));
    const line = lines[now.y];
    cellOf(line.ids[now.x]).closest("tr").classList.add("lit");
    tables.querySelector(`table[data-section="${line.section}"] th.doc[data-a="${line.assignment}"]`).classList.add("lit");
    const column = partsOf(line.ids[now.x]).column;
    $(`h-${column}`).classList.add("lit");
    $(`k-${column}`).classList.add("lit");
  }

  // Scroll the cell clear of the headings that stay in place.
  function reveal(td) {
    const table = td.closest("table");
    const box = td.getBoundingClientRect();
    const view = tables.getBoundingClientRect();
    // On a low window only the first line of the headings stays.
    const staying = getComputedStyle(table.tHead).position === "sticky" ? table.tHead : table.tHead.rows[0];
    const top = view.top + staying.offsetHeight;
    const heads = td.parentElement.querySelectorAll("th");
    const doc = table.querySelector("th.doc");
    const left = view.left + doc.offsetWidth + (heads.length && table.classList.contains("many") ? table.querySelector("th.q").offsetWidth : 0);
    if (box.top < top) tables.scrollTop -= top - box.top;
    else if (box.bottom > view.bottom) tables.scrollTop += box.bottom - view.bottom + 2;
    if (box.left < left) tables.scrollLeft -= left - box.left;
    else if (box.right > view.right) tables.scrollLeft += box.right - view.right + 16;
  }

  // The bottom line names the focused cell and what each key does there.
  function describe() {
    const td = cellOf(focused);
    const { assignment, column, question } = partsOf(focused);
    const name = tables.querySelector(`th.doc[data-a="${assignment}"]`).firstChild.textContent.trim();
    $("where").textContent = `${name} › ${palette[question].title} › ${$(`h-${column}`).title}`;
    const choices = $("choices");
    if (td.hasAttribute("aria-readonly")) return choices.replaceChildren(words.locked);
    if (td.hasAttribute("aria-disabled")) return choices.replaceChildren(words.notAsked);
    choices.replaceChildren(...buttonsOf(question, td.dataset.option));
  }

  function buttonsOf(question, chosen) {
    const button = (hotkey, label, key, classes) => {
      const element = document.createElement("button");
      element.type = "button";
      element.tabIndex = -1;
      element.dataset.choose = key;
      element.className = classes;
      element.setAttribute("aria-pressed", key !== "" && chosen === key);
      const kbd = document.createElement("kbd");
      kbd.textContent = hotkey;
      element.append(kbd, ` ${label}`);
      return element;
    };
    return [
      ...palette[question].options.map((o) => button(o.hotkey, `${o.sign}  ${o.label}`, o.key, `choice t-${o.colour}`)),
      button("⌫", words.clear, "", "choice"),
    ];
  }

  // Room for the question with the most options, so that the grid does not jump from one question to the next.
  function reserve() {
    const choices = $("choices");
    choices.style.minHeight = "";
    const heights = Object.keys(palette).map((question) => {
      choices.replaceChildren(...buttonsOf(question));
      return choices.offsetHeight;
    });
    choices.style.minHeight = `${Math.max(...heights)}px`;
    if (focused) describe();
  }

  // --- saving -----------------------------------------------------------------------------------------------------------

  const queue = new EditQueue(config.store, send, showState);

  let slow = null;

  function showState(state) {
    if (state === "saving") {
      slow ??= setTimeout(() => say(state), 300); // mostly it is saved before that, and nothing flickers
      return;
    }
    clearTimeout(slow);
    slow = null;
    say(state);
    if (state === "retrying") {
      queue.edits.forEach((edit) => cellOf(edit.cell)?.classList.add("failed"));
      if (submitNext) refuse(words.waiting);
      submitNext = null;
    } else if (submitNext) submitOrReopen(submitNext);
  }

  function say(state) {
    const element = $("save-state");
    if (element.dataset.state === state) return;
    element.dataset.state = state;
    element.textContent = words[state];
  }

  function paint(id, optionKey, state) {
    const td = cellOf(id);
    const option = palette[partsOf(id).question].options.find((o) => o.key === optionKey);
    td.className = `cell ${option ? `t-${option.colour}` : ""} ${state}`;
    if (option) td.dataset.option = option.key;
    else delete td.dataset.option;
    td.children[0].textContent = option ? option.sign : "";
    td.children[1].textContent = option ? option.label : words.empty;
  }

  function choose(optionKey) {
    const td = cellOf(focused);
    if (td.hasAttribute("aria-disabled") || td.hasAttribute("aria-readonly")) return describe();
    if (!optionKey && !td.dataset.option) return;
    refuse("");
    const before = td.dataset.option || "";
    draw(focused, optionKey);
    count();
    queue.add({ cell: focused, option: optionKey, before });
    if (optionKey) go(nextOpen(focused, 1) || focused);
    else describe();
  }

  // A choice and what follows from it, before the server has confirmed it.
  function draw(id, optionKey) {
    paint(id, optionKey, "saving");
    if (optionKey) fillPresets(id);
    applyRules(id);
  }

  // A column that is answered answers by itself what it presets.
  function fillPresets(id) {
    const { assignment, column, question } = partsOf(id);
    for (const [pk, spec] of Object.entries(palette)) {
      if (spec.section !== palette[question].section || !spec.presets[column]) continue;
      const other = cellOf(`c-${assignment}-${column}-${pk}`);
      if (!other.dataset.option) paint(other.id, spec.presets[column], "saving");
    }
  }

  // Switch cells of the same column on and off as the scheme's rules say.
  function applyRules(id) {
    const { assignment, column, question } = partsOf(id);
    const answers = {};
    for (const [pk, spec] of Object.entries(palette)) {
      if (spec.section !== palette[question].section) continue;
      const other = cellOf(`c-${assignment}-${column}-${pk}`);
      const asked = Object.entries(spec.askUnless).every(([on, options]) => on in answers && !options.includes(answers[on]));
      if (asked) {
        answers[pk] = other.dataset.option || "";
        if (other.hasAttribute("aria-disabled")) {
          other.removeAttribute("aria-disabled");
          other.classList.remove("off");
          other.children[1].textContent = words.empty;
        }
      } else if (!other.hasAttribute("aria-disabled")) {
        paint(other.id, "", "off");
        other.children[1].textContent = words.off;
        other.setAttribute("aria-disabled", "true");
      }
    }
  }

  // Send one edit with htmx; the answer swaps the cells of the column out of band. One at a time, in order.
  function send(edit) {
    const { assignment, column, question } = partsOf(edit.cell);
    const sink = $("sink");
    return new Promise((resolve) => {
      sink.addEventListener("htmx:afterRequest", (event) => resolve(outcome(event.detail.xhr, edit)), { once: true });
      htmx
        .ajax("POST", config.record, {
          source: sink,
          swap: "none",
          values: { assignment, column, question, option: edit.option, key: edit.key },
          headers: headers(),
        })
        .catch(() => {});
    });
  }

  function outcome(xhr, edit) {
    if (xhr.status === 200 && xhr.getResponseHeader("X-Palate-Saved") === edit.key) {
      refuse("");
      // The swapped cells show what the server has; newer choices that are still on their way go back on top.
      queue.edits.filter((other) => other !== edit).forEach((other) => cellOf(other.cell) && draw(other.cell, other.option));
      if (focused) {
        const td = cellOf(focused);
        td.tabIndex = 0;
        td.setAttribute("aria-selected", "true");
        if (document.activeElement === document.body) td.focus({ preventScroll: true });
        describe();
      }
      count();
      return "done";
    }
    if (xhr.status === 409) {
      const { message } = JSON.parse(xhr.responseText);
      redraw(edit).finally(() => refuse(message));
      return "refused";
    }
    if (isLoggedOut(xhr)) refuse(words.loggedOut);
    return "later";
  }

  // After a refusal: the cells of its column as the server has them, with the choices that are still on their way on top.
  async function redraw(edit) {
    const { assignment, column } = partsOf(edit.cell);
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    page.querySelectorAll(`td[id^="c-${assignment}-${column}-"]`).forEach((td) => cellOf(td.id)?.replaceWith(td));
    queue.edits.filter((other) => other !== edit).forEach((other) => cellOf(other.cell) && draw(other.cell, other.option));
    if (focused) focus(focused, { scroll: false });
    count();
  }

  // A login page came instead of an answer, or the login is another one than this page was made for.
  const isLoggedOut = (xhr) => xhr.status === 403 || (xhr.status === 200 && new URL(xhr.responseURL).pathname === config.login);

  // Read anew each time: a login in another tab changes the token, and may be somebody else's.
  function headers() {
    const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] || "";
    return { "X-CSRFToken": token, "X-Palate-User": config.user };
  }

  function refuse(sentence) {
    const element = $("refusal");
    element.textContent = sentence;
    element.hidden = !sentence;
  }

  window.addEventListener("beforeunload", (event) => {
    if (queue.edits.length) event.preventDefault();
  });

  // --- submitting -------------------------------------------------------------------------------------------------------

  const states = new Map([...tables.querySelectorAll(".mark")].map((mark) => [mark.dataset.mark, mark.dataset.state]));

  document.body.addEventListener("assignment", (event) => {
    const { id, state } = event.detail;
    states.set(String(id), state);
    count();
  });

  let submitting = false;
  let submitNext = null; // the assignment to submit as soon as its last choices are saved

  function submitOrReopen(assignment) {
    submitNext = null;
    if (queue.edits.length) {
      if (queue.state === "retrying") return refuse(words.waiting);
      submitNext = assignment;
      return;
    }
    if (submitting) return;
    submitting = true;
    const taken = states.get(assignment) === "submitted";
    const source = $("submit-sink");
    source.addEventListener(
      "htmx:afterRequest",
      ({ detail: { xhr } }) => {
        submitting = false;
        if (xhr.status === 409) return refuse(JSON.parse(xhr.responseText).message);
        if (isLoggedOut(xhr)) return refuse(words.loggedOut);
        if (xhr.status !== 200) return refuse(words.notSubmitted);
        refuse("");
        if (taken) return go(focused);
        const next = assignments.slice(assignments.indexOf(assignment) + 1).find((a) => states.get(a) !== "submitted");
        go(next ? firstOf(next) : focused);
      },
      { once: true },
    );
    htmx
      .ajax("POST", url(taken ? config.reopen : config.submit, assignment), { source, swap: "none", headers: headers() })
      .catch(() => {});
  }

  // --- counts -----------------------------------------------------------------------------------------------------------

  function count() {
    const left = new Map(assignments.map((a) => [a, 0]));
    let all = 0;
    let open = 0;
    for (const id of order) {
      const td = cellOf(id);
      if (td.hasAttribute("aria-disabled")) continue;
      all += 1;
      if (td.dataset.option) continue;
      open += 1;
      const { assignment } = partsOf(id);
      left.set(assignment, left.get(assignment) + 1);
    }
    $("cells-left").textContent = words.left.replace("{open}", open).replace("{all}", all);
    const progress = $("sheet-progress");
    progress.max = all || 1;
    progress.value = all - open;
    $("n-submitted").textContent = [...states.values()].filter((state) => state === "submitted").length;
    tables.querySelectorAll(".mark").forEach((mark) => {
      const state = states.get(mark.dataset.mark);
      const shown = state !== "submitted" && !left.get(mark.dataset.mark) ? "ready" : state;
      if (mark.dataset.state !== shown || !mark.title) {
        mark.dataset.state = shown;
        mark.title = words[shown];
      }
    });
    buttons();
  }

  function buttons() {
    if (!focused) return;
    const submitted = states.get(partsOf(focused).assignment) === "submitted";
    panel.panel.querySelectorAll("[data-submit]").forEach((button) => (button.hidden = submitted));
    panel.panel.querySelectorAll("[data-reopen]").forEach((button) => (button.hidden = !submitted));
  }

  // --- moving -----------------------------------------------------------------------------------------------------------

  const go = (id) => id && focus(id);
  const at = (y, x) => lines[y] && lines[y].ids[Math.max(0, Math.min(x, lines[y].ids.length - 1))];
  const firstOf = (assignment) => {
    const mine = order.filter((id) => partsOf(id).assignment === assignment);
    return mine.find((id) => isOpen(cellOf(id))) || mine[0];
  };

  function nextOpen(id, step) {
    for (let i = rank.get(id) + step; i >= 0 && i < order.length; i += step) if (isOpen(cellOf(order[i]))) return order[i];
    return null;
  }

  function nextDocument(step) {
    const { assignment } = partsOf(focused);
    const { section } = lines[place.get(focused).y];
    const next = assignments[assignments.indexOf(assignment) + step];
    const y = lines.findIndex((line) => line.assignment === next && line.section === section);
    if (y >= 0) go(at(y, place.get(focused).x));
  }

  const moves = {
    ArrowLeft: ({ y, x }) => (x ? at(y, x - 1) : focused),
    ArrowRight: ({ y, x }) => at(y, x + 1),
    ArrowUp: ({ y, x }) => at(y - 1, x),
    ArrowDown: ({ y, x }) => at(y + 1, x),
    Home: ({ y }) => at(y, 0),
    End: ({ y }) => at(y, Infinity),
    PageUp: ({ y, x }) => at(Math.max(0, y - 10), x),
    PageDown: ({ y, x }) => at(Math.min(lines.length - 1, y + 10), x),
  };

  tables.addEventListener("keydown", (event) => {
    if (!focused || event.altKey || event.metaKey) return;
    const now = place.get(focused);
    let target;
    if (event.ctrlKey) {
      target = {
        ArrowRight: () => nextOpen(focused, 1),
        ArrowDown: () => nextOpen(focused, 1),
        ArrowLeft: () => nextOpen(focused, -1),
        ArrowUp: () => nextOpen(focused, -1),
        Home: () => at(0, 0),
        End: () => at(lines.length - 1, Infinity),
      }[event.key]?.();
      if (!target) return;
    } else if (moves[event.key]) target = moves[event.key](now);
    else if (event.key === "Enter") target = at(now.y + (event.shiftKey ? -1 : 1), now.x);
    else if (event.key === "Tab") {
      // In reading order of the lines; at either end Tab leaves the grid, as it does everywhere.
      const step = event.shiftKey ? -1 : 1;
      const flat = now.x + step;
      const line = lines[now.y];
      target = flat >= 0 && flat < line.ids.length ? line.ids[flat] : lines[now.y + step] && at(now.y + step, step > 0 ? 0 : Infinity);
      if (!target) return;
    } else if (event.key === "Backspace" || event.key === "Delete") {
      event.preventDefault();
      return choose("");
    } else if (/^[0-9]$/.test(event.key)) {
      const option = palette[partsOf(focused).question].options.find((o) => o.hotkey === event.key);
      if (!option && event.key !== "0") return;
      event.preventDefault();
      if (event.repeat) return; // a key that is held down is one choice, not a line of them
      return choose(option ? option.key : "");
    } else return;
    event.preventDefault();
    go(target);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const action = {
      "?": () => $("help").showModal(),
      g: openGuide,
      n: () => nextDocument(1),
      p: () => nextDocument(-1),
      s: () => submitOrReopen(partsOf(focused).assignment),
      o: () => $("original")?.click(),
    }[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });

  tables.addEventListener("mousedown", (event) => {
    const td = event.target.closest("td");
    if (!td) return;
    event.preventDefault();
    focus(td.id);
  });
  tables.addEventListener("focusin", (event) => {
    if (event.target.matches("td") && event.target.id !== focused) focus(event.target.id);
  });
  $("choices").addEventListener("mousedown", (event) => event.preventDefault());
  $("choices").addEventListener("click", (event) => {
    const button = event.target.closest("[data-choose]");
    if (button) choose(button.dataset.choose);
  });
  panel.panel.addEventListener("click", (event) => {
    if (event.target.closest("[data-submit], [data-reopen]")) submitOrReopen(partsOf(focused).assignment);
  });
  panel.panel.addEventListener("shown", buttons);

  // --- guide, help, divider ---------------------------------------------------------------------------------------------

  function openGuide() {
    $("guide").showModal();
    const line = focused && lines[place.get(focused).y];
    const key = line && palette[line.question].key;
    if (key) $(`guide-${line.section}-${key}`)?.scrollIntoView();
  }
  $("open-guide").addEventListener("click", openGuide);
  $("open-help").addEventListener("click", () => $("help").showModal());
  document.querySelectorAll("dialog").forEach((dialog) => dialog.addEventListener("close", () => go(focused)));

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
    const step = { ArrowLeft: 2, ArrowRight: -2 }[event.key];
    if (step) setWidth(Number(divider.getAttribute("aria-valuenow")) + step);
  });

  // --- start ------------------------------------------------------------------------------------------------------------

  queue.edits.forEach((edit) => cellOf(edit.cell) && draw(edit.cell, edit.option));
  count();
  reserve();
  window.addEventListener("resize", reserve);
  go(order.find((id) => isOpen(cellOf(id))) || order[0]);
  queue.run();
})();
