// Boxes on the picture: by mouse, by finger, by keys. The number inputs hold the answer; this file draws it and writes it.
import { announce, changed, measured, onKey, onSheet } from "../sheet-parts.js";
import { claimDrags, onZoom } from "../stage.js";
import { Labels, UNLABELLED } from "./box-labels.js";
import { clamp, outline, shifted, spanned, svg } from "./box-shapes.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const COARSE = matchMedia("(pointer: coarse)");
const HANDLES = [[-1, -1], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]];
const CURSORS = ["nwse-resize", "ns-resize", "nesw-resize", "ew-resize"];
const REDRAWN = 0.5; // a box over so much of the picture is drawn anew by a drag inside it: nothing else can be meant
let fields = [], here = null; // here: the one that is drawn upon

// ---- numbers -----------------------------------------------------------------------------------------------------

/** A digit of any script as 0 to 9; scripts begin their digits at ...0 or at ...6. */
function digit(sign) {
  const [code, low] = [sign.codePointAt(0), sign.codePointAt(0) & 15];
  return /\p{Nd}/u.test(String.fromCodePoint(code - low)) ? low : low - 6;
}

/** 15.8, "15,8", "١٥٫٨": 15.8. NaN for what is no number. */
function number(typed) {
  const plain = typed.trim().replace(/\p{Nd}/gu, digit).replace(/[,٫،]/g, ".").replace(/\s*[%٪]$/, "");
  return /^(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : NaN;
}

/** As few decimals as keep a twentieth of a picture's pixel. */
const percent = (at, size) => String(Number(((100 * at) / size).toFixed(size > 10000 ? 4 : size > 1000 ? 3 : 2)));
const cut = (share) => Math.floor(Math.round(share * 1e9) / 1e6) / 10;
const place = (rect, x, y, width, height) =>
  Object.entries({ x, y, width, height }).forEach(([key, value]) => rect.setAttribute(key, Math.max(0, value)));

// ---- one field ---------------------------------------------------------------------------------------------------

class Boxes {
  constructor(part, img, bench) {
    [this.part, this.img, this.bench] = [part, img, bench];
    this.size = [Number(img.getAttribute("width")), Number(img.getAttribute("height"))];
    this.view = bench.querySelector("#view");
    const spare = part.querySelector("[data-spare]");
    spare?.replaceWith(...spare.querySelectorAll("[data-row]"));
    this.rows = [...part.querySelectorAll("[data-row]")].map((row) => [...row.querySelectorAll("[data-side]")]);
    [this.most, this.least] = [Number(part.dataset.most), Number(part.dataset.least)];
    [this.chosen, this.steps, this.drag] = [0, [], null];
    this.labels = new Labels(this);
    this.build();
    part.addEventListener("input", () => this.paint());
    part.addEventListener("change", () => part.querySelector(".msg.err[id]")?.remove());
    part.addEventListener("focusin", (event) => this.enter(event.target.closest("[data-row]")));
    for (const input of this.rows.flat()) input.addEventListener("focus", () => this.remember());
    part.form.addEventListener("put", () => this.paint());
    img.addEventListener("load", () => this.paint());
    new ResizeObserver(() => this.paint()).observe(img);
    part.querySelector("[data-keys]").hidden = false;
  }

  build() {
    const [width, height] = this.size;
    const name = this.part.querySelector("legend").textContent;
    this.canvas = svg("svg", { class: "boxes", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": name });
    const mask = svg("mask", { id: `outside-${this.part.dataset.field}` });
    this.holes = svg("path");
    this.shade = svg("rect", { class: "shade", width, height, mask: `url(#${mask.id})` });
    mask.append(svg("rect", { width, height, fill: "#fff" }), this.holes);
    this.canvas.append(mask, this.shade);
    this.marks = this.rows.map((row, index) => {
      const group = svg("g", { class: "box", tabindex: "0", role: "application", "data-box": index });
      const [body, under, line] = ["body", "under", "line"].map((name) => svg("rect", { class: name }));
      const hands = HANDLES.map(([x, y], at) => {
        const hand = svg("g", { class: x && y ? "hand" : "hand mid", "data-x": x, "data-y": y, cursor: CURSORS[at % 4] });
        hand.append(svg("rect", { class: "hit" }), svg("rect", { class: "knob" }));
        return hand;
      });
      group.append(body, under, line, ...hands);
      group.addEventListener("focus", () => this.choose(index));
      return { group, rects: [body, under, line], hands };
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    const layer = this.img.closest("[data-zooms]");
    this.host = layer && layer !== this.img ? layer : this.view;
    this.host.append(this.canvas);
    this.loupe = svg("svg", { class: "loupe", "aria-hidden": "true" });
    this.loupe.append(svg("image", { width, height }), svg("path", { class: "under" }), svg("path", { class: "line" }));
  }

  /** Each row as [left, top, right, bottom] in pixels of the picture; null where there is no box. */
  boxes() {
    return this.rows.map((row) => {
      const at = row.map((input) => number(input.value));
      if (at.some((one) => !(one >= 0 && one <= 100))) return null;
      const [x, y] = [[at[0], at[2]], [at[1], at[3]]].map((pair) => pair.sort((a, b) => a - b));
      const [width, height] = this.size.map((one) => one / 100);
      return x[0] < x[1] && y[0] < y[1] ? [x[0] * width, y[0] * height, x[1] * width, y[1] * height] : null;
    });
  }

  /** To whole pixels of the picture: however it was drawn, the same edge is the same number. */
  write(index, box) {
    const sides = box?.map((one, at) => clamp(Math.round(one), this.size[at % 2]));
    this.rows[index].forEach((input, at) => (input.value = sides ? percent(sides[at], this.size[at % 2]) : ""));
  }

  /** What will be sent of each row: four sides, and its label. */
  values() {
    return this.rows.map((row, index) => [...row.map((input) => input.value), this.labels.value(index)]);
  }

  remember() {
    const now = this.values();
    if (JSON.stringify(now) !== JSON.stringify(this.steps.at(-1))) this.steps.push(now);
  }

  /** Something is done: drawn, kept as a draft, said. */
  done(words = this.words(this.chosen)) {
    this.part.querySelector(".msg.err[id]")?.remove();
    this.paint();
    changed(this.rows[0][0]);
    tell(() => [words, ...this.stops()].join(" "));
  }

  /** Somebody is at the inputs of a row: its box is the chosen one. */
  enter(row) {
    const index = this.rows.findIndex(([input]) => input.closest("[data-row]") === row);
    if (this.boxes()[index]) this.choose(index);
    else take(this);
  }

  choose(index) {
    this.chosen = index;
    this.labels.ahead = false;
    take(this);
    this.paint();
  }

  focus() {
    const group = this.marks[this.chosen]?.group;
    if (group?.isConnected) group.focus({ preventScroll: true });
  }

  // ---- drawing it ------------------------------------------------------------------------------------------------

  paint() {
    if (!this.canvas.isConnected) return;
    const [width] = this.size;
    const boxes = this.boxes();
    const there = boxes.filter(Boolean);
    if (!boxes[this.chosen]) this.chosen = Math.max(0, boxes.findIndex(Boolean));
    this.lay();
    this.unit = width / (this.img.getBoundingClientRect().width || width); // pixels of the picture in one of the screen
    for (const one of [this.canvas, this.loupe]) one.style.setProperty("--unit", this.unit);
    this.canvas.classList.toggle("drags", !!this.drag?.moved);
    this.holes.setAttribute("d", there.map(outline).join(""));
    this.shade.classList.toggle("off", !there.length);
    if (this.most > 1) this.part.querySelector("[data-full]").hidden = there.length < this.most;
    boxes.forEach((box, index) => this.mark(index, box));
    this.labels.paint();
    if (here === this) this.tools(there.length > 0, this.steps.length > 0);
    const last = Math.max(this.least, boxes.findLastIndex(Boolean) + 2);
    this.rows.forEach((row, index) => (row[0].closest("[data-row]").hidden = index >= last && row.every((one) => !one.value)));
    this.gates(boxes.flatMap((box, index) => (box ? [this.share(index)] : [])));
  }

  /** Over the picture, wherever the page has it; closer with it, where the two do not lie in one layer. */
  lay() {
    const { img, canvas } = this;
    const [left, top, width, height] = [img.offsetLeft, img.offsetTop, img.offsetWidth, img.offsetHeight].map((one) => `${one}px`);
    Object.assign(canvas.style, { left, top, width, height });
    if (this.host === this.view) canvas.style.transform = img.style.transform;
  }

  tools(clear, back) {
    for (const button of this.bench.querySelectorAll(".tools [data-do]")) button.disabled = !{ clear, back }[button.dataset.do];
  }

  mark(index, box) {
    const { group, rects, hands } = this.marks[index];
    if (!box) return group.remove();
    if (!group.isConnected) this.canvas.append(group);
    const [l, t, r, b] = box;
    const [width, height] = [r - l, b - t];
    for (const rect of rects) place(rect, l, t, width, height);
    this.labels.tag(group, index, box, this.size, this.unit);
    group.setAttribute("aria-label", this.words(index));
    group.classList.toggle("redrawn", this.redrawn(index));
    group.classList.toggle("chosen", index === this.chosen && here === this);
    const [knob, hit] = [(COARSE.matches ? 18 : 13) * this.unit, (COARSE.matches ? 44 : 24) * this.unit];
    for (const hand of hands) {
      const [ax, ay] = [Number(hand.dataset.x), Number(hand.dataset.y)];
      const [x, y] = [l + (width * (ax + 1)) / 2, t + (height * (ay + 1)) / 2];
      // On a small box the places to touch move outwards, so that its middle can still be taken.
      const [outX, outY] = [width < 2 * hit ? (ax * hit) / 3 : 0, height < 2 * hit ? (ay * hit) / 3 : 0];
      const [long, high] = [ax ? hit : width - hit, ay ? hit : height - hit]; // a side is taken anywhere between its corners
      place(hand.firstChild, x + outX - long / 2, y + outY - high / 2, long, high);
      place(hand.lastChild, x - knob / 2, y - knob / 2, knob, knob);
      hand.classList.toggle("off", Math.min(long, high) < hit);
    }
  }

  words(index) {
    const all = this.boxes();
    if (!all[index]) return this.part.dataset.saidNone;
    const [LEFT, TOP, RIGHT, BOTTOM] = all[index].map((one, at) => ((100 * one) / this.size[at % 2]).toFixed(1));
    const facts = { NUMBER: index + 1, COUNT: all.filter(Boolean).length, LEFT, TOP, RIGHT, BOTTOM };
    const place = this.part.dataset.said.replace(/[A-Z]{3,}/g, (name) => facts[name] ?? name);
    return this.labels.list ? `${place} ${this.labels.text(index) || this.labels.list.dataset.none}.` : place;
  }

  // ---- limits ----------------------------------------------------------------------------------------------------

  /** Of the picture's area, from what will be sent. */
  share(index) {
    const at = this.rows[index].map((input) => number(input.value) / 100);
    return Math.round(Math.abs(at[2] - at[0]) * Math.abs(at[3] - at[1]) * 1e12) / 1e12;
  }

  gates(shares) {
    const told = { area: Math.max(...shares), count: shares.length }; // for the sheet's own rules
    for (const [name, value] of Object.entries(told))
      if (shares.length) measured.set(`${this.part.dataset.field}.${name}`, value);
      else measured.delete(`${this.part.dataset.field}.${name}`);
    for (const gate of this.part.querySelectorAll("[data-gate]")) {
      const kind = gate.dataset.gate;
      const limit = Number(kind === "count" ? this.least : this.part.dataset[kind]);
      const found = kind === "count" ? shares.length : Math[kind](...shares);
      const stops = shares.length > 0 && (kind === "max" ? found >= limit : found < limit);
      gate.classList.toggle("stops", stops);
      gate.querySelector("[data-found]").textContent =
        kind === "count" ? found : shares.length ? `${cut(found)} %` : this.part.dataset.saidUnknown;
      if (kind !== "count") ruler(gate.querySelector(".ruler"), shares.length ? found : 0);
      const halt = this.part.querySelector(`[data-halt=${kind}]`);
      halt.hidden = !stops || !!this.part.querySelector(".msg.err[id]");
    }
  }

  stops() {
    return [...this.part.querySelectorAll("[data-halt]:not([hidden])")].map((one) => one.textContent.trim());
  }

  // ---- hands -----------------------------------------------------------------------------------------------------

  at(event) {
    const seen = this.img.getBoundingClientRect();
    return [
      ((event.clientX - seen.left) / seen.width) * this.size[0],
      ((event.clientY - seen.top) / seen.height) * this.size[1],
    ];
  }

  take(event) {
    const group = event.altKey ? null : event.target.closest?.("g.box"); // Alt: a box within a box
    const hand = group && event.target.closest("[data-x]");
    const boxes = this.boxes();
    const on = group ? Number(group.dataset.box) : -1;
    const anew = group && !hand && this.redrawn(on);
    let index = anew ? this.target(on, boxes) : group ? on : boxes.indexOf(null);
    if (index < 0 && this.most === 1) index = 0; // another drag draws the one box anew
    if (index < 0) return announce(this.part.querySelector("[data-full]").textContent), true;
    const from = group && !anew ? boxes[index].map(Math.round) : null;
    if (index !== on && !boxes[index]) this.labels.ahead = true;
    const way = hand ? [Number(hand.dataset.x), Number(hand.dataset.y)] : [0, 0];
    const before = this.values();
    this.drag = { id: event.pointerId, index, from, way, before, start: this.at(event), touch: event.pointerType === "touch" };
    if (group) this.choose(on);
    return true;
  }

  /** Whether a drag inside this box draws anew: it is over the limit, or over most of the picture. Its border and its
      handles still change its size. */
  redrawn(index) {
    return this.share(index) >= Math.min(REDRAWN, Number(this.part.dataset.max || 1));
  }

  /** What such a drag draws: another box where the sheet takes one and this one may stay, else this one. */
  target(index, boxes) {
    const stays = this.share(index) < Number(this.part.dataset.max || Infinity);
    const free = boxes.indexOf(null);
    return stays && free >= 0 ? free : index;
  }

  move(event) {
    const { index, from, way, start, touch } = this.drag;
    const [x, y] = this.at(event);
    const by = [x - start[0], y - start[1]];
    if (Math.hypot(...by) < 3 * this.unit && !this.drag.moved) return;
    this.drag.moved = true;
    this.chosen = index;
    if (!from && !this.drag.before[index].slice(0, 4).some(Boolean)) this.labels.put(index, this.labels.next);
    this.labels.ahead = false;
    this.write(index, from ? shifted(from, by, way, this.size) : spanned(start, [x, y]));
    this.paint();
    if (touch) this.look(event, from && !way[0] && !way[1] ? null : [x, y]);
  }

  end() {
    const { index, before, moved } = this.drag;
    this.let();
    if (!moved && this.labels.ahead) return this.labels.aim(true);
    if (!moved) return this.focus();
    const [box, now] = [this.boxes()[index], this.values()];
    const least = 4 * this.unit;
    if (!box || (box[2] - box[0] < least && box[3] - box[1] < least)) return this.restore(before);
    if (JSON.stringify(before) === JSON.stringify(now)) return;
    this.steps.push(before);
    this.done();
    this.focus();
  }

  /** A second finger, or Escape: as if it had not begun. */
  letGo() {
    if (!this.drag) return;
    const { before } = this.drag;
    this.let();
    this.restore(before);
  }

  let() {
    this.drag = null;
    this.loupe.remove();
  }

  restore(values) {
    this.rows.forEach((row, index) => {
      row.forEach((input, at) => (input.value = values[index][at]));
      this.labels.put(index, values[index][4]);
    });
    this.paint();
  }

  /** What the finger hides, larger, in the far corner. */
  look(event, at) {
    if (!at) return this.loupe.remove();
    const [image, ...paths] = this.loupe.children;
    const [x, y] = at.map((one, axis) => clamp(one, this.size[axis]));
    const reach = 22 * this.unit;
    this.loupe.setAttribute("viewBox", `${x - reach} ${y - reach} ${2 * reach} ${2 * reach}`);
    if (image.getAttribute("href") !== this.img.currentSrc) image.setAttribute("href", this.img.currentSrc);
    for (const path of paths) path.setAttribute("d", outline(this.boxes()[this.drag.index] ?? [x, y, x, y]));
    const seen = this.view.getBoundingClientRect();
    this.loupe.classList.toggle("far", event.clientX < seen.left + seen.width / 2);
    if (!this.loupe.isConnected) this.view.append(this.loupe);
  }

  // ---- keys ------------------------------------------------------------------------------------------------------

  key(event) {
    const way = ARROWS[event.key];
    const box = this.boxes()[this.chosen]?.map(Math.round);
    if (!way || !box || event.ctrlKey || event.metaKey) {
      if (event.key === "Backspace") this.clear(), event.preventDefault();
      return;
    }
    event.preventDefault();
    const by = way.map((one, axis) => one * (event.altKey ? 1 : Math.max(1, Math.round(this.size[axis] / 100))));
    if (!event.repeat) this.remember();
    const edges = event.shiftKey ? way.map(Math.abs) : [0, 0]; // the right edge, or the lower one
    if (event.shiftKey && (box[2] + by[0] <= box[0] || box[3] + by[1] <= box[1])) return;
    this.write(this.chosen, shifted(box, by, edges, this.size));
    this.done();
  }

  /** A box in the middle, to be moved and sized from there; or the one there is, where there is room for one. */
  add() {
    const boxes = this.boxes();
    const free = boxes.indexOf(null);
    if (free < 0) {
      this.focus();
      return announce(this.most === 1 ? this.words(0) : this.part.querySelector("[data-full]").textContent);
    }
    const half = Math.sqrt(Math.min(0.09, Number(this.part.dataset.max || 1) / 2)) / 2;
    const off = boxes.filter(Boolean).length * 0.02;
    this.remember();
    this.write(free, [-half, -half, half, half].map((one, at) => (0.5 + one + off) * this.size[at % 2]));
    this.labels.put(free, this.labels.next);
    this.choose(free);
    this.done();
    this.focus();
  }

  /** Whether keys are meant for it: the focus is on its boxes or among its inputs. */
  hears() {
    const at = document.activeElement;
    return this.canvas.contains(at) || at?.closest?.("[data-field]") === this.part;
  }

  clear() {
    if (!this.boxes()[this.chosen]) return;
    this.remember();
    const values = this.values();
    values.splice(this.chosen, 1);
    values.push(["", "", "", "", UNLABELLED]);
    this.restore(values);
    this.done(this.part.dataset.saidGone);
    this.focus();
  }

  back() {
    const now = JSON.stringify(this.values());
    let step = this.steps.pop();
    while (step && JSON.stringify(step) === now) step = this.steps.pop();
    if (!step) return;
    this.restore(step);
    this.done(`${this.part.dataset.saidBack} ${this.words(this.chosen)}`);
  }

  next(by) {
    const there = this.boxes().flatMap((box, index) => (box ? [index] : []));
    if (!there.length) return announce(this.part.dataset.saidNone);
    const on = this.marks[this.chosen].group === document.activeElement;
    this.choose(on ? there[(there.indexOf(this.chosen) + by + there.length) % there.length] : this.chosen);
    this.focus();
  }
}

function ruler(part, share) {
  const at = `${(share * 100).toFixed(2)}%`;
  part.setAttribute("aria-valuenow", Math.round(share * 100));
  part.querySelector(".fill").setAttribute("width", at);
  part.querySelector(".needle").setAttribute("x", at);
}

// ---- the page ----------------------------------------------------------------------------------------------------

let saying = 0;
/** After a held key has been let go, not at each of its steps. */
function tell(words) {
  clearTimeout(saying);
  saying = setTimeout(() => announce(words()), 200);
}

/** Whether there is one to draw upon, and the sheet asks for it now. */
const asked = () => !!here && !here.part.closest("[hidden]");

function take(field) {
  if (here === field) return;
  here = field;
  for (const one of fields) {
    one.canvas.classList.toggle("rests", one !== field);
    one.paint();
  }
}

onSheet(({ bench, form }) => {
  const img = bench.querySelector(".view img");
  fields = img && form ? [...form.querySelectorAll("[data-box]")].map((part) => new Boxes(part, img, bench)) : [];
  here = null;
  if (!fields.length) return;
  bench.querySelector("#view").classList.add("draws");
  const tools = document.importNode(fields[0].part.querySelector("[data-tools]").content, true);
  for (const button of tools.children) Object.assign(button, { type: "button" });
  bench.querySelector(".tools.own").append(tools);
  take(fields[0]);
});

onZoom(() => fields.forEach((one) => one.paint()));
claimDrags(
  (event) => asked() && !event.shiftKey && !!event.target.closest?.("#view") && !event.target.closest(".broken") && here.take(event),
  () => here?.letGo());
addEventListener("pointermove", (event) => here?.drag?.id === event.pointerId && here.move(event));
addEventListener("pointerup", (event) => here?.drag?.id === event.pointerId && here.end());
addEventListener("pointercancel", (event) => here?.drag?.id === event.pointerId && here.letGo());

addEventListener("click", (event) => {
  const act = event.target.closest?.("[data-do]")?.dataset.do;
  if (here && (act === "clear" || act === "back")) here[act]();
});

onKey((event, key) => {
  const label = asked() && here.hears() && here.labels.keyed(key);
  if (label) return label.click(), true;
  if (!asked() || event.target.matches("[type=radio], [type=checkbox]") && key !== "n") return false;
  if (key === "n") here.add();
  else if (key === "Delete") here.clear();
  else if (event.code === "BracketLeft" || key === "[") here.next(-1);
  else if (event.code === "BracketRight" || key === "]") here.next(1);
  else return false;
  return true;
});

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && here?.drag) return here.letGo(), event.preventDefault();
  if (event.key === "Escape" && here?.hears() && !event.target.matches("input, select")) return here.labels.aim(true);
  const typing = event.target.matches("textarea, input:not([type=radio]):not([type=checkbox])");
  if (!here || typing || document.querySelector("dialog[open]") || event.shiftKey || event.altKey) return;
  if (!(event.ctrlKey || event.metaKey) || event.code !== "KeyZ" && event.key !== "z") return;
  event.preventDefault();
  here.back();
});
