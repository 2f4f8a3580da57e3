// The sheet page. It works without this file; with it, one request per answer, keys, drafts, and work without a line.
import { restoreAnswers } from "./device-storage.js";
import { Autosave, Device, Outbox } from "./sheet-outbox.js";
import { begun, pressed, stays } from "./sheet-parts.js";
import { onReturn, send, signIn } from "./sheet-session.js";
import { Windows } from "./sheet-windows.js";

const IDLE = 30_000; // ms after which time does not count as work
const SAVING = 400, KEPT = 4000; // ms of a request after which the page says that it is being saved, and where it is kept
const PRESSED_TWICE = 350; // ms within which a second press of Submit was meant for the sheet before
const AGAIN = 2000; // ms between tries to see what the server has
const UNSEEN = 600; // ms within which a key or a click was meant for the sheet that a reply took away
const $ = (id) => document.getElementById(id);
const page = document.body;
const device = new Device(page.dataset.person);
const outbox = new Outbox(device, { arrived, away: lineAway, out: () => signedOut(true), filled, emptied, showing });
const autosave = new Autosave({ read: draftNow, saved: draftSaved });
const windows = new Windows(page.dataset.person, { others: twin, answered: answeredThere });
const locale = document.documentElement.lang;
const pack = page.dataset.packUntil; // all sheets are on this page, which may come from the device
const DONE = 200; // sheets of packs that are known to be answered

let bench, form, assignment, clock = 0;
let active = 0, ticked = 0, moved = 0;
let newer = 0, mine = null, blank = [], unsaved = false, writer = "", undoTimer = 0, againTimer = 0, awaySince = 0;
let saved = null; // { words, at }
let sending = false, undoing = false;
let slow = []; // timers of the answer that is being sent
let undoNext = false; // asked for while the answer was on its way
let refusal = ""; // why an answer was not stored, while another one is on its way
let cameAhead = 0; // when a sheet took the place of one that is being sent
let cameUnasked = 0; // when a reply to another sheet changed this one

// ---- one sheet ---------------------------------------------------------------------------------------------------

function begin({ fresh = true, focus = false } = {}) {
  const before = assignment;
  bench = $("bench");
  form = $("main").matches("form") ? $("main") : null;
  assignment = bench.dataset.assignment ?? null;
  if (before !== undefined && before !== assignment) closeSkip();
  newer = 0;
  unsaved = sending = undoNext = false;
  autosave.stop();
  windows.begin(assignment);
  keepsRoom();
  clearTimeout(againTimer);
  active = 0;
  ticked = moved = Date.now();
  if (pack) clock = device.get("clock", 0); // the page may be hours old
  else if (fresh && bench.dataset.now) clock = Date.parse(bench.dataset.now) - Date.now();
  watchUndo();
  if (pack) tellPack();
  if (bench.dataset.again) againTimer = setTimeout(lookAgain, bench.dataset.again * 1000);
  if (form) beginForm(focus);
  tell(); // what was kept was of another sheet, perhaps
  sending = isGiven();
  lock();
  if (!form) return focus && rest();
  begun({ bench, form, assignment });
  blank = answersOf(); // what the scripts of its fields put in is nobody's answer
  ready();
  picture();
  if (focus) focusFirst();
}

function beginForm(focus) {
  form.noValidate = true;
  form.elements.shown_at.value = new Date(Date.now() + clock).toISOString();
  if (crypto.randomUUID) form.elements.client_key.value = crypto.randomUUID();
  if (bench.dataset.draftSaved && !focus) say("draft", Date.parse(bench.dataset.draftSaved) - clock);
  writer = "";
  restore();
  blank = answersOf();
}

/** What is wrong with the sheet comes first, else its question. */
function focusFirst() {
  const why = form.querySelector(".msg.err:not([hidden]), .msg:has([type=checkbox][name=confirmed])");
  const first = why?.closest("[data-field], [data-remark]") ?? form;
  focusOn(first);
  if (why) announce(why.textContent);
  if (first === form) scrollTo(0, 0);
  else first.scrollIntoView();
}

/** The reason that somebody chooses to skip a sheet is not a reason to skip the next. */
function closeSkip() {
  const dialog = $("why");
  if (!dialog?.open) return;
  dialog.close();
  dialog.querySelector("form").reset();
  cameUnasked = Date.now();
}

function focusOn(part) {
  const ask = part.querySelector("legend, .ask") ?? form;
  ask.tabIndex = -1;
  ask.focus({ preventScroll: true });
}

/** There is nothing to do: say so to those who listen. */
function rest() {
  const why = bench.querySelector("h2");
  why.tabIndex = -1;
  why.focus();
}

