// The contact sheet: which picture is at hand, which one it is compared with, the two side by side, one over the other.
// A field's script may say what a picture is compared with, and hear where the person is.
import { announce, onKey, onSheet, setText } from "../sheet-parts.js";

const TYPING = 1500; // ms within which digits make one number
const REST = 350; // ms
const AHEAD = 36; // thumbnails that are loaded before they are in sight

let here = null; // { root, pics, at, with }
const moves = [], taps = [];
let chooses = (index) => here.pics[index].near[0]?.[0] ?? -1;
let typed = "", typedAt = 0, sharper = 0;

/** The sheet at hand: `pics` in order, `at` and `against` as places among them; null without a contact sheet. */
export const contact = () => here;

/** `act(here)` whenever the person stands at another picture, or compares it with another one. */
export const onMove = (act) => moves.push(act);

/** `act()` when the person taps a picture, at which the sheet then stands; true: it is not made large as well. */
export const onTap = (act) => taps.push(act);

/** What picture `index` is compared with, unless the person said another: its place, or -1. */
export const choosesWith = (act) => (chooses = act);

function begin({ bench }) {
  const root = bench.querySelector("[data-contact]");
  here = null;
  if (!root) return;
  const links = [...root.querySelectorAll("[data-picture]")];
  const pics = links.map((el) => ({
    el, name: el.dataset.picture, number: el.dataset.n, group: el.closest("[data-group]").dataset.group,
    img: el.querySelector("img"), thumb: el.querySelector("img").src, large: el.href, alt: el.querySelector("img").alt,
    near: el.dataset.near.split(" ").filter(Boolean).map((one) => one.split(":")).map(([n, alike]) => [n - 1, alike]),
  }));
  here = { bench, root, pics, at: -1, against: -1, pairs: [...bench.querySelectorAll("[data-pair]")] };
  root.classList.add("live");
  for (const pic of pics) {
    pic.el.setAttribute("role", "button");
    pic.el.removeAttribute("href");
    pic.el.tabIndex = -1;
  }
  if (pics.length) moveTo(0, { focus: false });
}

function figure() {
  const box = document.createElement("figure");
  box.append(document.createElement("img"), document.createElement("figcaption"));
  box.firstChild.decoding = "async";
  return box;
}

/** Stand at a picture. */
export function moveTo(index, { focus = true } = {}) {
  const { pics, at } = here;
  if (pics[at]) {
    pics[at].el.removeAttribute("aria-current");
    pics[at].el.tabIndex = -1;
  }
  here.at = index;
  const { el } = pics[index];
  el.setAttribute("aria-current", "true");
  el.tabIndex = 0;
  if (focus) el.focus({ preventScroll: true });
  el.scrollIntoView({ block: "nearest" });
  for (const pic of pics.slice(index, index + AHEAD)) if (pic.img.loading === "lazy") pic.img.loading = "eager";
  compareWith(chooses(index));
}

/** Compare the picture at hand with another one. */
export function compareWith(index) {
  const { pics, at } = here;
  here.against = index === at ? -1 : index;
  for (const box of here.pairs) if (!box.hidden) fill(box);
  for (const act of moves) act(here);
}

function fill(box) {
  const { pics, at, against } = here;
  const two = [pics[against], pics[at]];
  if (!box.children.length) box.replaceChildren(figure(), figure());
  two.forEach((pic, place) => {
    const [img, words] = box.children[place].children;
    box.children[place].hidden = !pic;
    if (!pic) return;
    img.src = pic.sharp ? pic.large : pic.thumb;
    img.alt = pic.alt;
    setText(words, pic.number);
  });
  box.classList.toggle("one", !two[0]);
  clearTimeout(sharper);
  if (two.some((pic) => pic && !pic.sharp)) sharper = setTimeout(sharpen, REST, two);
}

/** Whoever rests at a picture sees it sharp; who goes on quickly asks for nothing more than its thumbnail. */
function sharpen(two) {
  for (const pic of two) {
    if (!pic || pic.sharp) continue;
    const loader = new Image();
    loader.onload = () => {
      pic.sharp = true;
      if (here && [here.at, here.against].some((index) => here.pics[index] === pic)) for (const box of here.pairs) if (!box.hidden) fill(box);
    };
    loader.src = pic.large;
  }
}

