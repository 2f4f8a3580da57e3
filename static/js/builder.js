// Two pictures of a pair over each other, changed by a press of the button or the key B; D shows what changed. Without
// this script they stand side by side, and the link shows what changed.
const duo = document.querySelector("[data-duo]");
const button = document.querySelector("[data-blink]");

if (duo && button && duo.children.length === 2) {
  button.hidden = false;
  const STATES = ["", "blinks", "blinks first"];
  let at = 0;
  const next = () => {
    at = (at + 1) % STATES.length;
    duo.className = `pair-duo ${STATES[at]}`.trim();
    button.setAttribute("aria-pressed", String(at > 0));
  };
  button.addEventListener("click", next);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key.toLowerCase() === "b" && !event.target.matches("textarea, select, input")) next();
  });
}

const changed = document.querySelector("[data-changed]");
document.addEventListener("keydown", (event) => {
  if (!changed || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key.toLowerCase() === "d" && !event.target.matches("textarea, select, input")) changed.click();
});
