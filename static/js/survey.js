// Decisions about the questions of a survey by keys. Without this script every button works by itself.
const typing = (target) => target.matches("textarea, select, input:not([type=radio])");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event.target)) return;
  const control = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!control) return;
  event.preventDefault();
  if (control.tagName !== "SUMMARY") {
    control.click();
    return;
  }
  const details = control.parentElement;
  details.open = true;
  details.querySelector("select, input:not([type=hidden])").focus();
});
