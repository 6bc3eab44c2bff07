// Small things that any page may need: a form that asks first, a text that can be copied.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.copied;
  } catch {
    // Refused, or there is no clipboard, as on a page without HTTPS: the text before the button is selected instead.
    window.getSelection().selectAllChildren(button.previousElementSibling);
  }
});
// What is wider than its place can be scrolled by keys, in every browser; what fits is no stop for Tab.
const scrollers = new ResizeObserver((entries) => {
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
});
const watchScrollers = () => document.querySelectorAll(".scroll").forEach((element) => scrollers.observe(element));
watchScrollers();
document.addEventListener("htmx:afterSettle", watchScrollers);
// A login page that comes instead of an answer does not belong into the middle of this page. The grid says so itself, since
// it holds choices that are not saved; any other page goes where it would have gone without htmx.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, pathInfo } = event.detail;
  if (new URL(xhr.responseURL).pathname === new URL(pathInfo.finalRequestPath, location.href).pathname) return;
  event.detail.shouldSwap = false;
  if (!document.getElementById("grid-config")) location.reload();
});