const kept = (name) => name.startsWith("a-") || name === "trace";
const answersOf = () => [...new FormData(form)].filter(([name]) => kept(name));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const version = () => Number(form.elements.draft_version.value); // of the draft on this page
const isUntouched = () => same(blank, answersOf());
const keepHere = () => device.keep(assignment, { answers: answersOf(), version: version(), by: isUntouched() ? writer : form.elements.client_key.value });
function put(answers) {
  const nth = {}; // of several inputs of one name, each gets its own
  for (const input of form.elements) {
    if (!kept(input.name)) continue;
    const values = answers.filter(([name]) => name === input.name).map(([, value]) => value);
    if (values.length === 1 && input.closest("[data-plain]")) continue; // it stands in for a script, which wrote one value
    if (input.matches("[type=radio], [type=checkbox]")) input.checked = values.includes(input.value);
    else input.value = values[(nth[input.name] = (nth[input.name] ?? -1) + 1)] ?? "";
  }
  form.dispatchEvent(new Event("put")); // a kind's script draws what was put back
}

/** After a reload: what was typed here last, unless another window has saved since. */
function restore() {
  const draft = device.draft(assignment), given = givenHere();
  const isSent = draft && given && same(draft.answers, given.body.filter(([name]) => kept(name)));
  if (!draft || same(draft.answers, answersOf()) || (isSent && version() > fromOf(given).draft)) return;
  unsaved = !isSent;
  writer = draft.by ?? "";
  put(draft.answers); // also where the server has a newer one: what is typed before that is decided is added to this
  if (draft.version >= version()) autosave.changed();
  else conflict(version(), draft.answers);
}

// ---- an answer from another window -------------------------------------------------------------------------------

const givenHere = () => outbox.waiting.find((one) => one.assignment === assignment);

/** What the sheet held that an answer came from: the number of its draft, and who wrote on it. */
function fromOf({ body, key, url }) {
  const number = body.find(([name]) => name === "draft_version");
  return { draft: number ? Number(number[1]) : 0, key, isSkip: url.endsWith("skip") };
}

/** Whether another window that answered had all that is on this page. What a skip leaves is kept as it is. */
function isKnown(from) {
  if (!form || from?.isSkip) return true;
  if (newer || !isUntouched()) return false;
  return !from || writer === from.key || (!unsaved && version() <= from.draft);
}

/** Whether the answer to this sheet waits: from this window, or from another that had all that is on this page. */
function isGiven() {
  const given = givenHere();
  return Boolean(given) && (sending || isKnown(fromOf(given)));
}

/** Whether this window could send what another gave for this sheet, and has more on it. */
const isRival = (entry) => entry.assignment === assignment && !sending && !isKnown(fromOf(entry));

/** Those that are asked: a field may wait for the answer to another. */
const fields = () => [...form.querySelectorAll("[data-field]")].filter((field) => !field.closest("[hidden]"));
const isAnswered = (field) =>
  [...field.querySelectorAll(field.dataset.answeredBy ?? "[name^=a-]")].some((one) =>
    one.matches("[type=radio], [type=checkbox]") ? one.checked : one.value.trim() !== "");
/** Whether a field may stay open, since another is answered in its place. */
const isSpared = (field) => {
  const key = field.querySelector("[data-missing]")?.dataset.unless;
  const other = key && fields().find((one) => one.dataset.field === key);
  return Boolean(other) && isAnswered(other);
};
const missing = () => fields().filter((field) => "required" in field.dataset && !isAnswered(field) && !isSpared(field));
const halted = () => fields().map((field) => field.querySelector("[data-halt]:not([hidden])")).find(Boolean); // a limit that a kind's script watches

function ready() {
  const go = form.querySelector(".acts .go");
  if (missing().length || halted()) go.setAttribute("aria-disabled", "true");
  else go.removeAttribute("aria-disabled");
  for (const field of fields()) {
    const note = field.querySelector("[data-missing]");
    if (note && (isAnswered(field) || isSpared(field))) note.hidden = true;
  }
  mark();
}

function submit() {
  if (sending || (Date.now() - cameAhead < PRESSED_TWICE && isUntouched())) return;
  if (newer) return conflict(newer, mine); // first which of the two it is to be
  const holes = missing();
  for (const field of holes) field.querySelector("[data-missing]").hidden = false;
  if (holes.length) {
    const words = holes[0].querySelector("[data-missing]");
    holes[0].scrollIntoView(); // from its question on, below the picture
    words.scrollIntoView({ block: "nearest" }); // and to where it says so
    announce(words.textContent);
    return;
  }
  const halt = halted();
  if (halt) {
    halt.scrollIntoView({ block: "nearest" });
    return announce(halt.textContent);
  }
  if (stays(form)) return;
  give();
}

/** `stays`: the person did not ask for it, and may be typing. */
function give(stays = false) {
  tick();
  form.elements.active_seconds.value = (active / 1000).toFixed(1);
  deliver(form.action, new FormData(form), form.elements.client_key.value, stays);
}

