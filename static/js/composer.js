// The composer. Every button works without this file; with it nothing reloads, and what is written is saved and shown.

const SAVE_AFTER = 1500; // ms without a change
const SHOW_AFTER = 500;
const AGAIN_AFTER = 5000; // ms after a save that did not get through
const ONCE_MORE_AFTER = 1000; // ms after a button that did not get through: a press is not lost with one broken request
const swap = document.getElementById("swap");
const device = document.getElementById("device");
const form = () => document.getElementById("composer");
const opened = new Set([...swap.querySelectorAll("details[data-key][open]")].map((one) => one.dataset.key));
let saveTimer = 0, showTimer = 0, busy = null, dirty = false, drawn = 0;

// ---- saving ------------------------------------------------------------------------------------------------------

async function post(act) {
  const data = new FormData(form());
  data.set("act", act);
  const reply = await fetch(location.pathname, { method: "POST", body: data, headers: { "X-Requested-With": "emic" } });
  if (reply.redirected || reply.status >= 500) throw new Error(reply.status); // signed out, or the server stumbled
  return reply;
}

/**
 * A button's request, once more where it broke on the way. Nothing is done twice: if the first one got through after
 * all, its mark is old by then, and the second one is shown as a conflict.
 */
async function surely(said) {
  const once = async () => { const reply = await post(said); return [reply, await reply.text()]; };
  try {
    return await once();
  } catch (error) {
    if (!(error instanceof TypeError) && !(Number(error.message) >= 500)) throw error; // signed out: no use
    await new Promise((go) => setTimeout(go, ONCE_MORE_AFTER));
    return once();
  }
}

/** One request at a time: each needs the mark that the one before it brought. */
function inTurn(act) {
  busy = (busy ?? Promise.resolve()).then(act, act);
  return busy;
}

/** A control by what it is in the form, so that the same one is found again after the form is drawn anew. */
const nameOf = (one) => (["checkbox", "radio", "submit"].includes(one.type) ? `${one.name}=${one.value}` : one.name);
const standOf = (one) => (["checkbox", "radio"].includes(one.type) ? one.checked : one.value);
const controls = () => [...form().elements].filter((one) => swap.contains(one) && one.name && one.type !== "hidden" && one.type !== "submit");
const stand = () => new Map(controls().map((one) => [nameOf(one), standOf(one)]));

/** What was written since a request left. */
function newer(sent) {
  return [...stand()].filter(([name, value]) => sent.has(name) && sent.get(name) !== value);
}

function putBack(written) {
  const found = new Map(controls().map((one) => [nameOf(one), one]));
  for (const [name, value] of written) {
    const one = found.get(name);
    if (one) one[["checkbox", "radio"].includes(one.type) ? "checked" : "value"] = value;
    if (one) retitle(one);
  }
}

/** Where the keyboard is in the form, as a function that brings it back there. */
function hold() {
  const from = document.activeElement;
  if (!swap.contains(from)) return () => {};
  const key = from.matches("summary") && from.parentElement.dataset.key;
  const [name, start, end] = [from.name && nameOf(from), from.selectionStart, from.selectionEnd];
  return () => {
    const to = key
      ? swap.querySelector(`details[data-key="${CSS.escape(key)}"] > summary`)
      : [...form().elements].find((one) => one.type !== "hidden" && name && nameOf(one) === name);
    to?.focus({ preventScroll: true });
    if (to && start != null) to.setSelectionRange(start, end);
  };
}

/**
 * A button waits for the save that runs. Until the form is drawn anew it takes nothing in: a place in it would name what
 * stands there afterwards, and words typed into it would be gone.
 */
function order(said) {
  if (swap.inert) return;
  if (said === "redraw") return void inTurn(() => act(said)); // no place moves: one writes on
  const from = document.activeElement;
  swap.inert = true;
  inTurn(() => act(said)).finally(() => {
    if (!swap.inert) return;
    swap.inert = false; // it did not get through: all is as it was
    if (from?.isConnected) from.focus();
  });
}

function saySaved(words) {
  document.getElementById("saved").textContent = words;
  document.getElementById("saved").hidden = !words;
}

async function save() {
  if (!dirty) return;
  clearTimeout(saveTimer);
  dirty = false;
  saySaved(document.getElementById("saved").dataset.saving);
  try {
    const reply = await post("draft");
    const said = await reply.json();
    if (reply.status === 409) {
      document.getElementById("conflict").innerHTML = said.conflict;
      saySaved("");
      return;
    }
    form().elements.seen.value = said.seen;
    saySaved(said.saved);
    renew(document.getElementById("state"), said.state);
    renew(document.getElementById("derived"), said.derived);
    renew(document.getElementById("mend"), said.mend);
    mended(said.wrong);
  } catch {
    dirty = true;
    saySaved(document.getElementById("saved").dataset.away);
    saveTimer = setTimeout(() => inTurn(save), AGAIN_AFTER);
  }
}

/** What is the same stays: a box that was ticked in it, and the place of the buttons below. */
function renew(part, html) {
  const next = part.cloneNode(false);
  next.innerHTML = html;
  if (next.innerHTML !== part.innerHTML) part.innerHTML = html;
}

