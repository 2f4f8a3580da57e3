// Looking closer: what lies on the stage is brought nearer and moved about. Several pictures do so in step.
// A layer is every [data-zooms] in the view, else its one picture. A layer moves inside its [data-frame], else the view.
import { onKey, onSheet } from "./sheet-parts.js";

const STEPS = [1, 1.6, 2.5, 4];
const MOST = 8;
const ARROWS = { ArrowLeft: [90, 0], ArrowRight: [-90, 0], ArrowUp: [0, 90], ArrowDown: [0, -90] };

const BRIGHTER = 3; // steps, the first of them as the picture is

let view = null, tools = null, layers = [], closer = 1;
let shift = [0, 0]; // in widths and heights of a layer as it is laid out, so that layers of two sizes keep step
const pointers = new Map(); // pointerId to [x, y], those that move the picture
let pinch = null;
const listeners = [], claims = [];

/** How much closer than the whole picture: 1 to 8. */
export const scale = () => closer;

/** `act({ scale })` after every change of scale or place, and when the window has changed its size. */
export const onZoom = (act) => listeners.push(act);

/**
 * A field's script draws on the stage. `takes(event)` is asked at each pointerdown there; true: the drag is the
 * script's own and moves no picture. `letGo(event)` is called when a second finger makes a pinch of it.
 */
export const claimDrags = (takes, letGo = () => {}) => claims.push({ takes, letGo });

/** Bring the picture to a scale; `at` (client coordinates) stays where it is. */
export function zoomTo(to, at = null) {
  if (!layers.length) return;
  const next = Math.max(1, Math.min(MOST, to));
  const layer = under(at);
  const [size, middle] = laid(layer);
  const held = at ? [(at[0] - middle[0]) / size[0], (at[1] - middle[1]) / size[1]] : [0, 0];
  shift = shift.map((one, axis) => held[axis] - (next / closer) * (held[axis] - one));
  closer = next;
  place();
}

/** One step closer, or the whole picture again. */
export const zoom = (by) => zoomTo(by < 0 ? 1 : (STEPS.find((one) => one > closer + 0.01) ?? Math.max(closer, STEPS.at(-1))));

/** One step brighter, or as it is again. Only the eye sees it: neither the picture nor the answer changes. */
function brighten() {
  const step = (Number(view.dataset.bright ?? 0) + 1) % BRIGHTER;
  view.dataset.bright = step;
  tools?.querySelector("[data-bright]")?.setAttribute("aria-pressed", step > 0);
}

function begin({ bench }) {
  view = bench.querySelector("#view");
  const own = view ? [...view.querySelectorAll("[data-zooms]")] : [];
  layers = own.length ? own : view ? [...view.querySelectorAll(":scope > img")].slice(0, 1) : [];
  [closer, shift, pinch] = [1, [0, 0], null];
  tools = bench.querySelector(".toolstrip");
  pointers.clear();
  view?.addEventListener("wheel", wheeled, { passive: false });
}

const frameOf = (layer) => layer.closest("[data-frame]") ?? view;
const under = (at) => layers.find((one) => at && inside(frameOf(one).getBoundingClientRect(), at)) ?? layers[0];
const inside = (box, [x, y]) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;

/** A layer's size as laid out, and the middle of it on the screen, both as if it were neither closer nor moved. */
function laid(layer) {
  const [size, seen] = [[layer.offsetWidth || 1, layer.offsetHeight || 1], layer.getBoundingClientRect()];
  const middle = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2];
  return [size, middle.map((one, axis) => one - shift[axis] * size[axis])];
}

function place() {
  if (!layers.length) return;
  const [layer, frame] = [layers[0], frameOf(layers[0])];
  const room = [layer.offsetWidth, layer.offsetHeight].map(
    (size, axis) => Math.max(0, size * closer - [frame.clientWidth, frame.clientHeight][axis]) / 2 / (size || 1));
  shift = shift.map((one, axis) => Math.max(-room[axis], Math.min(room[axis], closer > 1 ? one : 0)));
  const how = closer > 1 ? `translate(${shift.map((one) => `${(one * 100).toFixed(3)}%`).join(", ")}) scale(${closer})` : "";
  for (const one of layers) one.style.transform = how;
  view.classList.toggle("close", closer > 1);
  for (const act of listeners) act({ scale: closer });
}

