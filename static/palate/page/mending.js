// The lines of a document, mended as in an editor: Enter splits, Backspace at the beginning joins, Alt+arrows move.

import { elementOf, inside, make } from "./elements.js";

const form = elementOf("mending", HTMLFormElement);
const list = inside(form, "ol", HTMLOListElement);
const blank = elementOf("mending-line", HTMLTemplateElement);
const status = inside(form, "[role=status]", HTMLElement);
let touched = false;

/** @param {Element} line */
const textOf = (line) => inside(line, "textarea", HTMLTextAreaElement);

/** @param {EventTarget | null} target */
const lineOf = (target) => (target instanceof Element ? target.closest("li") : null);

/** @param {string} [said] what happened, for those who do not see it */
function changed(said = "") {
  touched = true;
  if (said) status.textContent = said;
}

/**
 * @param {Element} line
 * @param {number} [caret]
 */
function focusOn(line, caret) {
  const text = textOf(line);
  text.focus();
  if (caret !== undefined) text.setSelectionRange(caret, caret);
}

/**
 * A new line of the same kind below another.
 * @param {Element} line
 * @param {string} text
 */
function addBelow(line, text) {
  const added = inside(/** @type {DocumentFragment} */ (blank.content.cloneNode(true)), "li", HTMLLIElement);
  inside(added, "select", HTMLSelectElement).value = inside(line, "select", HTMLSelectElement).value;
  textOf(added).value = text;
  line.after(added);
  changed(form.dataset.added);
  return added;
}

/** @param {Element} line */
function drop(line) {
  if (list.children.length === 1) return;
  const next = line.nextElementSibling ?? line.previousElementSibling;
  const place = line.previousElementSibling;
  const back = make("button", { type: "button", textContent: form.dataset.back ?? "" });
  line.remove();
  back.addEventListener("click", () => {
    if (place?.isConnected) place.after(line);
    else list.prepend(line);
    status.textContent = "";
    focusOn(line);
  });
  changed();
  status.replaceChildren(`${form.dataset.dropped ?? ""} `, back);
  if (next) focusOn(next);
}

/**
 * @param {Element} line
 * @param {boolean} up
 */
function move(line, up) {
  const other = up ? line.previousElementSibling : line.nextElementSibling;
  if (!other) return;
  if (up) other.before(line);
  else other.after(line);
  changed(form.dataset.moved);
  line.scrollIntoView({ block: "nearest" });
}

/** What each button of a line does. @type {Record<string, (line: Element) => void>} */
const DEEDS = {
  up: (line) => move(line, true),
  down: (line) => move(line, false),
  add: (line) => focusOn(addBelow(line, "")),
  drop,
};

list.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  const line = lineOf(button);
  if (button && line) DEEDS[button.value]?.(line);
  if (button?.isConnected && (button.value === "up" || button.value === "down")) button.focus();
});
list.addEventListener("input", () => changed());
list.addEventListener("keydown", (event) => {
  const line = lineOf(event.target);
  if (!line || event.isComposing) return;
  if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    event.preventDefault();
    move(line, event.key === "ArrowUp");
    if (event.target instanceof HTMLElement) event.target.focus();
    return;
  }
  if (event.altKey && event.key === "Delete") {
    event.preventDefault();
    drop(line);
    return;
  }
  if (!(event.target instanceof HTMLTextAreaElement)) return;
  const { value, selectionStart, selectionEnd } = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  } else if (event.key === "Enter") {
    event.preventDefault();
    event.target.value = value.slice(0, selectionStart).trimEnd();
    focusOn(addBelow(line, value.slice(selectionEnd).trimStart()), 0);
  } else if (event.key === "Backspace" && selectionEnd === 0 && line.previousElementSibling) {
    event.preventDefault();
    const before = textOf(line.previousElementSibling);
    const caret = before.value.length;
    before.value = [before.value, value].filter(Boolean).join(" ");
    line.remove();
    before.focus();
    before.setSelectionRange(caret, caret);
    changed(form.dataset.joined);
  } else if (event.key === "ArrowUp" && selectionEnd === 0 && line.previousElementSibling) {
    event.preventDefault();
    focusOn(line.previousElementSibling);
  } else if (event.key === "ArrowDown" && selectionStart === value.length && line.nextElementSibling) {
    event.preventDefault();
    focusOn(line.nextElementSibling, 0);
  }
});
// Several lines that are pasted are several lines here too.
list.addEventListener("paste", (event) => {
  const line = lineOf(event.target);
  const pasted = event.clipboardData?.getData("text/plain").trim() ?? "";
  if (!line || !(event.target instanceof HTMLTextAreaElement) || !pasted.includes("\n")) return;
  event.preventDefault();
  const [first = "", ...rest] = pasted.split(/\s*\n\s*/u);
  event.target.setRangeText(first, event.target.selectionStart, event.target.selectionEnd, "end");
  let last = /** @type {Element} */ (line);
  for (const text of rest) last = addBelow(last, text);
  focusOn(last);
});
form.addEventListener("submit", () => {
  touched = false;
});
window.addEventListener("beforeunload", (event) => {
  if (touched) event.preventDefault();
});
