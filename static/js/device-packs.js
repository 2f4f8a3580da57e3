// What packs leave on this device: the list of them, a cache with their pages, files and pictures, and the mark
// `emic:PERSON:app` that there is one. All are named for the person, and go when they sign out or when another person's
// page opens here.

const PREFIX = "emic-pack:";

export const canKeep = () => isSecureContext && "serviceWorker" in navigator && "caches" in globalThis;
export const cacheOf = (person) => caches.open(PREFIX + person);
export const csrf = () =>
  document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value;

/** The packs of a person here: { campaign, name, page, ends }. */
export function packsHere(person) {
  try {
    return JSON.parse(localStorage.getItem(`emic:${person}:packs`)) ?? [];
  } catch {
    return [];
  }
}

export function writePacks(person, packs) {
  if (packs.length) localStorage.setItem(`emic:${person}:packs`, JSON.stringify(packs));
  else localStorage.removeItem(`emic:${person}:packs`);
}

/** A pack is over, or given back: its page goes, and with the last one all pictures. */
export async function forget(person, campaign) {
  const left = packsHere(person).filter((one) => one.campaign !== campaign);
  writePacks(person, left);
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

/** Before signing out: the places go back, for nobody can answer them here any more. */
export async function giveAllBack(person) {
  for (const { campaign } of packsHere(person)) await post(`/work/${campaign}/pack/give-back`); // without a line, when its time is over
}