/** What was called wrong when somebody tried to publish goes once it is mended. */
function mended(wrong) {
  const left = new Set(wrong.map((one) => one.join(" ")));
  for (const one of swap.querySelectorAll("[data-wrong]")) if (!left.has(`${one.dataset.wrong} ${one.textContent}`)) one.remove();
  for (const chip of swap.querySelectorAll("summary .chip.no")) if (!chip.closest("details").querySelector("[data-wrong]")) chip.remove();
}

/** A button changes the shape of the form: the server draws it anew, and what was open stays open. */
async function act(said) {
  clearTimeout(saveTimer);
  const was = dirty;
  dirty = false;
  const sent = said === "redraw" ? stand() : new Map();
  let reply, text;
  try {
    [reply, text] = await surely(said);
  } catch {
    dirty = true;
    saySaved(document.getElementById("saved").dataset.away);
    if (!("unsaved" in form().dataset)) saveTimer = setTimeout(() => inTurn(save), AGAIN_AFTER);
    return;
  }
  if (reply.headers.get("Content-Type")?.startsWith("application/json")) {
    location.assign(JSON.parse(text).go);
    return;
  }
  if (!reply.ok && ![409, 422].includes(reply.status)) return location.reload();
  if ("unsaved" in form().dataset) dirty = was || !["redraw", "publish"].includes(said);
  const [height, written, back] = [scrollY, newer(sent), hold()];
  swap.innerHTML = text;
  putBack(written);
  for (const one of swap.querySelectorAll("details[data-key]")) if (opened.has(one.dataset.key)) one.open = true;
  if (said !== "redraw") swap.inert = false; // else a button may be waiting behind it
  scrollTo(0, height);
  if (said === "redraw" && reply.status === 200) back();
  else look(said, reply.status);
  show();
  if (!written.length) return;
  dirty = true;
  if ("unsaved" in form().dataset) return;
  saySaved(document.getElementById("saved").dataset.saving);
  clearTimeout(saveTimer);
  saveTimer = setTimeout(() => inTurn(save), SAVE_AFTER);
}

/** Where the eye and the keyboard go after a button. */
function look(said, status) {
  const alert = swap.querySelector("[role=alert], .problems-list li.blocks a");
  if (status !== 200 && alert) {
    alert.scrollIntoView({ block: "center" });
    alert.focus?.();
    return;
  }
  const fresh = swap.querySelector("#composer").dataset.opened;
  const verb = said.split(":")[0];
  const place = fresh && document.getElementById(`at-${fresh}`);
  if (["up", "down"].includes(verb) && place) {
    const button = place.querySelector(`:scope > .shift [value^="${verb}:"]:not(:disabled)`) ?? place.querySelector(":scope > .shift .btn:not(:disabled)");
    button?.focus();
    place.scrollIntoView({ block: "nearest" });
  } else if (["field", "more", "copy"].includes(verb) && place) {
    place.querySelector("input:not([type=hidden]), textarea, select")?.focus();
    place.scrollIntoView({ block: "nearest" });
  } else if (place) (place.querySelector("summary, input:not([type=hidden])") ?? place).focus?.();
}

document.addEventListener("submit", (event) => {
  if (event.target !== form()) return;
  if (event.submitter?.formAction?.includes("/preview/")) return;
  event.preventDefault();
  order(event.submitter?.value ?? "save");
});
document.addEventListener("input", (event) => {
  if (event.target.form !== form() || event.target.matches("[data-previews]")) return;
  dirty = true;
  retitle(event.target);
  if ("unsaved" in form().dataset) return; // it has no draft: what is written is in the form alone
  clearTimeout(saveTimer);
  clearTimeout(showTimer);
  saveTimer = setTimeout(() => inTurn(save), SAVE_AFTER);
  showTimer = setTimeout(show, SHOW_AFTER);
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-previews]")) show();
  if (event.target.form === form() && event.target.matches("[data-redraws]")) {
    order("redraw");
  }
});
document.addEventListener("toggle", (event) => {
  const key = event.target.dataset?.key;
  if (key) opened[event.target.open ? "add" : "delete"](key);
}, true);

// Enter in a line of text is no order to save; in a row it goes nowhere.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("#composer input:not([type=checkbox])")) event.preventDefault();
  // Control and Z bring back what was deleted, where no typing can be meant.
  const undo = document.querySelector("#deleted button");
  if (undo && (event.ctrlKey || event.metaKey) && event.code === "KeyZ" && !event.shiftKey && (event.target.value ?? "") === (event.target.defaultValue ?? event.target.value ?? "")) {
    event.preventDefault();
    undo.click();
  }
  // Alt and an arrow move the question or the row one is in.
  if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  const place = event.target.closest?.(".onerow, .q");
  const button = place?.querySelector(`:scope > .shift [value^="${event.key === "ArrowUp" ? "up" : "down"}:"]:not(:disabled)`);
  if (!button) return;
  event.preventDefault();
  button.click();
});

