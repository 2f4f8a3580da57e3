// De-duplicating a contact sheet: one key for each picture, the next open one comes by itself, everything can be taken
// back. All of it happens in the page; drafts and the answer travel in one hidden input.
import { alike, choosesWith, compareWith, contact, moveTo, onMove, say } from "../displays/contact.js";
import { changed, onKey, onSheet, setText } from "../sheet-parts.js";
import { beginCompare, endCompare } from "./grouping-compare.js";
import { Partition } from "./partition.js";

let field = null, input = null, words = {}, roles = new Map(), partition = null;
let root = null; // the contact sheet that the partition is of
let late = 0; // a timer for what need not be there before the next paint

/** The display begins before the field: until then the partition is still that of the sheet before, with its own pictures. */
const begun = () => partition && contact()?.root === root;

const fill = (key, values = {}) =>
  Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), words[key] ?? "");

function begin({ form, bench }) {
  field = form?.querySelector(".grouping") ?? null;
  const sheet = contact();
  partition = null;
  if (!field || !sheet?.pics.length) return;
  input = field.querySelector("[data-partition]");
  field.querySelector("[data-plain]").remove();
  words = Object.fromEntries([...field.querySelector("[data-words]").content.children].map((one) => [one.dataset.w, one.textContent]));
  roles = new Map([...field.querySelectorAll("[data-role]")].map((one) =>
    [one.dataset.role, { label: one.querySelector("bdi").textContent, keeps: "keeps" in one.dataset, key: one.dataset.keyOf }]));
  for (const part of field.querySelectorAll("[data-done], [data-facing]")) part.hidden = false;
  const tools = bench.querySelector(".tools");
  tools.prepend(field.querySelector("[data-tools]").content.cloneNode(true));
  beginCompare(field, tools, fill);
  root = sheet.root;
  form.addEventListener("put", read); // decided while another window's answer came
  read();
}