function move(dx, dy) {
  const [size] = laid(layers[0]);
  shift = [shift[0] + dx / size[0], shift[1] + dy / size[1]];
  place();
}

// ---- fingers, mouse, wheel ---------------------------------------------------------------------------------------

const spread = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
const between = ([a, b]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];

addEventListener("pointerdown", (event) => {
  if (!layers.length || event.button > 0 || !event.target.closest?.("#view") || event.target.closest("button, a, summary")) return;
  const claimed = !pointers.size && claims.some((one) => one.takes(event));
  pointers.set(event.pointerId, { at: [event.clientX, event.clientY], claimed });
  if (pointers.size === 2) {
    const first = [...pointers.values()];
    if (first.some((one) => one.claimed)) for (const one of claims) one.letGo(event);
    for (const one of first) one.claimed = false;
    pinch = { spread: spread(first.map((one) => one.at)), from: closer };
  }
  if (!claimed && closer > 1) view.classList.add("drags");
});

addEventListener("pointermove", (event) => {
  const one = pointers.get(event.pointerId);
  if (!one) return;
  if (event.pointerType === "mouse" && !event.buttons) return done(event); // let go outside the window
  const before = [...pointers.values()].map((each) => each.at);
  const [x, y] = one.at;
  one.at = [event.clientX, event.clientY];
  if (one.claimed) return;
  if (pointers.size === 1) return closer > 1 ? move(event.clientX - x, event.clientY - y) : undefined;
  const now = [...pointers.values()].map((each) => each.at);
  const [was, is] = [between(before), between(now)];
  zoomTo((pinch.from * spread(now)) / pinch.spread, was);
  move(is[0] - was[0], is[1] - was[1]);
});

function done(event) {
  if (!pointers.delete(event.pointerId)) return;
  if (pointers.size < 2) pinch = null;
  if (!pointers.size) view?.classList.remove("drags");
}

addEventListener("pointerup", done);
addEventListener("pointercancel", done);

function wheeled(event) {
  const scrolls = document.scrollingElement.scrollHeight > innerHeight + 1; // then a plain wheel moves the page
  if (!layers.length || (scrolls && !event.ctrlKey)) return;
  event.preventDefault();
  const lines = event.deltaMode ? 16 : 1;
  zoomTo(closer * Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)), [event.clientX, event.clientY]);
}

addEventListener("dragstart", (event) => event.target.closest?.("#view") && event.preventDefault());
addEventListener("dblclick", (event) => {
  if (event.target.closest("#view") && !event.target.closest("button, a")) zoomTo(closer > 1 ? 1 : STEPS[2], [event.clientX, event.clientY]);
});
addEventListener("resize", place);
addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-zoom]");
  if (button) zoom(button.dataset.zoom === "in" ? 1 : -1);
  if (view && event.target.closest?.("[data-bright]:not(#view)")) brighten();
});

// ---- keys --------------------------------------------------------------------------------------------------------

onKey((event, key) => {
  if (!layers.length) return false;
  if (key === "+" || key === "=" || key === "-") return zoom(key === "-" ? -1 : 1), true;
  if (key === "*") return brighten(), true;
  if (key === "z") return zoom(closer > 1 ? -1 : 1), true;
  if (closer === 1 || !ARROWS[event.key] || event.target.matches("[type=radio]")) return false;
  move(...ARROWS[event.key]);
  return true;
});
onSheet(begin);

// On a telephone the picture stays in view above the questions: what is scrolled to, or focused, comes to lie below it.
const stays = new ResizeObserver(([{ target }]) => {
  const room = getComputedStyle(target).position === "sticky" ? `${target.offsetHeight + 8}px` : "";
  document.documentElement.style.setProperty("scroll-padding-block-start", room);
});
onSheet(({ bench }) => {
  stays.disconnect();
  const stage = bench.querySelector(".stage.keep");
  if (stage) stays.observe(stage);
});
