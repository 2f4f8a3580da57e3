// Two pictures: sides swapped, and B held over A. Only the person blinks; nothing moves by itself.
import { announce, onKey, onSheet } from "../sheet-parts.js";

let duo = null, tools = null;

const button = (what) => tools?.querySelector(`[data-${what}]`);

function press(what, on) {
  const one = button(what);
  duo.classList.toggle(what === "swap" ? "swapped" : "blinks", on);
  one.setAttribute("aria-pressed", on);
  announce(on ? one.dataset.on : one.dataset.off);
}

const swap = () => press("swap", !duo.classList.contains("swapped"));
const blink = (on) => duo && duo.classList.contains("blinks") !== on && press("blink", on);

/** B lies over A, hidden, so that showing it needs nothing of the line. */
function lay() {
  const [under, picture] = [duo.querySelector("[data-side=a] [data-zooms]"), duo.querySelector("[data-side=b] img")];
  if (!under || !picture) return;
  const over = picture.cloneNode();
  over.className = "over";
  over.alt = "";
  under.append(over);
}

onSheet(({ bench }) => {
  [duo, tools] = [bench.querySelector(".duo"), bench.querySelector(".tools")];
  if (!duo) return;
  lay();
  button("swap").addEventListener("click", swap);
  const held = button("blink");
  if (!held) return; // two texts
  held.addEventListener("pointerdown", () => blink(true));
  for (const type of ["pointerup", "pointerleave", "pointercancel"]) held.addEventListener(type, () => blink(false));
  held.addEventListener("click", (event) => event.detail === 0 && blink(!duo.classList.contains("blinks"))); // pressed by a key or a voice
  held.addEventListener("contextmenu", (event) => event.preventDefault()); // a long press is a look, not a menu
});

onKey((event, key) => {
  if (!duo?.isConnected || (key !== "b" && key !== "x")) return false;
  if (key === "x") swap();
  else if (button("blink")) blink(true);
  return true;
});
addEventListener("keyup", (event) => event.code === "KeyB" || event.key.toLowerCase() === "b" ? blink(false) : undefined);
addEventListener("blur", () => blink(false));