/** First to the device, then out: a closed tab or a lost line loses nothing. */
function deliver(url, data, key = `${Date.now()}-${Math.random()}`, stays = false) {
  autosave.stop();
  undoNext = false;
  sending = true;
  data.delete("csrfmiddlewaretoken");
  if (pack) data.append("pack", "1");
  if (form && !(url.endsWith("skip") && isUntouched())) keepHere(); // another window's draft of it may lie here
  outbox.add({ assignment, url, key, work: location.pathname, body: [...data] });
  watchSending();
  if (!stays && !location.search) goAhead();
  lock(stays);
  outbox.flush();
}

/** What is on its way cannot be changed any more: a sheet that waits for the server takes neither taps nor keys. One that
 * was sent unasked does: the person may be typing, and sees both answers. */
function lock(stays = false) {
  bench.classList.toggle("sends", sending);
  bench.inert = sending && !stays;
}

/** The sheet that was loaded already takes the place of the one whose answer is on its way. */
function goAhead() {
  if (isGiven()) bringAhead();
}

function bringAhead() {
  const ahead = $("ahead")?.content.firstElementChild;
  if (!ahead || outbox.has(ahead.dataset.assignment)) return;
  bench.replaceWith(document.importNode(ahead, true));
  $("ahead").remove();
  nextOfPack();
  begin({ fresh: false, focus: true });
  cameAhead = Date.now();
}

// ---- a pack ------------------------------------------------------------------------------------------------------

/** Of a page that the device kept, sheets that were answered since are put away. */
function openPack() {
  const done = device.get("done", []);
  const isPast = (sheet) => outbox.has(sheet.dataset.assignment) || done.includes(sheet.dataset.assignment);
  for (const one of document.querySelectorAll("template[data-later]"))
    if (isPast(one.content.firstElementChild)) one.remove();
  nextOfPack();
  if (!isPast($("bench"))) return;
  $("bench").replaceWith(document.importNode($("ahead").content.firstElementChild, true));
  $("ahead").remove();
  nextOfPack();
}

function nextOfPack() {
  const next = $("ahead") ? null : document.querySelector("template[data-later]");
  if (!next) return;
  next.id = "ahead";
  delete next.dataset.later;
}

/** How many sheets are left, and whether their places are still kept. */
function tellPack() {
  const left = (assignment ? 1 : 0) + document.querySelectorAll("template[data-later]").length; // the last is no sheet
  $("left").textContent = $("left").dataset.words.replace("NUMBER", left);
  $("ended").hidden = Date.now() + clock < Date.parse(pack);
}

function packTaken(entry, reply, skipped, left) {
  device.set("done", [...device.get("done", []), entry.assignment].slice(-DONE));
  if (isRival(entry)) return answeredThere(false, fromOf(entry));
  if (reply.refused) hush();
  else if (!left) say(skipped ? "skipped" : "saved", Date.now());
  if (entry.assignment === assignment) bringAhead();
  if (reply.data.words) notice(reply.data.words);
}

/** An answer that was refused takes the bench; the sheet that was on it comes after. */
function putBack() {
  const kept = document.createElement("template");
  kept.dataset.later = "";
  kept.content.append(bench.cloneNode(true));
  const ahead = $("ahead");
  if (ahead) ahead.removeAttribute("id"), (ahead.dataset.later = ""), ahead.before(kept);
  else page.append(kept);
}

/** A quick reply needs no words; a slow one is no reason to wonder where the answer is. */
function watchSending() {
  slow.forEach(clearTimeout);
  slow = [["saving", SAVING], ["here", KEPT]].map(([words, ms]) => setTimeout(() => outbox.waiting.length && say(words, 0), ms));
}

// ---- what comes back ---------------------------------------------------------------------------------------------

function arrived(entry, reply, left) {
  if (!left) slow.forEach(clearTimeout);
  lineBack();
  const taken = reply.status === 200, skipped = entry.url.endsWith("skip");
  if (taken && !skipped) device.keep(entry.assignment, null); // a skip may be taken back
  if (reply.status === 422) keepRefused(entry);
  if (taken) windows.tell(reply.data.go ? "decided" : "answered", entry.assignment, fromOf(entry));
  if (entry.work && entry.work !== location.pathname) return ofOther(entry, reply); // this sheet stays
  if (pack && taken) return packTaken(entry, reply, skipped, left);
  if (!taken && reply.status !== 422) return load();
  if (taken && isRival(entry)) return answeredThere(Boolean(reply.data.go), fromOf(entry)); // not "Saved": what is here waits then
  if (reply.refused) hush(), (refusal = wordsOf(reply));
  else if (taken && !left) say(skipped ? "skipped" : "saved", Date.now());
  if (left && taken) return; // another answer is still on its way
  if (taken && skipped) announce($("saved").dataset.skipped);
  if (reply.data.go) return entry.assignment === assignment ? location.assign(reply.data.go) : undefined;
  const next = parts(reply.data);
  const elsewhere = entry.assignment !== assignment; // the person is at another sheet
  if ("both" in next.bench.dataset) return both(next, entry, elsewhere);
  const goesOn = taken && elsewhere && (location.search || next.bench.dataset.assignment === assignment);
  if (goesOn) goOn(next);
  else if ("bare" in next.bench.dataset) comeAgain(next);
  else come(next, taken, elsewhere);
  if (refusal && !$("main").textContent.includes(refusal)) notice(refusal); // of an earlier answer
  refusal = "";
}

