// On a phone each level of a scale is one line, so that all are in view. What the chosen or focused level means stands
// below them, in a field of fixed height: nothing moves. How many levels were in view goes with the answer.
import { onSheet } from "./sheet-parts.js";

const HOLD = 500; // ms after which a finger reads a level and does not choose it
const PHONE = 600; // pixels: the shorter side of a screen for fingers
const words = () => document.getElementById("said").dataset;

function explain(box, option) {
  const definition = option?.querySelector(".def");
  if (!definition) return void (box.textContent = words().levels);
  const [first, rest] = [definition.cloneNode(true), definition.querySelector(":scope > span")?.cloneNode(true)];
  first.querySelector(":scope > span")?.remove();
  const name = Object.assign(document.createElement("b"), { textContent: `${option.querySelector("b").textContent}.` });
  const parts = [name, " ", ...first.childNodes];
  if (rest) {
    const whole = { type: "button", className: "whole", tabIndex: -1, textContent: words().whole };
    rest.className = "rest";
    parts.push(rest, " ", Object.assign(document.createElement("button"), whole));
  }
  box.classList.remove("read");
  box.replaceChildren(...parts);
  box.scrollTop = 0;
}

/** The definitions of one scale, for the eye alone: each is part of its level's name. */
function follow(scale, form) {
  const box = Object.assign(document.createElement("div"), { className: "means", ariaHidden: "true" });
  const chosen = () => explain(box, scale.querySelector(".opt:has(:checked)"));
  box.addEventListener("click", (event) => event.target.matches(".whole") && box.classList.add("read"));
  scale.after(box);
  chosen();
  for (const type of ["input", "put"]) form.addEventListener(type, chosen);
  scale.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && explain(box, target.closest(".opt")));
  holdToRead(scale, (option) => explain(box, option));
}

function holdToRead(scale, read) {
  let timer = 0, held = false;
  scale.addEventListener("pointerdown", ({ target, pointerType }) => {
    held = false;
    clearTimeout(timer);
    if (pointerType === "mouse") return;
    timer = setTimeout(() => {
      held = true;
      read(target.closest(".opt"));
    }, HOLD);
  });
  for (const type of ["pointerup", "pointercancel", "pointerleave"]) scale.addEventListener(type, () => clearTimeout(timer));
  scale.addEventListener("contextmenu", (event) => held && event.preventDefault());
  scale.addEventListener("click", (event) => {
    if (held) event.preventDefault(); // it was read, not chosen
    held = false;
  }, true);
}

/** Of each scale, how many of its levels can be seen whole, and how many there are. */
function levelsInView(form) {
  const foot = Math.min(innerHeight, form.querySelector(".acts").getBoundingClientRect().top);
  const stage = document.querySelector(".stage");
  const head = stage && getComputedStyle(stage).position === "sticky" ? stage.getBoundingClientRect().bottom : 0;
  const seen = (label) => {
    const { top, bottom } = label.getBoundingClientRect();
    return top >= head - 1 && bottom <= foot + 1;
  };
  const scales = [...form.querySelectorAll("[data-field]:has([type=radio])")].filter((field) => !field.closest("[hidden]"));
  return Object.fromEntries(scales.map((field) => {
    const labels = [...field.querySelectorAll("label:has([type=radio])")];
    return [field.dataset.field, [labels.filter(seen).length, labels.length]];
  }));
}

function device() {
  if (!matchMedia("(pointer: coarse)").matches) return "computer";
  return Math.min(screen.width, screen.height) < PHONE ? "phone" : "tablet";
}

/** As the sheet was first seen: until something is chosen, for a scrolled page says nothing of the first look. */
function recordView(bench, form) {
  let first = true;
  const write = () => {
    if (!first || !form.isConnected) return;
    const view = { device: device(), width: innerWidth, height: innerHeight, levels: levelsInView(form) };
    form.elements.view.value = JSON.stringify(view);
  };
  form.addEventListener("input", () => (first = false), { once: true });
  for (const img of bench.querySelectorAll(".view img")) img.addEventListener("load", () => requestAnimationFrame(write));
  requestAnimationFrame(() => {
    write();
    // Not before: the page itself goes back to the top for a new sheet, and says so ahead of this.
    addEventListener("scroll", () => (first = false), { once: true, passive: true });
  });
}

onSheet(({ bench, form }) => {
  if (!form) return;
  for (const scale of form.querySelectorAll(".scale:has(.def):has([type=radio])")) follow(scale, form);
  recordView(bench, form);
  const tools = bench.querySelector("#tools[popover]");
  tools?.addEventListener("click", ({ target }) => target.closest(".btn") && tools.hidePopover?.());
});
