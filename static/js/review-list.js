// Decisions from the list of the review queue, by keys and without a new page. Without this script each form sends itself.
import { announce } from "./sheet-parts.js";

const list = document.getElementById("list");
const rows = () => [...(list?.children ?? [])];
const current = () => list?.querySelector(".answer:focus-within") ?? list?.querySelector(".answer[data-current]");
let undone = null; // the row of the latest decision
let recounting = 0; // a timer
const PAUSE = 600; // milliseconds without a decision, before the counts are asked for

function go(row) {
  if (!row) return false;
  for (const other of rows()) other.toggleAttribute("data-current", other === row);
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  return true;
}

function step(by) {
  const all = rows();
  const at = all.indexOf(current());
  return go(at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[at + by]);
}

/** The next row that can still be decided, else the row itself. */
const following = (row) => {
  for (let next = row.nextElementSibling; next; next = next.nextElementSibling) if ("open" in next.dataset) return next;
  return row;
};

/** A return and a rejection need a reason: without one the key goes there first, and the row says so. */
function decide(row, decision) {
  const button = row?.querySelector(`[name=decision][value=${decision}]`);
  if (!button) return false;
  const reasons = [...row.querySelectorAll("[name=reason]")];
  if (decision !== "accept" && !reasons.some((reason) => reason.checked)) {
    row.querySelector("details").open = true;
    reasons[0]?.focus();
    row.querySelector("[data-no-reason]").hidden = false;
  } else button.form.requestSubmit(button);
  return true;
}

function choose(row, number) {
  const reason = row?.querySelectorAll("[name=reason]")[number - 1];
  if (!reason) return false;
  row.querySelector("details").open = true;
  reason.checked = true;
  reason.focus();
  row.querySelector("[data-no-reason]").hidden = true;
  return true;
}

function undo() {
  const button = current()?.querySelector("[data-undo]") ?? undone?.querySelector("[data-undo]");
  button?.form.requestSubmit(button);
  return Boolean(button);
}

const typing = (target) => target.matches("textarea, select, input:not([type=radio])");

document.addEventListener("keydown", (event) => {
  if (!list || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const row = current();
  const act = {
    j: () => step(1),
    k: () => step(-1),
    a: () => decide(row, "accept"),
    r: () => decide(row, "return"),
    x: () => decide(row, "reject"),
    u: undo,
    o: () => (row?.querySelector("[data-view]")?.click(), Boolean(row)),
  }[key];
  if (act ? act() : /^[1-9]$/.test(key) && choose(row, Number(key))) event.preventDefault();
});

list?.addEventListener("change", (event) => {
  if (event.target.name === "reason") event.target.closest(".answer").querySelector("[data-no-reason]").hidden = true;
});

/** Enter in a reason sends nothing by itself: the form has several buttons, and its first one accepts. */
list?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.name === "reason") event.preventDefault();
});

list?.addEventListener("submit", async (event) => {
  const form = event.target;
  const row = form.closest(".answer");
  event.preventDefault();
  if (form.dataset.busy) return;
  const decision = event.submitter?.name === "decision" ? event.submitter.value : "";
  if (decision && decision !== "accept" && !form.querySelector("[name=reason]:checked")) return decide(row, decision);
  form.dataset.busy = "1";
  row.setAttribute("aria-busy", "true");
  const body = new FormData(form, event.submitter);
  const headers = { "X-Requested-With": "emic" };
  const signal = AbortSignal.timeout(20_000);
  const reply = await fetch(form.action, { method: "POST", body, headers, signal }).catch(() => null);
  delete form.dataset.busy;
  row.removeAttribute("aria-busy");
  if (!reply || ![200, 422].includes(reply.status) || reply.redirected) return fail(row);
  show(row, await reply.text(), decision && reply.status === 200);
  if (reply.status === 200) recountLater();
});

/** The counts round the list follow the decisions: once for those that come close together. */
function recountLater() {
  clearTimeout(recounting);
  recounting = setTimeout(recount, PAUSE);
}

async function recount() {
  const reply = await fetch(location.href, { signal: AbortSignal.timeout(20_000) }).catch(() => null);
  if (!reply?.ok || reply.redirected) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
    if (fresh && !part.contains(document.activeElement)) part.replaceWith(fresh);
  }
}

function fail(row) {
  const note = document.createElement("p");
  note.className = "msg err";
  note.role = "alert";
  note.dataset.failed = "";
  note.textContent = list.dataset.failed;
  row.querySelector("[data-failed]")?.remove();
  row.querySelector(".what").append(note);
}

function show(row, html, decided) {
  const holder = document.createElement("template");
  holder.innerHTML = html.trim();
  const fresh = holder.content.querySelector(".answer");
  row.replaceWith(fresh);
  const chip = fresh.querySelector(".chip, .msg");
  announce(chip?.textContent ?? fresh.getAttribute("aria-label"));
  if (decided) undone = fresh;
  go(decided ? following(fresh) : fresh);
}
