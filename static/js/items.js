// Items by keys. On one item J and K go to the next and the earlier one, as the links say; in the explorer they and the
// arrows go from item to item, X selects, / searches, N and P turn the page, ? lists the keys.
const GOES = { j: "next", k: "prev" };
const list = document.getElementById("items");
const items = () => [...(list?.querySelectorAll("[data-item]") ?? [])];
const linkOf = (item) => item.querySelector("a");
const current = () => document.activeElement?.closest("[data-item]") ?? null;
const typing = (target) => target.matches("textarea, select, input:not([type=checkbox])");

const follow = (rel) => {
  const link = document.querySelector(`a[rel="${rel}"]`);
  link?.click();
  return Boolean(link);
};

function go(item) {
  if (!item) return false;
  linkOf(item).focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
  return true;
}

function step(by) {
  const all = items();
  const at = all.indexOf(current());
  return go(at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[at + by]);
}

/** To the nearest item in the row above or below; in a list these are its neighbours. */
function leap(by) {
  const from = current();
  if (!from) return step(by);
  const own = from.getBoundingClientRect();
  const beyond = items().filter((item) => by * (item.getBoundingClientRect().top - own.top) > 4);
  const row = (by > 0 ? beyond[0] : beyond.at(-1))?.getBoundingClientRect().top;
  const away = (item) => Math.abs(item.getBoundingClientRect().left - own.left);
  const near = beyond.filter((item) => Math.abs(item.getBoundingClientRect().top - row) < 4);
  return go(near.sort((a, b) => away(a) - away(b))[0]);
}

function mark(item) {
  const box = item?.querySelector("input[name=item]");
  box?.click();
  return Boolean(box);
}

const inReading = (by) => (document.documentElement.dir === "rtl" ? -by : by);
const keys = document.getElementById("keys");
const EXPLORES = {
  j: () => step(1),
  k: () => step(-1),
  ArrowRight: () => step(inReading(1)),
  ArrowLeft: () => step(inReading(-1)),
  ArrowDown: () => leap(1),
  ArrowUp: () => leap(-1),
  x: () => mark(current()),
  n: () => follow("next"),
  p: () => follow("prev"),
  "/": () => (document.getElementById("search").focus(), true),
  "?": () => ((keys.open = !keys.open), keys.open && keys.scrollIntoView({ block: "nearest" }), true),
  Escape: () => keys.open && ((keys.open = false), true),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target) || event.target.closest("dialog")) return;
  const key = event.key === "؟" ? "?" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (list) {
    if (EXPLORES[key]?.()) event.preventDefault();
  } else if (key in GOES) follow(GOES[key]);
});

// How many items are selected; the whole page at once. Without this script the boxes and buttons work all the same.
const bulk = document.getElementById("bulk");
const boxes = () => [...(list?.querySelectorAll("input[name=item]") ?? [])];
function count() {
  const n = boxes().filter((box) => box.checked).length;
  const sign = bulk.querySelector("[data-count]");
  sign.textContent = n;
  sign.hidden = !n;
}
if (bulk) {
  const everything = bulk.querySelector("[data-select-all]");
  everything.hidden = false;
  everything.addEventListener("click", () => {
    const all = boxes().every((box) => box.checked);
    for (const box of boxes()) box.checked = !all;
    count();
  });
  list?.addEventListener("change", count);
  window.addEventListener("pageshow", count);
}
