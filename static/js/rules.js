// What a sheet says of several fields at once: which are asked, and what must hold between them.
// `reckon` is the mirror of benchmarks/rules/expressions.py; the server decides, this only tells beforehand.
import { announce, measured, onSheet, onSubmit } from "./sheet-parts.js";

const rules = JSON.parse(document.getElementById("rules")?.textContent ?? "{}");
const words = rules.words ?? {};
const SUMS = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => (b ? a / b : NaN) };
const SIZES = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };

/** A tree over values: a number, a text, true or false; null where it is undefined. */
export function reckon([sign, ...parts], values) {
  if (sign === "is") return parts[0];
  if (sign === "name") return values[parts[0]] ?? null;
  const found = parts.map((part) => reckon(part, values));
  if (sign === "and" || sign === "or") {
    const decides = sign === "or";
    return found.includes(decides) ? decides : found.every((one) => typeof one === "boolean") ? !decides : null;
  }
  if (sign === "not") return typeof found[0] === "boolean" ? !found[0] : null;
  if (found.includes(null)) return null;
  if (sign === "==" || sign === "!=") return (found[0] === found[1]) === (sign === "==");
  if (sign === "in") return found.slice(1).includes(found[0]);
  if (found.some((one) => typeof one !== "number")) return null;
  if (SIZES[sign]) return SIZES[sign](...found);
  const sum = SUMS[sign](...found);
  return Number.isFinite(sum) ? sum : null;
}

// ---- the sheet ---------------------------------------------------------------------------------------------------

let bench = null, form = null, told = "", telling = 0;

const field = (key) => form.querySelector(`[data-field="${CSS.escape(key)}"]`);
const chosen = (key) => [...field(key).querySelectorAll("[name^=a-]:checked")].map((one) => one.value);

function valuesNow() {
  const values = {};
  for (const one of form.querySelectorAll("[data-field]")) {
    if (one.closest("[hidden]")) continue;
    const inputs = [...one.querySelectorAll(`[name="a-${CSS.escape(one.dataset.field)}"]`)];
    const on = inputs.filter((input) => input.checked);
    if (inputs[0]?.matches("[type=radio], [type=checkbox]")) {
      if (on.length) values[one.dataset.field] = on[0].dataset.value ? Number(on[0].dataset.value) : on.map((input) => input.value).join("|");
    } else if (inputs.length === 1) {
      const text = inputs[0].value.normalize("NFC").trim();
      if (text) values[one.dataset.field] = inputs[0].matches("textarea") ? text : text.replace(/\s+/g, " ");
    }
  }
  for (const [key, value] of Object.entries(JSON.parse(bench.dataset.facts ?? "{}"))) values[`facts.${key}`] = value;
  return Object.assign(values, Object.fromEntries(measured));
}

/** A question whose condition does not hold is not asked. */
function show() {
  const said = [];
  for (const [key, { field: on, in: codes }] of Object.entries(rules.show ?? {})) {
    const part = form.querySelector(`[data-when="${CSS.escape(key)}"]`);
    const asked = !field(on).closest("[hidden]") && chosen(on).some((code) => codes.includes(code));
    if (part.hidden !== asked) continue;
    part.hidden = !asked;
    said.push(`${asked ? words.asked : words.gone} ${part.querySelector("legend, .ask")?.textContent ?? ""}`);
  }
  return said;
}

/** Said once the person has come to rest, and only what is new. */
function tell(parts) {
  const said = parts.join(". ");
  if (!said || said === told) return;
  told = said;
  clearTimeout(telling);
  telling = setTimeout(() => announce(said), 600);
}

function look(first = false) {
  const changes = show();
  const values = valuesNow();
  for (const note of form.querySelectorAll("[data-remark]")) {
    const check = rules.checks?.find((one) => one.key === note.dataset.remark);
    if (check && reckon(check.tree, values) !== false) note.remove();
  }
  if (!first) tell(changes);
}

onSheet((sheet) => {
  [bench, form] = [sheet.bench, sheet.form];
  form.classList.add("ruled");
  form.addEventListener("input", () => look());
  form.addEventListener("put", () => look()); // what was written in another window
  look(true);
});

/** What must hold and does not is said before the answer goes out; the server says it too. */
onSubmit(() => {
  const values = valuesNow();
  const broken = (rules.checks ?? []).filter((check) => check.blocks && reckon(check.tree, values) === false);
  for (const check of broken) {
    if (form.querySelector(`[data-remark="${CSS.escape(check.key)}"]`)) continue;
    const note = Object.assign(document.createElement("div"), { className: "msg err" });
    note.dataset.remark = check.key;
    note.append(Object.assign(document.createElement("b"), { textContent: check.words, dir: "auto" }));
    form.querySelector(".body").append(note);
  }
  if (!broken.length) return false;
  form.querySelector(`[data-remark="${CSS.escape(broken[0].key)}"]`).scrollIntoView({ block: "nearest" });
  announce(broken.map((check) => check.words).join(" "));
  return true;
});