/** The sheet that the page went on to while this answer was on its way, if it did. */
function showing(entry) {
  return !pack && !location.search && entry.work === location.pathname && entry.assignment !== assignment ? assignment : "";
}

/** The sheet stays that the person went on to. */
function goOn(next) {
  if (location.search) next.ahead = null; // a change goes back to where it began
  swapRest(next, true);
  const words = noticeIn(next.bench);
  if (words) notice(words);
  offerUndo(next);
}

function offerUndo(next) {
  $("undo")?.remove();
  const undo = next.bench.querySelector("#undo");
  if (undo) (bench.querySelector(".stage") ?? bench).append(undo);
  watchUndo();
  if (undo && undoNext) undo.requestSubmit();
  undoNext = false;
}

/** The person left the sheet that was shown when the answer was sent: what the server has now, and the answer's strip. */
async function comeAgain(next) {
  const undo = undoNext;
  await loadSoon();
  if (sending || $("undo")) return; // of a later answer
  undoNext ||= undo;
  offerUndo(next);
}

/** An answer that is not taken is a draft again, though drafts of many later sheets came since. */
function keepRefused(entry) {
  if (device.draft(entry.assignment)) return;
  const answers = entry.body.filter(([name]) => kept(name));
  device.keep(entry.assignment, { answers, version: fromOf(entry).draft, by: entry.key });
}

/** Another sheet, or this one with what is wrong with it. */
function come(next, taken, elsewhere) {
  const undo = undoNext && taken;
  swap(next, !taken);
  if (!taken) say("here", 0);
  if (elsewhere) cameUnasked = Date.now();
  if (undo) $("undo")?.requestSubmit();
}

const noticeIn = (one) => one.querySelector(":is(.body, .idle) > .msg.info[role=status]")?.textContent.trim() ?? "";
const wordsOf = ({ data }) => data.words ?? noticeIn(parts(data).bench);

/** Of another work, whose sheet this is not. What the server did not take is still that sheet's draft. */
function ofOther({ work }, reply) {
  if (reply.refused) return notice(wordsOf(reply));
  if (reply.status === 200) return say("saved", Date.now());
  notice($("line").dataset.other);
  const link = Object.assign(document.createElement("a"), { href: work, textContent: $("line").dataset.open });
  $("notice").append(" ", link);
}

/** Another window answered it: that answer beside what was written here, which the server keeps now, too. */
function both(next, entry, elsewhere) {
  const here = elsewhere ? null : answersOf(); // they may have gone on typing, and go on
  const { id, selectionStart: caret } = document.activeElement;
  device.keep(entry.assignment, null);
  swap(next, true);
  say("draft", Date.now());
  if (elsewhere) cameUnasked = Date.now();
  history.replaceState(null, "", `?change=${entry.assignment}`);
  if (here && !same(here, answersOf())) put(here), typed();
  const field = here && id ? $(id) : null;
  if (!form.contains(field)) return;
  field.focus({ preventScroll: true });
  if (Number.isInteger(caret)) field.setSelectionRange(caret, caret);
}

/** Another window, or a page between, has sent what waited here; or nothing did. */
function emptied() {
  hushWaiting();
  const wasAway = awaySince;
  lineBack();
  if (sending && !undoing) loadSoon();
  else if (wasAway && unsaved) autosave.save();
}

/** Another window's answer waits as well: the page says so, and not only that the last one here is saved. */
function filled() {
  if (!tellsWaiting()) watchSending();
}

const tellsWaiting = () => saved?.words === "saving" || saved?.words === "here";

function hushWaiting() {
  if (tellsWaiting()) hush();
}

async function ask(url, body) {
  const reply = await send(url, body);
  if (reply.state === "here") lineBack();
  return reply;
}

function parts(html) {
  const box = document.createElement("template");
  box.innerHTML = html;
  const part = (id) => box.content.querySelector(`#${id}`);
  return { bench: part("bench"), gauge: part("gauge"), ahead: pack ? null : part("ahead") };
}

function swapRest({ gauge, ahead }, dropAhead) {
  $("gauge").replaceWith(gauge);
  if (ahead || dropAhead) $("ahead")?.remove();
  if (ahead) page.append(ahead);
  preload();
}

