// Labels of boxes: the list to choose from, the select of each row, and what stands at each box in the picture.
import { announce } from "../sheet-parts.js";
import { svg } from "./box-shapes.js";

export const UNLABELLED = "label:";
const LONGEST = 24; // letters of a label in the picture; the list has all of it

export class Labels {
  /** `field` has the boxes: `part`, `rows`, `chosen`, `boxes()`, `remember()` and `done()`. */
  constructor(field) {
    this.field = field;
    this.selects = field.rows.map((row) => row[0].closest("[data-row]").querySelector("[data-label]")); // null: no labels
    this.list = field.part.querySelector("[data-labels]");
    [this.next, this.ahead] = [UNLABELLED, false]; // the label of the next box; whether the list is for that one
    if (!this.list) return;
    this.required = "required" in this.list.dataset;
    this.heading = this.list.querySelector("[data-labels-of]");
    this.list.hidden = false;
    field.part.querySelector("legend").tabIndex = -1;
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.aim) this.aim(button.getAttribute("aria-pressed") !== "true");
      else if (button) this.press(button.value, event.detail > 0);
    });
    for (const select of this.selects) select.addEventListener("focus", () => field.remember());
  }

  value(index) {
    return this.selects[index]?.value ?? "";
  }

  put(index, value) {
    if (this.selects[index]) this.selects[index].value = value || UNLABELLED;
  }

  /** In the words of the page; empty where a box has none. */
  text(index) {
    return this.value(index) === UNLABELLED ? "" : (this.selects[index]?.selectedOptions[0]?.text ?? "");
  }

  /** The list is for the next box, or for the chosen one. */
  aim(ahead) {
    if (!this.list) return;
    this.ahead = ahead && this.field.most > 1;
    this.paint();
    announce(this.heading.textContent);
    this.field.part.querySelector("legend").focus({ preventScroll: true }); // so that keys are meant for labels
  }

  /** For the next box where none is chosen: it then has the label from its first pixel on. */
  get forNext() {
    return this.ahead || !this.field.boxes()[this.field.chosen];
  }

  /** `pointed`: by mouse or finger. The focus then goes back to the box, so that Enter submits. */
  press(value, pointed) {
    const { field } = this;
    if (this.forNext) {
      this.next = value;
      this.paint();
      const name = this.list.querySelector("[value][aria-pressed=true] bdi");
      announce(`${this.heading.textContent}: ${name.textContent}`);
      if (pointed) field.part.querySelector("legend").focus({ preventScroll: true });
      return;
    }
    field.remember();
    this.put(field.chosen, value);
    field.done();
    if (pointed) field.focus();
  }

  /** The button of a key. */
  keyed(key) {
    return this.list?.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }

  /** The places of boxes that need a label and have none. */
  bare() {
    return this.required ? this.field.boxes().flatMap((box, index) => (box && !this.text(index) ? [index] : [])) : [];
  }

  paint() {
    if (!this.list) return;
    const { chosen, most } = this.field;
    const { dataset } = this.list;
    const now = this.forNext ? this.next : this.value(chosen);
    const words = most === 1 ? dataset.saidOnly : this.forNext ? dataset.saidNext : dataset.saidOf;
    this.heading.textContent = words.replace("NUMBER", chosen + 1);
    for (const button of this.list.querySelectorAll("[value]")) button.setAttribute("aria-pressed", String(button.value === now));
    this.list.querySelector("[data-aim]")?.setAttribute("aria-pressed", String(this.forNext));
    const halt = this.list.querySelector("[data-halt]");
    const [first] = this.bare();
    if (!halt) return;
    halt.hidden = first === undefined || !!this.field.part.querySelector(".msg.err[id]");
    halt.querySelector("b").textContent = dataset.saidBare.replace("NUMBER", (first ?? 0) + 1);
  }

  /** The number of a box, where there may be several, and its label: above its corner, or within where there is no room. */
  tag(group, index, [left, top, right], [width], unit) {
    if (!this.list) return;
    let text = group.querySelector(".tag");
    if (!text) group.append((text = svg("text", { class: "tag", "aria-hidden": "true" })));
    const bare = this.bare().includes(index);
    const label = this.text(index);
    const short = [...label].length > LONGEST ? `${[...label].slice(0, LONGEST - 1).join("")}…` : label;
    text.textContent = [this.field.most > 1 ? index + 1 : "", short || (bare ? "?" : "")].filter(Boolean).join(" ");
    text.classList.toggle("bare", bare);
    const end = left + text.getComputedTextLength() > width;
    text.setAttribute("text-anchor", end ? "end" : "start");
    text.setAttribute("x", end ? right : left);
    text.setAttribute("y", top > 24 * unit ? top - 8 * unit : top + 22 * unit);
  }
}
