// What lies on this device, whose it is, and what of it outlives a browser that is killed.

export const PACKS = "emic-pack:"; // so begin the caches with what people took along; the person follows

/** An answer that waits goes only when the server has taken it. */
export const isUnsent = (key) => key.endsWith(":outbox") && localStorage.getItem(key) !== "[]";

/** What was taken along: of everybody, or of all but this person. The service worker sees to it as well. */
export async function wipePacks(but = "") {
  for (const name of (await globalThis.caches?.keys()) ?? [])
    if (name.startsWith(PACKS) && name !== PACKS + but) await caches.delete(name);
}

/** A page of this person opened: what others left goes. */
export function wipeOthers(person) {
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith("emic:") && !key.startsWith(`emic:${person}:`) && !isUnsent(key)) localStorage.removeItem(key);
  } catch {}
  wipePacks(person).catch(() => {});
}

// ---- answers that wait --------------------------------------------------------------------------------------------

// Browsers bring localStorage to the disk within a minute or so. Who is killed before that, or whose battery ends,
// would lose the last answers; so each is also written to a database that has it on the disk at once.
const STORE = "answers", SOON = 1000; // ms
let opened;

function database() {
  return (opened ??= new Promise((done, failed) => {
    const request = indexedDB.open("emic", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  }));
}

async function inStore(mode, act) {
  const store = (await database()).transaction(STORE, mode, { durability: "strict" }).objectStore(STORE);
  return new Promise((done, failed) => {
    const request = act(store);
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}

export const keepAnswer = (person, entry) =>
  inStore("readwrite", (store) => store.put({ person, entry, at: Date.now() }, entry.key)).catch(() => {});
export const dropAnswer = (key) => inStore("readwrite", (store) => store.delete(key)).catch(() => {});

const OUTBOX = /^emic:[^:]+:outbox$/;
const waitingKeys = () =>
  Object.keys(localStorage).filter((key) => OUTBOX.test(key)).flatMap((key) => JSON.parse(localStorage.getItem(key)).map((one) => one.key));

/**
 * Of everybody: who signs out here tells the browser to forget all, unless it knows that an answer waits. What waited
 * when the database was asked is not lost: it may have been sent before the reply.
 */
async function restore(person) {
  const known = new Set(waitingKeys());
  const rows = (await inStore("readonly", (store) => store.getAll())).sort((a, b) => a.at - b.at);
  let count = 0;
  for (const owner of new Set(rows.map((row) => row.person))) {
    const key = `emic:${owner}:outbox`;
    const here = JSON.parse(localStorage.getItem(key) ?? "[]");
    const lost = rows.filter((row) => row.person === owner && !known.has(row.entry.key) && !here.some((one) => one.key === row.entry.key));
    if (lost.length) localStorage.setItem(key, JSON.stringify([...here, ...lost.map((row) => row.entry)]));
    if (owner === person) count = lost.length;
  }
  return count;
}

/** Put back what localStorage has lost: how many answers of this person. One that was taken already is sent again, and is the same. */
export const restoreAnswers = (person) =>
  Promise.race([restore(person).catch(() => 0), new Promise((done) => setTimeout(done, SOON, 0))]);