function swap(next, keepAhead = false) {
  if (pack && next.bench.dataset.assignment !== assignment) putBack();
  bench.replaceWith(next.bench);
  swapRest(next, !keepAhead && !pack);
  nextOfPack();
  if (location.search) history.replaceState(null, "", location.pathname);
  begin({ focus: true });
}

/** What the server has now. With the address's question ("?change="), the sheet that was asked for. False: no line. */
async function load(address = location.pathname) {
  if (pack) return location.reload();
  const shown = assignment;
  const reply = await ask(address);
  if (reply.state === "out") signedOut();
  else if (reply.state === "here" && reply.status === 200) {
    const next = parts(reply.data), loaded = next.bench.dataset.assignment;
    const past = assignment !== shown && (loaded === shown || loaded === assignment); // the person went on meanwhile
    if (past || outbox.has(loaded)) return true;
    swap(next);
    history.replaceState(null, "", address);
  } else if (reply.state === "here") location.assign(location.pathname);
  else return lineAway(), false;
  return true;
}

/** As soon as there is a line, unless another sheet comes before. */
async function loadSoon() {
  clearTimeout(againTimer);
  const shown = assignment;
  if (!(await load()) && assignment === shown) againTimer = setTimeout(loadSoon, AGAIN);
}

async function lookAgain() {
  const reply = document.hidden ? { state: "away" } : await ask(location.pathname);
  if (reply.state !== "here" || reply.status !== 200) return begin();
  const next = parts(reply.data);
  if (next.bench.dataset.assignment || next.bench.textContent !== bench.textContent) swap(next);
  else begin();
}

// ---- the line ----------------------------------------------------------------------------------------------------

function banner(words) {
  const how = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  let time;
  try { // by the clock of the other pages
    time = new Date(awaySince).toLocaleTimeString(`${locale}-u-nu-latn`, { ...how, timeZone: document.body.dataset.zone || undefined });
  } catch { // a zone that this browser does not know
    time = new Date(awaySince).toLocaleTimeString(`${locale}-u-nu-latn`, how);
  }
  const line = $("line");
  line.textContent = words.replace("TIME", time);
  line.hidden = false;
}

/** What was written waits on this device. */
function lineAway() {
  awaySince ||= Date.now();
  slow.forEach(clearTimeout);
  if (outbox.waiting.length || device.draft(assignment)) say("here", 0);
  goAhead();
  if (pack) return; // it is what a pack is for
  banner(isGiven() ? $("line").dataset.waiting : $("line").dataset.words);
  if (!isGiven() || $("notice")) return;
  notice($("line").dataset.last);
  $("notice").scrollIntoView({ block: "nearest" });
}

function lineBack() {
  if (outbox.waiting.length) return void outbox.flush();
  awaySince = 0;
  $("line").hidden = true;
}

/** `asked`: the person is waiting for it. */
function signedOut(asked = false) {
  awaySince ||= Date.now();
  banner($("line").dataset.signedOut);
  say("here", 0);
  signIn(asked);
}

onReturn(() => {
  lineBack();
  if (form && unsaved) autosave.save(); // what was typed on this sheet since, also while an earlier one is sent
});

// ---- drafts ------------------------------------------------------------------------------------------------------

function typed() {
  ready();
  if (newer) mine = answersOf();
  if (sending && !undoing) return;
  unsaved = true;
  keepHere();
  if (!undoing) autosave.changed();
}

function draftNow() {
  if (!form || sending || newer) return null;
  const answers = answersOf();
  const body = [...answers, ["draft_version", form.elements.draft_version.value]];
  return { of: assignment, url: `${bench.dataset.base}draft`, body, answers };
}

async function draftSaved({ answers }, reply) {
  if (reply.state === "away") return lineAway();
  if (reply.state === "out") return signedOut();
  lineBack();
  if (reply.status === 409) return conflict(reply.data.version);
  if (reply.status === 410) return give(true); // answered in another window: the server shows both, and keeps both
  if (reply.status === 413) return notice(reply.data.words);
  if (reply.status !== 200) return;
  form.elements.draft_version.value = reply.data.version;
  unsaved = !same(answers, answersOf());
  keepHere();
  say("draft", Date.now());
}

/** Another window saved. Nothing is overwritten until the person has chosen. */
function conflict(version, answers = answersOf()) {
  newer = version;
  mine = answers;
  $("conflict").hidden = false;
  $("conflict").scrollIntoView();
  announce($("conflict").querySelector("b").textContent);
}

/** The same sheet is open in another window of this browser. */
function twin(count) {
  $("twin")?.remove();
  if (!count || !form) return;
  const note = Object.assign(document.createElement("div"), { id: "twin", className: "msg info", textContent: $("said").dataset.twin });
  bench.querySelector(".body").prepend(note);
  announce(note.textContent);
}

