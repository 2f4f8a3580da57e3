// What packs leave on this device: the list of them, and a cache with their pages, files and pictures. Both are named for
// the person, and go when they sign out or when another person's page opens here.

const PREFIX = "emic-pack:";
const KEY = /^emic:(\w+):packs$/;

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

/** A pack is over, or given back: its page goes, and with the last one all the rest. */
export async function forget(person, campaign) {
  const left = packsHere(person).filter((one) => one.campaign !== campaign);
  writePacks(person, left);
  if (!canKeep()) return;
  if (left.length) await (await cacheOf(person)).delete(`/work/${campaign}/pack/`);
  else await caches.delete(PREFIX + person);
}

/** Nothing of packs stays here, but those of this person; without one, nobody's. */
export async function wipeOthers(person = "") {
  for (const key of Object.keys(localStorage)) if (KEY.test(key) && key.match(KEY)[1] !== person) localStorage.removeItem(key);
  if (!("caches" in globalThis)) return;
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== PREFIX + person) await caches.delete(name);
}

/** A request of this page's script, as the sheet makes them. */
export function post(url, body = new URLSearchParams()) {
  const headers = { "X-Requested-With": "emic", "X-CSRFToken": csrf() };
  return fetch(url, { method: "POST", body, redirect: "manual", headers, signal: AbortSignal.timeout(20_000) });
}

/** Before signing out: the places go back, for nobody can answer them here any more. */
export async function leaveDevice(person) {
  for (const { campaign } of packsHere(person)) {
    const given = await post(`/work/${campaign}/pack/give-back`).catch(() => null);
    if (!given) break; // no line: their reservation ends by itself
  }
  await wipeOthers();
}
