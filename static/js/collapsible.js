// Information that is opened by hand: that it was, when, and what was answered by then, goes with the answer.
import { changed, onSheet } from "./sheet-parts.js";

let shownAt = 0;

const isGiven = (field) =>
  [...field.querySelectorAll("[name^=a-]")].some((one) =>
    one.matches("[type=radio], [type=checkbox]") ? one.checked : one.value.trim() !== "");

function read(form) {
  try {
    return JSON.parse(form.elements.trace.value);
  } catch {
    return { opened: [] };
  }
}

onSheet(({ bench, form }) => {
  const fold = bench.querySelector("[data-fold]");
  if (!fold || !form) return;
  shownAt = Date.parse(form.elements.shown_at.value);
  const ahead = Date.now() - shownAt; // between this clock and the server's
  form.elements.trace.value ||= JSON.stringify({ opened: [] });
  fold.addEventListener("toggle", () => {
    if (!fold.open) return;
    const gate = form.querySelector(`[data-field="${CSS.escape(fold.dataset.gate ?? "")}"]`);
    const texts = [...form.querySelectorAll("textarea[name^=a-], input[name^=a-]:not([type]), input[type=text][name^=a-]")];
    const now = Date.now() - ahead;
    const trace = read(form);
    trace.opened.push({
      part: fold.dataset.fold,
      at: new Date(now).toISOString(),
      seconds: Math.round((now - shownAt) / 100) / 10,
      gate_answered: !gate || isGiven(gate),
      text_typed: texts.some((one) => one.value.trim() !== ""),
    });
    form.elements.trace.value = JSON.stringify(trace);
    changed(form.elements.trace);
  });
});