/** And was submitted there. What was written here is not thrown away: see `both`. `decided`: it was a change there. */
function answeredThere(decided, from) {
  if (!form || sending) return;
  if ("both" in bench.dataset) return decided && isUntouched() ? load() : undefined;
  if (newer) put(mine);
  else if (isKnown(from)) return loadSoon();
  give(true);
}

function settle(take) {
  $("conflict").hidden = true;
  const latest = newer;
  newer = 0;
  if (take === "theirs") {
    device.keep(assignment, null);
    return load(location.pathname + location.search);
  }
  form.elements.draft_version.value = latest;
  put(mine);
  unsaved = true;
  ready();
  return autosave.save();
}

// ---- words that tell ---------------------------------------------------------------------------------------------

function say(words, at) {
  if (words === "draft" && outbox.waiting.length && tellsWaiting()) return; // an answer that waits matters more
  saved = { words, at };
  tell();
}

function tell() {
  if (!saved) return;
  const waits = { saving: () => outbox.waiting.length, here: () => outbox.waiting.length || device.draft(assignment) }[saved.words];
  if (waits && !waits()) return hush(); // another window has sent it, or nothing was written
  const seconds = Math.max(0, Math.round((Date.now() - saved.at) / 1000));
  const [n, unit] = seconds < 60 ? [seconds, "second"] : seconds < 3600 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  const ago = new Intl.RelativeTimeFormat(`${locale}-u-nu-latn`, { style: "narrow", numeric: seconds ? "always" : "auto" }).format(-Math.floor(n), unit);
  const words = $("saved").dataset[saved.words].replace("WHEN", ago);
  if ($("saved").textContent !== words) $("saved").textContent = words;
  $("saved").classList.toggle("off", saved.words === "here");
  $("saved").hidden = false;
}

/** What was said last is not known to be so any more. */
function hush() {
  saved = null;
  $("saved").hidden = true;
}

function announce(words) {
  $("said").textContent = words;
}

/** Stays until the next sheet, for it says why this one is here. */
function notice(words) {
  $("notice")?.remove();
  const note = Object.assign(document.createElement("div"), { id: "notice", className: "msg info", textContent: words });
  (bench.querySelector(".body") ?? $("main")).prepend(note);
  announce(words);
}

function toast(words) {
  const note = Object.assign(document.createElement("p"), { className: "toast", textContent: words });
  $("undo")?.setAttribute("hidden", "");
  (bench.querySelector(".stage") ?? bench).append(note);
  announce(words);
  setTimeout(() => {
    note.remove();
    $("undo")?.removeAttribute("hidden");
  }, 5000);
}

function watchUndo() {
  clearTimeout(undoTimer);
  const undo = $("undo");
  if (!undo) return;
  announce(undo.querySelector("span").textContent);
  undoTimer = setTimeout(() => undo.remove(), undo.dataset.seconds * 1000);
}

async function undoLast(undo) {
  if (sending) return;
  sending = undoing = true;
  const reply = await ask(undo.action, new URLSearchParams(new FormData(undo)));
  sending = undoing = false;
  if (reply.state === "here" && reply.status === 200) {
    const next = parts(reply.data);
    if (next.bench.dataset.assignment === undo.dataset.of) say("taken", Date.now());
    swap(next);
  } else if (reply.state === "out") signedOut(true);
  else {
    hush(); // it may have arrived
    lineAway();
    loadSoon();
  }
}

/** Time counts while the page is seen and somebody moved in the last half minute. */
function tick() {
  const now = Date.now();
  if (!document.hidden && now - moved <= IDLE) active += Math.min(now - ticked, 2000);
  ticked = now;
}

setInterval(() => {
  tick();
  tell();
}, 1000);
for (const type of ["pointerdown", "pointermove", "keydown", "wheel", "scroll"])
  addEventListener(type, () => (moved = Date.now()), { passive: true, capture: true });

// ---- the picture -------------------------------------------------------------------------------------------------

const watched = new ResizeObserver(([{ target }]) => {
  const room = getComputedStyle(target).position === "sticky" ? target.offsetHeight : 0;
  document.documentElement.style.setProperty("--room", `${room}px`);
});
const images = () => [...bench.querySelectorAll(".view img")];

/** On a phone the picture stays at the top: what is scrolled to comes below it. */
function keepsRoom() {
  watched.disconnect();
  const stage = bench.querySelector(".stage");
  if (stage) watched.observe(stage);
}

function picture() {
  const broken = bench.querySelector(".broken");
  for (const img of images()) {
    const look = () => ((broken.hidden = images().every((one) => !one.complete || one.naturalWidth)), preload());
    img.addEventListener("error", look);
    img.addEventListener("load", look);
    if (img.complete) look();
  }
}

