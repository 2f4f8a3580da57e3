// The page of a run or a job renews itself. What somebody has opened, or is typing in, stays as it is meanwhile.
const isHeld = () => {
  const open = document.querySelector(".acts-row details[open]");
  return open !== null || document.activeElement?.matches("input:not([type=checkbox]), textarea") === true;
};

// Somebody has pressed a link, and the next page is on its way: to load this one anew would take them back. A download
// begins in the same way and leaves the page where it is, so this holds for some seconds only.
const LEAVING_MS = 10_000;
let leftAt = -Infinity;
addEventListener("beforeunload", () => {
  leftAt = performance.now();
});
const isLeaving = () => performance.now() - leftAt < LEAVING_MS;

// The whole page comes anew when the run ends: not before what is open is closed. The next look asks again.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Refresh") && (isHeld() || isLeaving())) event.preventDefault();
});

// A fold of the part that is renewed stays closed, or open, as its reader left it.
let folds = [];
const foldsOf = (where) => [...where.querySelectorAll("#progress details")];
document.addEventListener("htmx:beforeSwap", () => {
  folds = foldsOf(document).map((one) => one.open);
});
document.addEventListener("htmx:afterSwap", () => {
  foldsOf(document).forEach((one, place) => {
    if (place in folds) one.open = folds[place];
  });
});