/** How alike the two at hand are, as the item says; "" where it does not. */
export const alike = () => here.pics[here.at]?.near.find(([other]) => other === here.against)?.[1] ?? "";

export function large(open = here.root.querySelector(".large").hidden) {
  const box = here.root.querySelector(".large");
  box.hidden = !open;
  here.root.classList.toggle("wide", open);
  if (open) fill(box);
}

const blink = (on) => here?.pairs.forEach((box) => box.classList.toggle("blinks", on));

// ---- hands -------------------------------------------------------------------------------------------------------

/** The nearest picture above or below; itself where there is none. */
function beyond(index, down) {
  const boxes = here.pics.map(({ el }) => el.getBoundingClientRect());
  const own = boxes[index];
  const middle = (own.left + own.right) / 2;
  let best = index, least = Infinity;
  boxes.forEach((box, other) => {
    const away = down ? box.top - own.top : own.top - box.top;
    if (away < own.height / 2) return;
    const far = away * 4 + Math.abs((box.left + box.right) / 2 - middle);
    if (far < least) [best, least] = [other, far];
  });
  return best;
}

function arrow(key) {
  const forth = (key === "ArrowRight") !== (document.documentElement.dir === "rtl");
  if (key === "ArrowUp" || key === "ArrowDown") return beyond(here.at, key === "ArrowDown");
  return Math.max(0, Math.min(here.pics.length - 1, here.at + (forth ? 1 : -1)));
}

/** A number typed: the picture it names is compared with the one at hand. */
function digit(key) {
  typed = Date.now() - typedAt < TYPING ? typed + key : key;
  if (typed > here.pics.length) typed = key;
  typedAt = Date.now();
  const named = Number(typed) - 1;
  if (!here.pics[named] || named === here.at) return;
  compareWith(named);
  say(here.root.dataset.beside, { n: here.pics[named].number, a: alike() || "–" });
}

export function say(words, values) {
  announce(Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), words));
}

onSheet(begin);
onKey((event, key) => {
  if (!here?.pics.length || event.altKey) return false;
  if (event.target.matches("[type=radio], [type=checkbox], select")) return false;
  if (/^\d$/.test(key)) return digit(key), true;
  typed = "";
  if (event.key.startsWith("Arrow")) return moveTo(arrow(event.key)), true;
  if (key === "b") return blink(true), true;
  if (key === "l") return large(), true;
  if (event.key === "Escape" && !here.root.querySelector(".large").hidden) return large(false), true;
  return false;
});
addEventListener("keyup", (event) => (event.code === "KeyB" || event.key.toLowerCase() === "b") && blink(false));
addEventListener("blur", () => blink(false));
addEventListener("pointerdown", (event) => event.target.closest?.("[data-pair]:not(.large)") && blink(true));
for (const type of ["pointerup", "pointercancel"]) addEventListener(type, () => blink(false));
addEventListener("click", (event) => {
  const el = event.target.closest?.("[data-picture]");
  if (here && event.target.closest?.("[data-large]")) return large();
  if (here && event.target.closest?.(".pair.large")) return large(false);
  const index = here?.pics.findIndex((pic) => pic.el === el) ?? -1;
  if (index < 0) return;
  event.preventDefault();
  const again = index === here.at;
  if (!again) moveTo(index);
  if (!taps.some((act) => act() === true) && again) large(true);
});
// A picture holds the focus; Enter is the sheet's, and Space is a click.
addEventListener("keydown", (event) => {
  if (!event.target.matches?.("[data-picture]") || !here || event.ctrlKey || event.metaKey) return;
  if (event.key === " ") {
    event.preventDefault();
    large();
  } else if (event.key === "Enter" && !event.repeat) {
    event.preventDefault();
    const form = here.bench.querySelector("form.panel");
    form?.requestSubmit(form.querySelector(".go"));
  }
}, { capture: true });