/** The pictures of the sheet ahead, once these are there: they must not wait for what nobody looks at yet. */
function preload() {
  const ahead = $("ahead");
  if (!ahead || "begun" in ahead.dataset || !images().every((one) => one.complete || one.loading === "lazy")) return;
  ahead.dataset.begun = "";
  const next = [...ahead.content.querySelectorAll(".view img:not([loading=lazy])")];
  let left = next.length;
  for (const one of next) {
    const loader = new Image();
    loader.onload = () => {
      const note = bench.querySelector("[data-loaded]");
      if (note && !--left) note.textContent = note.dataset.loaded;
    };
    loader.sizes = one.sizes;
    loader.srcset = one.srcset;
    loader.src = one.src;
  }
}

// ---- hands -------------------------------------------------------------------------------------------------------

function open(id) {
  const dialog = $(id);
  if (!dialog || dialog.open) return;
  if (id === "help") tellDigits(dialog);
  dialog.dataset.base = bench.dataset.base ?? "";
  dialog.showModal();
  (dialog.querySelector("textarea, [type=radio], .prose") ?? dialog.querySelector(".go"))?.focus();
}

/** Which digits choose something on this sheet; the line about them goes where none does. */
function tellDigits(dialog) {
  const digits = keyed().flatMap((field) => [...field.querySelectorAll("[data-key]")].map((one) => one.dataset.key)).filter((key) => /^\d$/.test(key));
  const [line, first, last] = ["[data-digits]", "[data-digits] kbd", "[data-digits] kbd + kbd"].map((part) => dialog.querySelector(part));
  line.hidden = !digits.length;
  [first.textContent, last.textContent] = [[...digits].sort()[0] ?? "", [...digits].sort().at(-1) ?? ""];
}

addEventListener("click", (event) => {
  const target = event.target.closest?.("[data-dialog], [data-reload], [data-take], [data-close], dialog");
  if (!target) return;
  if (target.dataset.dialog) {
    event.preventDefault();
    open(target.dataset.dialog);
  } else if ("close" in target.dataset) target.closest(".toast").remove();
  else if ("reload" in target.dataset) for (const one of images()) one.complete && !one.naturalWidth && (one.src = one.src);
  else if (target.dataset.take) settle(target.dataset.take);
});

/** What was wrong with an answer was said of another one: it is checked again when it goes out. */
function outdated(input) {
  const field = input.closest("[data-field]");
  field?.querySelector(".msg.err[id^='e-']")?.remove();
  for (const one of field?.querySelectorAll("[aria-invalid]") ?? []) one.removeAttribute("aria-invalid");
}

addEventListener("input", (event) => {
  if (!form || event.target.form !== form) return;
  outdated(event.target);
  typed();
});

addEventListener("submit", async (event) => {
  const sent = event.target;
  if (event.submitter?.formMethod === "dialog" || sent.method === "dialog") return;
  if (sent === form) {
    event.preventDefault();
    submit();
  } else if (sent.id === "leave") {
    autosave.stop();
    device.keep(assignment, null);
    windows.tell("decided");
    sending = true; // nothing typed here is kept any more
  } else if (sent.id === "undo") {
    event.preventDefault();
    undoLast(sent);
  } else if (sent.closest("#why")) {
    event.preventDefault();
    const none = !new FormData(sent).get("reason");
    sent.querySelector("[role=alert]").hidden = !none;
    if (none) return sent.querySelector("[type=radio]")?.focus();
    sent.closest("dialog").close();
    if (form && !sending) deliver(`${bench.dataset.base}skip`, new FormData(sent));
    sent.reset();
  } else if (sent.closest("#report")) {
    event.preventDefault();
    if (sent.dataset.sent) return; // pressed twice
    sent.dataset.sent = "yes";
    const reply = await ask(`${sent.closest("dialog").dataset.base || bench.dataset.base}report`, new URLSearchParams(new FormData(sent)));
    delete sent.dataset.sent;
    if (reply.state === "away") return lineAway();
    if (reply.state === "out") return signedOut(true);
    sent.closest("dialog").close();
    if (form && !bench.contains(document.activeElement)) focusOn(form);
    if (reply.data.words) toast(reply.data.words);
    sent.reset();
  }
});

/** The key by what is printed on it; on a keyboard of another script, by where it is. */
function keyOf(event) {
  if (/^[ -~]$/.test(event.key) && !/^(Digit|Numpad)/.test(event.code)) return event.key.toLowerCase();
  const place = event.code.match(/^(?:Digit|Numpad)(\d)$/)?.[1];
  if (place && !event.shiftKey) return place;
  if (event.key === "؟") return "?";
  if (/^[ -~]$/.test(event.key)) return event.key;
  return event.code.match(/^Key([A-Z])$/)?.[1].toLowerCase() ?? event.key;
}

