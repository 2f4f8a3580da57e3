// Keys of the review queue. Without this script every button and link does the same.
import { begun, pressed } from "./sheet-parts.js";

const bench = document.getElementById("bench");
const form = bench?.querySelector("form.panel");
if (bench) begun({ bench, form, assignment: "" });

const typing = (target) => target.matches("textarea, select, input:not([type=radio])");
const button = (decision) => form?.querySelector(`[name=decision][value=${decision}]`);

const noReason = document.getElementById("no-reason");
form?.addEventListener("change", (event) => event.target.name === "reason" && (noReason.hidden = true));

/** A return and a rejection need a reason: without one the key goes there first, and the page says so. */
function decide(decision) {
  const act = button(decision);
  if (!act) return false;
  const reasons = [...form.querySelectorAll("[name=reason]")];
  if (decision !== "accept" && !reasons.some((one) => one.checked)) {
    reasons[0].focus();
    noReason.hidden = false;
    noReason.scrollIntoView({ block: "nearest" });
  } else act.click();
  return true;
}

function choose(number) {
  const reason = form?.querySelectorAll("[name=reason]")[number - 1];
  if (!reason) return false;
  reason.checked = true;
  reason.dispatchEvent(new Event("change", { bubbles: true }));
  reason.focus();
  return true;
}

function act(key) {
  if (key === "a") return decide("accept");
  if (key === "r") return decide("return");
  if (key === "x") return decide("reject");
  const link = { l: "[data-later]", u: "[data-undo]" }[key];
  const found = link && document.querySelector(link);
  if (found) found.click();
  return found ? true : /^[1-9]$/.test(key) && choose(Number(key));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (act(key) || pressed(event, key)) event.preventDefault();
});

// One decision for one press: the button that was pressed twice has sent its form already.
form?.addEventListener("submit", (event) => {
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => form && delete form.dataset.sent);
