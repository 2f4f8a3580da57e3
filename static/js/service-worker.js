// Stands in for the line, and only for that. While there is one, every page comes from the server, and nothing but
// pages and the parts of a pack's own pages passes through here. What it may show is in one cache, named for the person
// who took a pack on this device; static/js/pack.js fills it. Two such caches, or a page for another person: all go.

const PREFIX = "emic-pack:";
const PACK = /^\/work\/\d+\/pack\/$/;
const OFFLINE = "/offline/";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.registration.navigationPreload?.enable()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (request.mode === "navigate") event.respondWith(visit(event, url));
  else if (isPartOfPack(request, url)) event.respondWith(part(request, url));
});

async function visit(event, url) {
  try {
    const response = (await event.preloadResponse) ?? (await fetch(event.request));
    event.waitUntil(heed(response.headers.get("X-Emic-Person")));
    const gone = [502, 503, 504].includes(response.status) && PACK.test(url.pathname); // the line ends at a proxy
    return (gone && (await (await own())?.match(url.pathname))) || response;
  } catch {
    return (await instead(url)) ?? Response.error();
  }
}

/** Files and pictures that a page of a pack, or the page for other pages, asks for. */
function isPartOfPack(request, url) {
  if (!/^\/(static|image)\//.test(url.pathname) || !request.referrer) return false;
  const { origin, pathname } = new URL(request.referrer);
  return origin === location.origin && (PACK.test(pathname) || pathname === OFFLINE);
}

/** A page that was kept may ask for files that the server has no more: they have other names since. */
async function part(request, url) {
  const response = await fetch(request).catch(() => null);
  if (response?.ok) return response;
  const cache = await own();
  return (cache && ((await cache.match(url.pathname)) ?? (await samePicture(cache, url)))) ?? response ?? Response.error();
}

/** A picture in another width: the first 42 characters of its address name it, what follows is width and end. */
async function samePicture(cache, url) {
  if (!url.pathname.startsWith("/image/")) return undefined;
  const name = url.pathname.slice(0, "/image/".length + 42);
  for (const kept of await cache.keys()) if (new URL(kept.url).pathname.startsWith(name)) return cache.match(kept);
  return undefined;
}

/** What is shown of a page without a line: a pack that lies here, else the page that says so. */
async function instead(url) {
  const cache = await own();
  if (!cache) return undefined;
  if (PACK.test(url.pathname) || url.pathname === OFFLINE) {
    const page = await cache.match(url.pathname);
    if (page) return page;
  }
  return Response.redirect(`${OFFLINE}?from=${encodeURIComponent(url.pathname + url.search)}`);
}

async function names() {
  return (await caches.keys()).filter((name) => name.startsWith(PREFIX));
}

/** The cache of the one person whose pack lies here. Of two nobody knows whose turn it is. */
async function own() {
  const all = await names();
  if (all.length > 1) await Promise.all(all.map((name) => caches.delete(name)));
  return all.length === 1 ? caches.open(all[0]) : null;
}

/** The server says for whom a page is: what another person left here goes. */
async function heed(person) {
  if (!person) return;
  for (const name of await names()) if (name !== PREFIX + person) await caches.delete(name);
}
