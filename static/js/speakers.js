// The texts of a language: Ctrl and Enter in a field confirm its text. The server shows the next one, with the focus.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  const form = event.target.closest("[data-speaker-text]");
  const button = form?.querySelector('button[value="confirm"]');
  if (!button) return;
  event.preventDefault();
  if (form.dataset.sent) return;
  form.dataset.sent = "1";
  form.requestSubmit(button);
});

// The text that comes next stands in the middle, so that its English words are in view, too.
const next = document.querySelector("textarea[autofocus]");
if (next) {
  next.focus({ preventScroll: true });
  next.closest("li").scrollIntoView({ block: "center" });
}
