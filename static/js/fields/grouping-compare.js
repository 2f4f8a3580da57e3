// Two look-alikes on a phone: a sheet over the grid shows one of them as wide as the screen, and the other in its place
// while a finger holds it. Who cannot hold turns them with a button. Decisions stand at the foot; then the reason.
import { contact, onMove, onTap } from "../displays/contact.js";

const PHONE = matchMedia("(max-width: 59.99rem)");
let over = null; // { dialog, fill }

const part = (name) => over.dialog.querySelector(`[data-over-${name}]`);
const numbers = () => {
  const { pics, at, against } = contact();
  return { n: pics[at].number, m: pics[against]?.number };
};

/** `fill(key, values)`: a text of the field. `tools`: the field's buttons under the grid, of which some are here too. */
export function beginCompare(field, tools, fill) {
  over = { dialog: field.querySelector("[data-over]"), fill };
  for (const act of ["drop", "undo", "unsure"]) {
    const button = tools.querySelector(`[data-act=${act}]`)?.cloneNode(true);
    if (button) part(act === "unsure" ? "decide" : "turn").append(button);
  }
  part("reason").prepend(...[...field.querySelectorAll(".roles [data-role]")].map((button) => button.cloneNode(true)));
  for (const button of over.dialog.querySelectorAll("[data-turn]")) button.addEventListener("click", () => turn(button.dataset.turn === "against"));
  part("same").addEventListener("click", () => (part("reason").children.length > 1 ? ask() : part("next").click()));
  part("close").addEventListener("click", endCompare);
  over.dialog.addEventListener("contextmenu", (event) => event.target.closest("[data-pair]") && event.preventDefault()); // a long press is a look
}

export const endCompare = () => over?.dialog.open && over.dialog.close();

/** Which of the two is shown while nobody holds the picture. */
function turn(against) {
  over.dialog.querySelector("[data-pair]").classList.toggle("turned", against);
  for (const button of over.dialog.querySelectorAll("[data-turn]")) button.setAttribute("aria-pressed", (button.dataset.turn === "against") === against);
}

/** Why the two differ: one tap, or none. */
function ask() {
  part("title").textContent = over.fill("differs", numbers());
  part("decide").hidden = part("turn").hidden = true;
  part("reason").hidden = false;
}

function draw() {
  const values = numbers();
  part("title").textContent = over.fill(values.m ? "is_same" : "alone", values);
  part("hint").textContent = values.m ? over.fill("hold", values) : "";
  part("same").textContent = over.fill("same", { n: values.m });
  part("same").hidden = part("views").hidden = !values.m;
  for (const button of over.dialog.querySelectorAll("[data-turn]")) button.textContent = values[button.dataset.turn === "against" ? "m" : "n"];
  part("reason").hidden = true;
  part("decide").hidden = part("turn").hidden = false;
  turn(false);
}

onMove(() => over?.dialog.isConnected && over.dialog.open && draw());
onTap(() => {
  if (!over?.dialog.isConnected || !PHONE.matches) return false;
  if (!over.dialog.open) over.dialog.showModal();
  draw();
  return true;
});
