// What packs leave on this device: a cache with the list of them, their pages, files and pictures, and the mark
// `emic:PERSON:app` that there is one. All are named for the person, and go when they sign out or when another person's
// page opens here.

import { PACKS } from "./device-storage.js";

const LIST = "/packs-here"; // no page: a name in the cache

export const canKeep = () => isSecureContext && "serviceWorker" in navigator && "caches" in globalThis;
export const cacheOf = (person) => caches.open(PACKS + person);
export const csrf = () =>
  document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value;

/** The packs of a person here: { campaign, name, page, until, ends }. */
export async function packsHere(person) {
  if (!canKeep() || !(await caches.has(PACKS + person))) return [];
  const kept = await (await cacheOf(person)).match(LIST);
  return kept ? kept.json() : [];
}

export async function writePacks(person, packs) {
  await (await cacheOf(person)).put(LIST, new Response(JSON.stringify(packs)));
}

/** A pack is over, or given back: its page goes, and with the last one all pictures. */
export async function forget(person, campaign) {
  const left = (await packsHere(person)).filter((one) => one.campaign !== campaign);
  await writePacks(person, left);
  const cache = await cacheOf(person);
  await cache.delete(`/work/${campaign}/pack/`);
  if (left.length) return;
  for (const kept of await cache.keys()) if (new URL(kept.url).pathname.startsWith("/image/")) await cache.delete(kept);
}

/** A request of this page's script, as the sheet makes them. */
export function post(url, body = new URLSearchParams()) {
  const headers = { "X-Requested-With": "emic", "X-CSRFToken": csrf() };
  return fetch(url, { method: "POST", body, redirect: "manual", headers, signal: AbortSignal.timeout(20_000) });
}

/** The assignments whose answers wait on this device. */
function answered(person) {
  try {
    return JSON.parse(localStorage.getItem(`emic:${person}:outbox`) ?? "[]").map((one) => one.assignment);
  } catch {
    return [];
  }
}

/** The places of a pack go back, but for those whose answers wait here: somebody else would have them by then. */
export async function giveOpenBack(person, campaign) {
  const url = `/work/${campaign}/pack/give-back`, given = answered(person);
  const page = given.length ? await (await cacheOf(person)).match(`/work/${campaign}/pack/`) : null;
  if (!page) return post(url);
  const ids = [...(await page.text()).matchAll(/ data-assignment="(\d+)"/g)].map(([, id]) => id);
  const open = ids.filter((id) => !given.includes(id));
  return open.length ? post(url, new URLSearchParams(open.map((id) => ["assignment", id]))) : new Response();
}

/** Before signing out: the places go back, for nobody can answer them here any more. */
export async function giveAllBack(person) {
  for (const { campaign } of await packsHere(person)) await giveOpenBack(person, campaign); // without a line, when its time is over
}
