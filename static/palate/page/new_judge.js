// The form of a new judge. Its fields come anew with each method and model, and its prompt with each that is begun from; what
// was typed stays, also what was typed while an answer was on its way.

import { byId, elementOf, make, placeOf } from "./elements.js";

const form = elementOf("judge-form", HTMLFormElement);
const fields = byId("judge-fields");
const promptField = byId("prompt-field");
const promptKept = byId("prompt-kept");
const trial = byId("trial");
const beginWith = () => elementOf("begin-with", HTMLSelectElement);
const promptText = () => elementOf("id_prompt_text", HTMLTextAreaElement);

/** The prompt is not the one that the form itself has put there. */
const isEdited = () =>
  promptField.querySelector("[data-edited]") !== null || promptText().value !== promptText().defaultValue;

/**
 * What the fields had when they were last seen: those that another method has none of come back as they were.
 * @type {Map<string, string | boolean>}
 */
const seen = new Map();
const typed = () =>
  /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (
    fields.querySelectorAll("input:not([type=hidden]), select")
  );
const see = () => {
  for (const field of typed())
    seen.set(field.name, field.type === "checkbox" ? "checked" in field && field.checked : field.value);
};
const putBack = () => {
  for (const field of typed()) {
    const had = seen.get(field.name);
    if (typeof had === "boolean" && field instanceof HTMLInputElement) field.checked = had;
    else if (typeof had === "string") field.value = had;
  }
};

/** What the list has now is what it goes back to. */
const remember = () => {
  for (const option of beginWith().options) option.defaultSelected = option.selected;
};

form.addEventListener("htmx:configRequest", (event) => {
  const { elt, formData } = /** @type {CustomEvent<{elt: Element, formData: FormData}>} */ (event).detail;
  if (!fields.contains(elt)) return;
  see();
  for (const [name, had] of seen) if (had && !formData.has(name)) formData.set(name, had === true ? "on" : had);
});
form.addEventListener("htmx:beforeSwap", (event) => {
  if (event.target === fields) see();
});
form.addEventListener("htmx:afterSwap", (event) => {
  const { target } = /** @type {CustomEvent<{target: Element}>} */ (event).detail;
  if (target === fields) {
    putBack();
    trial.replaceChildren(); // of the judge that the form described before
  }
  if (target !== promptField) return;
  promptKept.hidden = true;
  remember();
});

// Another method has another prompt, which an edited one does not make room for.
form.addEventListener("htmx:oobBeforeSwap", (event) => {
  promptKept.hidden = event.target !== promptField || !isEdited();
  if (promptKept.hidden) return;
  /** @type {CustomEvent<{shouldSwap: boolean}>} */ (event).detail.shouldSwap = false;
  beginWith().value = "";
  remember();
});

form.addEventListener("htmx:confirm", (event) => {
  const select = placeOf(event);
  if (!(select instanceof HTMLSelectElement)) return;
  if (select.value === "") {
    event.preventDefault(); // nothing is put there
    remember();
  } else if (isEdited() && !window.confirm(select.dataset.confirmEdited)) {
    event.preventDefault();
    for (const option of select.options) option.selected = option.defaultSelected;
  }
});

// A request that failed says so below what asked for it.
/** @type {HTMLElement | null} */
let failed = null;
form.addEventListener("htmx:beforeRequest", () => failed?.remove());
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"])
  form.addEventListener(name, (event) => {
    const { elt, xhr } = /** @type {CustomEvent<{elt: Element, xhr: XMLHttpRequest}>} */ (event).detail;
    const { refused = "", unanswered = "" } = form.dataset;
    failed = make("p", { className: "message error", role: "alert" });
    failed.textContent = [400, 413].includes(xhr.status) ? refused : unanswered;
    (elt.closest("p") ?? elt).after(failed);
  });