// A problem leads to its setting, and opens what hides it.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-to]");
  if (!link) return;
  event.preventDefault();
  let path = link.dataset.to, place = null;
  while (path && !(place = document.getElementById(`at-${path}`))) path = path.replace(/(\.[^.[]+|\[\d+\]|^[^.[]+)$/, "");
  for (let up = place; up; up = up.parentElement) if (up.matches("details")) up.open = true;
  place?.querySelector(":scope > details")?.setAttribute("open", "");
  const input = place?.matches("input, select, textarea") ? place : place?.querySelector("input:not([type=hidden]), select, textarea, button");
  (place ?? form()).scrollIntoView({ block: "center" });
  input?.focus({ preventScroll: true });
});

/** The line under which a question is folded says what it asks; translations stay behind. */
function retitle(input) {
  const older = input.lang === "en" && input.closest(".said")?.querySelector("[data-was]");
  if (older) older.hidden = input.value === older.dataset.was; // its translations said the same as the English before
  reword(input.closest(".q"));
  const bold = /fields\[\d+\]\.label\.en$/.test(input.name) && input.closest(".q")?.querySelector("summary b");
  if (bold && input.value.trim()) bold.textContent = input.value;
}

/** Lists to choose a question from name it as it is called now. Its value stays the key with which the page was drawn. */
function reword(question) {
  const path = question?.dataset.path;
  const input = (name) => form().elements[name];
  const key = path && input(`s:${path}.drawn_key`)?.value;
  if (!key) return;
  const words = input(`w:${path}.label.en`)?.value.trim() || input(`s:${path}.key`)?.value.trim() || key;
  for (const list of swap.querySelectorAll("select[name$='.show_if.field'], select[name='s:layout.gate']"))
    for (const option of list.options) if (option.value === key) option.textContent = words;
}

/** The telephone shows the question one is at. (scrollIntoView would move this page, too.) */
document.addEventListener("focusin", (event) => {
  const at = [...swap.querySelectorAll(".q")].indexOf(event.target.closest?.(".q"));
  const seen = device?.querySelector("iframe:not(.next)")?.contentWindow;
  const asked = at >= 0 && seen?.document.querySelectorAll("[data-field]")[at];
  if (asked) seen.scrollTo(0, asked.getBoundingClientRect().top + seen.scrollY - seen.innerHeight / 2);
});

addEventListener("beforeunload", (event) => {
  if (!dirty) return;
  if (!("unsaved" in form().dataset)) inTurn(save);
  event.preventDefault();
});

// ---- the telephone -----------------------------------------------------------------------------------------------

/** The form goes into a new frame behind the old one, so that nothing flickers and Back knows nothing of it. */
function show() {
  clearTimeout(showTimer);
  if (!device) return;
  const frame = document.createElement("iframe");
  frame.name = `preview-${++drawn}`;
  frame.title = device.querySelector("iframe").title;
  frame.className = "next";
  const mine = drawn;
  device.append(frame);
  const sent = document.createElement("form");
  sent.method = "post";
  sent.action = device.dataset.action;
  sent.target = frame.name;
  sent.hidden = true;
  for (const [name, value] of new FormData(form())) {
    const input = document.createElement("textarea");
    input.name = name;
    input.value = value;
    sent.append(input);
  }
  document.body.append(sent);
  frame.addEventListener("load", () => {
    if (frame.contentWindow.location.href === "about:blank") return;
    const older = [...device.querySelectorAll("iframe")].filter((one) => one !== frame && Number(one.name.split("-")[1] ?? 0) < mine);
    frame.contentWindow.scrollTo(0, older[0]?.contentWindow?.scrollY ?? 0);
    frame.className = "";
    for (const one of older) one.remove();
  });
  HTMLFormElement.prototype.submit.call(sent);
  sent.remove();
}

// ---- dragging, where there is a mouse: the number of a question is its handle -------------------------------------

let dragged = null;
document.addEventListener("pointerdown", (event) => {
  const handle = event.target.closest(".q .no");
  if (!handle || event.pointerType !== "mouse") return;
  dragged = { q: handle.closest(".q"), y: event.clientY, moved: false };
});
document.addEventListener("pointermove", (event) => {
  if (!dragged) return;
  if (Math.abs(event.clientY - dragged.y) > 6) dragged.moved = true;
  dragged.q.classList.toggle("goes", dragged.moved);
});
document.addEventListener("pointerup", (event) => {
  const was = dragged;
  dragged = null;
  if (!was) return;
  was.q.classList.remove("goes");
  if (!was.moved) return;
  const stop = (click) => { click.preventDefault(); click.stopPropagation(); };
  addEventListener("click", stop, { capture: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }));
  const all = [...swap.querySelectorAll(".q")];
  const over = all.findIndex((one) => { const box = one.getBoundingClientRect(); return event.clientY < box.top + box.height / 2; });
  const from = all.indexOf(was.q);
  const to = over === -1 ? all.length - 1 : over > from ? over - 1 : over;
  if (to !== from) order(`to:${was.q.dataset.path}:${to}`);
});
