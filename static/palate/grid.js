// The sheet's page: puts its parts together. What is said here to the scripts of other parts of the page:
//
//   palate.keys.add("m", () => …)         what a key does while the focus is in the grid; see `Keys` in moving.js
//   palate.focus.cell                     the focused cell {id, assignment, column, question, value, off, td}; .go(cell)
//   palate.cells.get(id)                  a cell by its id, "c-assignment-column-question"
//   palate.refuse(sentence)               says in the bottom line what could not be done; "" takes it away
//   palate.headers()                      what a POST needs: the CSRF token, and who this page was made for
//   "palate:focus-cell" on #tables        after the paint, when another cell has the focus: {id, assignment, column, …}
//   "palate:activity" on #tables          at once, when somebody moves, chooses or types in the grid
window.palate = (() => {
  const config = document.getElementById("grid-config").dataset;
  const palette = JSON.parse(document.getElementById("palette-data").textContent);
  const words = JSON.parse(document.getElementById("messages-data").textContent);
  const $ = (id) => document.getElementById(id);
  const tables = $("tables");

  // A sentence; what in it leads to the login is a link to another tab, since this one holds what is not saved.
  function say(element, sentence) {
    if (element.textContent === sentence) return;
    const [before, after] = sentence.split(words.logIn);
    element.replaceChildren(before);
    if (after === undefined) return;
    const link = { href: config.login, target: "_blank", rel: "noopener", textContent: words.logIn };
    element.append(Object.assign(document.createElement("a"), link), after);
  }

  function refuse(sentence) {
    say($("refusal"), sentence);
    $("refusal").hidden = !sentence;
  }

  // A list of what was left out; too long for the bottom line.
  function refused(title, sentences) {
    const dialog = $("left-out");
    dialog.querySelector("p").textContent = title;
    dialog.querySelector("ul").replaceChildren(
      ...sentences.map((sentence) => {
        const item = document.createElement("li");
        item.textContent = sentence;
        return item;
      }),
    );
    dialog.showModal();
  }

  const cells = new Cells(tables, palette, words);
  const focus = new Focus(cells);
  const keys = new Keys(tables, focus);
  const range = new CellRange(cells, focus, words, $("selected"));
  const saving = new Saving({ cells, config, words, refuse, shown: $("save-state"), discard: $("discard") });
  const steps = new UndoSteps(`palate:undo:${config.store}`, words, refuse);
  const editing = new Editing({ cells, saving, steps, words, refuse });
  const choosing = new Choosing({ cells, focus, range, editing, words, where: $("where"), choices: $("choices") });
  new CellClipboard({ cells, focus, range, choosing, editing, words, refused });
  const finder = new Finder({ cells, focus, words, box: $("find") });
  const stillOpen = new StillOpen({ tables, focus, cells, saving, words });
  const submitting = new Submitting({ cells, focus, saving, stillOpen, config, words, refuse, panel: $("evidence") });
  new Skipping({ focus, cells, range, editing, choosing, keys, words });
  new Notes({ tables, focus, cells, keys, config, words, say, headers: () => saving.headers() });
  new Guide({ tables, focus, cells, keys });
  for (const part of [focus, range, choosing, finder, submitting]) part.keys(keys);
  range.mouse(tables);

  // --- undo -------------------------------------------------------------------------------------------------------------

  function turn(back) {
    const cell = steps.turn(back, editing, whyItWaits);
    if (cell) focus.go(cell);
  }
  function whyItWaits(assignment) {
    if (words.locked === words.closed) return words.stepWaitsOnSheet;
    if (submitting.marks.get(assignment).state === "withdrawn") return words.withdrawn;
    return words.stepWaits.replace("{row}", () => cells.names.get(assignment));
  }
  keys.add("Ctrl+z", () => turn(true));
  keys.add("Ctrl+Shift+z", () => turn(false));
  keys.add("Ctrl+y", () => turn(false));
  $("undo").addEventListener("click", () => turn(true));
  $("redo").addEventListener("click", () => turn(false));
  saving.acknowledged.push((edit, answer) => {
    if (edit?.restore && (answer.refused.length || answer.conflicts.length)) {
      // Without columns it is about what is not this person's any more, and the server has said so.
      const isKept = steps.returned(edit.step, (step, back) => answer.columns.length > 0 && editing.fits(step, back));
      if (!isKept && answer.conflicts.length) refuse(words.stepIsGone);
    } else if (edit) steps.amend(edit.key, (id) => cells.get(id)?.value ?? "");
    if (focus.cell) choosing.describe();
  });

  // --- the document, the guide, the keys --------------------------------------------------------------------------------

  const panel = new EvidencePanel($("evidence"), (pk) => config.evidence.replace("/0/", `/${pk}/`), words);
  tables.addEventListener("palate:focus-cell", ({ detail: { assignment, column, about } }) => {
    panel.show(assignment, column, about);
    const next = cells.documents[cells.documents.indexOf(assignment) + 1];
    if (next) panel.fetch(next).catch(() => {});
  });

  keys.add("?", () => $("help").showModal());
  keys.add("o", () => $("original")?.click());
  $("open-help").addEventListener("click", () => $("help").showModal());
  document.querySelectorAll("dialog").forEach((dialog) => dialog.addEventListener("close", () => focus.back()));

  const divider = $("divider");
  const setWidth = (share) => {
    const bounded = Math.max(20, Math.min(60, share));
    $("work").style.setProperty("--evidence", `${bounded}%`);
    divider.setAttribute("aria-valuenow", Math.round(bounded));
    localStorage.setItem("palate:evidence-width", bounded);
  };
  setWidth(Number(localStorage.getItem("palate:evidence-width")) || 32);
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    divider.onpointermove = ({ clientX }) => {
      const box = $("work").getBoundingClientRect();
      setWidth((100 * (box.right - clientX)) / box.width);
    };
    divider.onpointerup = () => {
      divider.onpointermove = null;
      focus.back({ scroll: false });
    };
  });
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 2, ArrowRight: -2 }[event.key];
    if (step) setWidth(Number(divider.getAttribute("aria-valuenow")) + step);
  });

  // --- start ------------------------------------------------------------------------------------------------------------

  window.addEventListener("beforeunload", (event) => {
    if (saving.queue.waiting.length) event.preventDefault();
  });
  for (const kind of ["keydown", "mousedown"])
    tables.addEventListener(kind, () => tables.dispatchEvent(new CustomEvent("palate:activity", { bubbles: true })));
  // A click on what takes no keys leaves them in the grid; Esc leads there from the document.
  document.addEventListener("mouseup", () => document.activeElement.matches("body, main") && focus.back({ scroll: false }));
  // So does one on a button or a link beside the grid, once it has done what it is for; who pressed it by a key stays on it.
  document.addEventListener("click", ({ detail, target }) => {
    if (!detail || document.querySelector("dialog[open]")) return;
    if (target.closest(":is(.sheet-bar, .palette, .side) :is(button, a)")) focus.back({ scroll: false });
  });
  $("evidence").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    focus.back();
  });
  // Whoever comes into the grid from elsewhere on the page.
  tables.addEventListener("focusin", ({ target }) => target.cell && target.cell !== focus.cell && focus.go(target.cell));
  saving.start();
  submitting.draw();
  window.addEventListener("resize", () => choosing.reserve());
  // An address may name a cell: what a link on another page is about.
  focus.go(cells.get(location.hash.slice(1)) || cells.order.find((cell) => cells.isOpen(cell)) || cells.order[0]);
  // Only now: it measures, and whoever waits for the first cell would wait for that. It may have taken room from the grid.
  choosing.reserve();
  focus.reveal(focus.cell);
  new WorkingTime({ focus, cells, config, words, shown: $("active-time"), before: JSON.parse($("seconds-data").textContent) });
  return { keys, focus, cells, refuse, headers: () => saving.headers(), saving, range };
})();
