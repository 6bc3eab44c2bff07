// Small things that any page may need: a form that asks first, a text that can be copied.

import { byId, placeOf } from "./elements.js";

document.addEventListener("submit", (event) => {
  const question = /** @type {HTMLFormElement} */ (event.target).dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});
// A form that is sent once, however often its button is pressed: the answer to the first time would be lost.
document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!("once" in form.dataset)) return;
  if (form.dataset.once === "sent") event.preventDefault();
  form.dataset.once = "sent";
});
window.addEventListener("pageshow", () => {
  for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-once]")))
    form.dataset.once = "";
});
document.addEventListener("click", async (event) => {
  const button = /** @type {HTMLElement | null} */ (placeOf(event).closest("[data-copy]"));
  if (!button) return;
  const { copy = "", copied = "" } = button.dataset;
  try {
    await navigator.clipboard.writeText(copy);
    button.textContent = copied;
  } catch {
    // Refused, or there is no clipboard, as on a page without HTTPS: the text before the button is selected instead.
    if (button.previousElementSibling) window.getSelection()?.selectAllChildren(button.previousElementSibling);
  }
});
// A button that writes a word into a text, where the cursor stands there.
document.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement | null} */ (placeOf(event).closest("[data-insert]"));
  const text = button && document.getElementById(button.dataset.into ?? "");
  if (!(text instanceof HTMLTextAreaElement)) return;
  text.setRangeText(button?.dataset.insert ?? "", text.selectionStart, text.selectionEnd, "end");
  text.focus();
});
// What is wider than its place can be scrolled by keys, in every browser; what fits is no stop for Tab. All are measured before
// one is changed, so that the page is laid out once.
/** @param {Iterable<Element>} boxes */
const markScrollers = (boxes) => {
  const measured = [...boxes].map((box) => /** @type {const} */ ([box, box.scrollWidth > box.clientWidth]));
  for (const [box, isWider] of measured)
    if (isWider) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
};
const scrollers = new ResizeObserver((entries) =>
  markScrollers(new Set(entries.flatMap(({ target }) => target.closest(".scroll") ?? []))),
);
// At once, and not at the next frame alone, which a busy machine draws late.
const watchScrollers = () => {
  markScrollers(document.querySelectorAll(".scroll"));
  for (const element of document.querySelectorAll(".scroll, .scroll > *")) scrollers.observe(element);
};
watchScrollers();
document.addEventListener("htmx:afterSettle", watchScrollers);
// A login page that comes instead of an answer does not belong into the middle of this page. The grid says so itself, since
// it holds choices that are not saved; any other page goes where it would have gone without htmx.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } =
    /** @type {CustomEvent<{xhr: XMLHttpRequest, pathInfo: {finalRequestPath: string}, shouldSwap: boolean}>} */ (
      event
    );
  const { xhr, pathInfo } = detail;
  if (new URL(xhr.responseURL).pathname === new URL(pathInfo.finalRequestPath, location.href).pathname) return;
  detail.shouldSwap = false;
  if (!document.getElementById("grid-config")) location.reload();
});
// Who was in what is replaced, by a button that is not there any more, goes on at the element that `data-focus` names.
let goesTo = "";
document.addEventListener("htmx:beforeSwap", (event) => {
  const { focus } = /** @type {HTMLElement} */ (event.target).dataset;
  if (focus && placeOf(event).contains(document.activeElement)) goesTo = focus;
});
document.addEventListener("htmx:afterSettle", () => {
  if (goesTo && document.activeElement === document.body) byId(goesTo).focus();
  goesTo = "";
});