/** Show what the input has. */
function read() {
  const { pics } = contact();
  partition = new Partition(pics.map((pic) => pic.name));
  partition.load(parsed(input.value));
  pics.forEach((_pic, index) => caption(index));
  const open = partition.nextOpen(-1);
  moveTo(Math.max(0, open), { focus: false });
  tell();
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// ---- which one it is compared with ---------------------------------------------------------------------------------

/**
 * Kept pictures that this one may be the same as, likeliest first: those that its nearest belong to, then the others of
 * its group of look-alikes, then the rest. Where the group has none kept yet, its nearest neighbour comes first.
 */
function candidates(index) {
  const { pics } = contact();
  const own = (one) => one !== index && pics[one].group === pics[index].group && pics[index].group !== "0";
  const near = pics[index].near.map(([one]) => one);
  const told = near.filter((one) => ["keep", "same"].includes(partition.get(one).act)).map((one) => partition.keptOf(one));
  const kept = pics.flatMap((_pic, one) => (one !== index && partition.get(one).act === "keep" ? [one] : []));
  const first = [...told.filter(own), ...kept.filter(own)];
  if (!first.length) first.push(...near.filter(own).slice(0, 1));
  return [...new Set([...first, ...told, ...near.slice(0, 1), ...kept])].filter((one) => one !== index);
}

/** Compare with the next of them; after the last with the first. */
function another() {
  const { at, against } = contact();
  const all = candidates(at);
  if (!all.length) return;
  compareWith(all[(all.indexOf(against) + 1) % all.length]);
  const now = contact();
  say(now.root.dataset.beside, { n: now.pics[now.against].number, a: alike() || "–" });
}
choosesWith((index) => {
  if (!begun()) return contact().pics[index].near[0]?.[0] ?? -1;
  const { act } = partition.get(index);
  return act === "same" ? partition.keptOf(index) : (candidates(index)[0] ?? -1);
});

// ---- what a picture says -------------------------------------------------------------------------------------------

function stateOf(index) {
  const { act, role } = partition.get(index);
  const label = roles.get(role)?.label;
  const n = contact().pics[partition.keptOf(index)].number;
  if (act === "keep") return label ? fill("kept_as", { role: label }) : words.keep;
  if (act === "same") return label ? fill("same_as", { role: label, n }) : fill("same", { n });
  return act ? words[act] : words.open;
}

function caption(index) {
  const { el } = contact().pics[index];
  const { act } = partition.get(index);
  el.className = act ? { keep: "kept", same: "dropped twin", drop: "dropped", unsure: "unsure" }[act] : "";
  const text = stateOf(index);
  const state = el.querySelector("[data-state]");
  if (state.textContent !== text) setText(state, text);
}

onMove(({ pics, at, against }) => {
  if (!begun()) return;
  if (pics[onMove.last]) caption(onMove.last);
  onMove.last = at;
  const [n, m] = [pics[at].number, pics[against]?.number];
  if (m && !partition.get(at).act) setText(pics[at].el.querySelector("[data-state]"), fill("maybe", { n: m }));
  setText(field.querySelector("[data-looking]"), m ? fill("looking", { n, m }) : fill("alone", { n }));
  setText(field.querySelector("[data-hint]"), m ? fill(alike() ? "hint" : "hint_plain", { n, m, a: alike() }) : "");
  const target = contact().bench.querySelector("[data-target]");
  if (target) setText(target, m ?? "");
});

// ---- deciding ------------------------------------------------------------------------------------------------------

const ACTS = {
  keep: (at) => partition.keep(at),
  drop: (at) => partition.drop(at),
  unsure: (at) => partition.unsure(at),
  same: (at, against) => partition.same(at, against),
  rest: (at) => {
    const { pics } = contact();
    return partition.keepAll(pics.flatMap((pic, one) => (pic.group === pics[at].group && !partition.get(one).act ? [one] : [])));
  },
};

/** One act at the picture at hand, and on to the next that is open. */
function decide(act, role = "") {
  const { pics, at, against } = contact();
  if (act === "same" && against < 0) return say(words.first, {});
  const before = partition.decided;
  const changes = role && act === "keep" ? partition.keep(at, role) : role ? partition.same(at, against, role) : ACTS[act](at, against);
  for (const one of changes || []) caption(one);
  const next = partition.nextOpen(at);
  const said = `${pics[at].number}: ${stateOf(at)}.`;
  if (next < 0) endCompare();
  if (next >= 0) moveTo(next);
  else if (at < pics.length - 1 && before === pics.length) moveTo(at + 1); // going over all of it once more
  else compareWith(partition.get(at).act === "same" ? partition.keptOf(at) : against);
  const now = contact();
  say(next < 0 ? `${said} ${words.all}` : `${said} ${now.root.dataset.at}`, { n: now.pics[now.at].number, g: now.pics[now.at].group });
  soon();
}

function undo() {
  const back = partition.undo();
  if (!back) return say(words.nothing, {});
  for (const one of back.changed) caption(one);
  moveTo(back.index);
  say(words.undone, { n: contact().pics[back.index].number });
  soon();
}

/** The hidden input, the draft and the figures come after the paint: no key waits for them. */
function soon() {
  if (late) return;
  late = setTimeout(write, 60);
}

function write() {
  clearTimeout(late);
  late = 0;
  if (!partition || !input.isConnected) return;
  const said = partition.toJSON();
  input.value = said && JSON.stringify(said);
  tell();
  changed(input);
}

// ---- figures -------------------------------------------------------------------------------------------------------

function tell() {
  const [done, all] = [partition.decided, partition.names.length];
  setText(field.querySelector("[data-count]"), fill("count", { done, all }));
  const ruler = field.querySelector("[data-done] .ruler");
  const share = ((100 * done) / all).toFixed(2);
  ruler.setAttribute("aria-valuenow", Math.round(share));
  ruler.querySelector(".fill").setAttribute("width", `${share}%`);
  ruler.querySelector(".needle").setAttribute("x", `${share}%`);
  const halt = field.querySelector("[data-halt]");
  const open = partition.nextOpen(-1);
  halt.hidden = open < 0 || !done;
  if (!halt.hidden) setText(halt, fill("left", { count: all - done, n: contact().pics[open].number }));
  else halt.className = "vh";
}

// ---- hands ---------------------------------------------------------------------------------------------------------

const KEYS = { k: "keep", d: "drop", s: "same", n: "unsure", a: "rest" };

onSheet(begin);
onKey((event, key) => {
  if (!partition || event.altKey || event.target.matches("[type=radio], [type=checkbox]")) return false;
  if (key === "u") return partition.steps.length ? (undo(), true) : false; // then the sheet's own: the answer before
  const role = [...roles].find(([, one]) => one.key === key);
  if (role) return decide(role[1].keeps ? "keep" : "same", role[0]), true;
  if (key === "w") return another(), true;
  if (KEYS[key] === "unsure" && !contact().bench.querySelector("[data-act=unsure]")) return false;
  if (KEYS[key]) return decide(KEYS[key]), true;
  return false;
});
addEventListener("click", (event) => {
  const button = event.target.closest?.(".bench [data-act], .bench [data-role]");
  if (!button || !partition) return;
  const role = roles.get(button.dataset.role);
  if (role) decide(role.keeps ? "keep" : "same", button.dataset.role);
  else if (button.dataset.act === "another") another();
  else if (button.dataset.act === "undo") undo();
  else decide(button.dataset.act);
});
// Before the sheet looks at its form, what is decided is written. It then stops at what is open, and says which.
addEventListener("submit", (event) => {
  if (!partition || event.target !== input.form || event.submitter?.formMethod === "dialog") return;
  write();
  const open = partition.nextOpen(-1);
  if (open < 0) return;
  field.querySelector("[data-halt]").className = "msg err";
  moveTo(open);
}, { capture: true });