const keyed = () => (form && !bench.inert ? fields().filter((field) => field.querySelector("[data-key]")) : []);

/** The question to which digits go: the one that holds the focus, else the first that is open. */
function now() {
  const here = document.activeElement?.closest?.("[data-field]");
  const all = keyed();
  return all.includes(here) ? here : (all.find((field) => !isAnswered(field)) ?? all.at(-1));
}

/** Among several, that one is marked. */
function mark() {
  const at = keyed().length > 1 ? now() : null;
  for (const field of form?.querySelectorAll("[data-field]") ?? [])
    if (field === at) field.setAttribute("aria-current", "true");
    else field.removeAttribute("aria-current");
}

function choose(key, dialog) {
  const scope = dialog ?? now();
  const option = scope?.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!option) return false;
  if (option.matches("button")) return option.click(), true;
  option.checked = option.type === "radio" || !option.checked;
  option.dispatchEvent(new Event("input", { bubbles: true }));
  const all = keyed();
  const next = !dialog && option.type === "radio" ? all[all.indexOf(scope) + 1] : null;
  const goal = next?.querySelector("[data-key]:checked") ?? next?.querySelector("[data-key]") ?? option;
  goal.focus({ preventScroll: true });
  (next ?? option.closest("label")).scrollIntoView({ block: "nearest" });
  return true;
}

addEventListener("focusin", () => {
  if (!form) return;
  mark();
  const enter = form.querySelector(".acts .go kbd"); // in a box of several lines Enter is a new line
  const keys = document.activeElement.matches("textarea") ? "Ctrl Enter" : "Enter";
  if (enter && enter.textContent !== keys) enter.textContent = keys;
});

/** Keys of one character may be in the way of those who speak to their device, or rest on it. */
function lettersOff(off) {
  page.classList.toggle("keyless", off);
  const box = $("letters");
  if (box) box.checked = !off;
}

$("letters")?.addEventListener("change", (event) => {
  device.set("keyless", !event.target.checked);
  lettersOff(!event.target.checked);
});

const ACTS = {
  s: () => !bench.inert && bench.querySelector("[data-dialog=why]") && open("why"), // not for an answer that is being changed
  r: () => form && open("report"),
  "?": () => open("help"),
  u: () => {
    if ($("undo")) return $("undo").requestSubmit();
    if (outbox.waiting.length && !awaySince) return (undoNext = true);
    toast($("said").dataset.nothing);
  },
  t: () => bench.querySelector(".broken:not([hidden]) [data-reload]")?.click(),
};

const unseen = (target) => Date.now() - cameUnasked < UNSEEN && !target.closest?.("dialog");
addEventListener("click", (event) => {
  if (unseen(event.target) && bench.contains(event.target)) event.preventDefault(), event.stopPropagation();
}, true);

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.repeat) return;
  if (unseen(event.target)) return event.preventDefault();
  const dialog = document.querySelector("dialog[open]");
  const typing = event.target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
  const enter = event.key === "Enter";
  if (enter && (event.ctrlKey || event.metaKey || (!typing && !event.target.matches("button, a, summary")))) {
    event.preventDefault();
    const to = dialog ? dialog.querySelector("form[method=post]") : form;
    return to?.requestSubmit(to.querySelector(".go"));
  }
  if (event.key === "Escape" && typing && !dialog && form) return focusOn(event.target.closest("[data-field]") ?? form);
  const key = event.altKey && event.code === "KeyS" ? "s" : keyOf(event);
  if ((typing && !event.altKey) || event.ctrlKey || event.metaKey || (event.altKey && key !== "s")) return;
  if (key.length === 1 && !event.altKey && page.classList.contains("keyless")) return;
  if (!dialog && !bench.inert && pressed(event, key)) return event.preventDefault();
  if (!choose(key, dialog)) {
    if (dialog || !ACTS[key]) return;
    ACTS[key]();
  }
  event.preventDefault();
});

addEventListener("pagehide", () => autosave.waits && form && keepHere());
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  if (outbox.waiting.length) filled();
  else hushWaiting(); // a page between has sent it
  loadSoon();
});

function start() {
  if (pack) openPack();
  lettersOff(device.get("keyless", false));
  if ($("why")) $("why").querySelector("form").noValidate = true; // the words are the page's own
  begin();
  if (form && document.activeElement === page) focusOn(form); // one Tab, and the first field has it
  performance.mark("sheet-ready");
  if (outbox.waiting.length) sendWaiting();
}

function sendWaiting() {
  watchSending();
  outbox.flush();
}

/** The browser was killed, and has found again what it had not yet written down. */
function resume() {
  sending ||= outbox.has(assignment);
  lock();
  sendWaiting();
}

const restored = restoreAnswers(page.dataset.person);
if (pack) restored.then(start); // which of its sheets are answered is known then
else start(), restored.then((count) => count && resume());
