// Taking items along: the work page reserves them, and puts their page, files and pictures on this device.
import { cacheOf, canKeep, forget, giveOpenBack, packsHere, post, writePacks } from "./device-packs.js";

const person = document.body.dataset.person;
const OFFLINE = "/offline/";
const part = (box, name) => box.querySelector(`[data-${name}]`);

class NoRoom extends Error {}

function tell(box, words) {
  const line = part(box, "told");
  line.textContent = words;
  line.hidden = !words;
}

function show(box, { n, ends }) {
  box.dataset.n = n;
  const here = part(box, "here");
  here.textContent = here.dataset.words.replace("NUMBER", n).replace("TIME", ends);
  for (const one of box.querySelectorAll("[data-with]")) one.hidden = !n;
  for (const one of box.querySelectorAll("[data-without]")) one.hidden = Boolean(n);
}

/** `put` says when the browser has no room left; any other fault is one of the line. */
async function keep(cache, address, response) {
  try {
    await cache.put(address, response);
  } catch (error) {
    throw error.name === "QuotaExceededError" ? new NoRoom() : error;
  }
}

/** Null for what is not there. A server that is busy has it, later: so it is a fault of the line. */
async function fetched(address) {
  const response = await fetch(address, { redirect: "error" });
  if (response.status >= 500 || response.status === 429) throw new Error(response.status);
  return response.ok ? response : null;
}

async function keepFile(cache, address) {
  const path = new URL(address, location).pathname;
  if (await cache.match(path)) return;
  const response = await fetched(address);
  if (response) await keep(cache, path, response);
}

/** The width of a picture that this screen would ask for. */
async function chosen({ sizes, srcset, src }) {
  const loader = new Image();
  Object.assign(loader, { sizes, srcset, src });
  await loader.decode().catch(() => {});
  return loader.currentSrc || src;
}

const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
const sheetsOf = (page) =>
  [page, ...[...page.querySelectorAll("template")].map((one) => one.content)]
    .map((one) => one.querySelector("#bench[data-assignment]")).filter(Boolean);
const filesOf = (page) =>
  [...page.querySelectorAll("link[rel=stylesheet], link[rel=modulepreload], link[rel=icon], script[src]")]
    .map((one) => one.getAttribute("href") ?? one.getAttribute("src"));

/** A page with its files; its text is what was kept. */
async function keepPage(cache, address) {
  const response = await fetched(address);
  if (!response) throw new Error(address);
  const html = await response.clone().text();
  for (const file of filesOf(parsed(html))) await keepFile(cache, file);
  await keep(cache, address, response);
  return html;
}

/** Put a pack on the device: which sheets fitted, which did not. */
async function fill(box, address) {
  const cache = await cacheOf(person);
  const rest = [];
  let sheets = [];
  try {
    await keepPage(cache, OFFLINE);
    sheets = sheetsOf(parsed(await keepPage(cache, address)));
  } catch (error) {
    if (!(error instanceof NoRoom)) throw error;
    return { kept: 0, rest: null };
  }
  for (const [number, sheet] of sheets.entries()) {
    tell(box, box.dataset.saving.replace("NUMBER", number + 1).replace("ALL", sheets.length));
    try {
      if (rest.length) throw new NoRoom();
      for (const picture of sheet.querySelectorAll("img[srcset], img[src]")) await keepFile(cache, await chosen(picture));
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
      rest.push(sheet.dataset.assignment);
    }
  }
  if (rest.length) await cache.delete(address); // it names sheets that are given back
  return { kept: sheets.length - rest.length, rest };
}

async function giveBack(box, ids) {
  const some = () => post(box.dataset.giveBack, new URLSearchParams(ids.map((id) => ["assignment", id])));
  const reply = await (ids ? some() : giveOpenBack(person, box.dataset.pack));
  if (!reply.ok) throw new Error(reply.status);
}

async function take(box) {
  tell(box, box.dataset.taking);
  const reply = await post(box.dataset.take);
  if (reply.status === 409) return tell(box, (await reply.json()).words);
  if (!reply.ok) throw new Error(reply.status);
  const { until, ends, now, page } = await reply.json();
  await navigator.serviceWorker.register("/service-worker.js");
  await navigator.serviceWorker.ready;
  await navigator.storage?.persist?.().catch(() => {});
  localStorage.setItem(`emic:${person}:app`, "1");
  localStorage.setItem(`emic:${person}:clock`, Date.parse(now) - Date.now());
  const { kept, rest } = await fill(box, page);
  if (rest === null || rest.length) await giveBack(box, kept ? rest : null);
  if (!kept) {
    await forget(person, box.dataset.pack);
    show(box, { n: 0 });
    return tell(box, box.dataset.none);
  }
  if (rest.length) await keepPage(await cacheOf(person), page);
  const others = (await packsHere(person)).filter((one) => one.campaign !== box.dataset.pack);
  await writePacks(person, [...others, { campaign: box.dataset.pack, name: box.dataset.name, page, until, ends }]);
  show(box, { n: kept, ends });
  tell(box, rest.length ? box.dataset.fewer.replace("NUMBER", kept) : "");
}

let busy = false;

/** One at a time, and a lost line is said. */
async function doing(box, act) {
  if (busy) return;
  busy = true;
  box.setAttribute("aria-busy", "true");
  try {
    await act();
  } catch {
    tell(box, box.dataset.failed);
  } finally {
    busy = false;
    box.removeAttribute("aria-busy");
  }
}

for (const box of document.querySelectorAll("[data-pack]")) {
  if (!canKeep()) continue; // the buttons stay away: see the status page
  box.hidden = false;
  part(box, "takes").addEventListener("click", () => doing(box, () => take(box)));
  part(box, "gives").addEventListener("click", () => doing(box, async () => {
    await giveBack(box, null);
    await forget(person, box.dataset.pack);
    show(box, { n: 0 });
    tell(box, box.dataset.gone);
  }));
  part(box, "again").addEventListener("click", () => doing(box, () => take(box)));
}

/** What lies here and is over goes: answered, given back elsewhere, or of a campaign that offers nothing any more. */
packsHere(person).then(async (packs) => {
  const boxes = new Map([...document.querySelectorAll("[data-pack]")].map((box) => [box.dataset.pack, box]));
  for (const { campaign } of packs) if ((boxes.get(campaign)?.dataset.n ?? "0") === "0") await forget(person, campaign);
  for (const [campaign, box] of boxes) // on another device, or half loaded here
    part(box, "again").hidden = box.dataset.n === "0" || packs.some((one) => one.campaign === campaign);
});
