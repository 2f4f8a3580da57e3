// The agreement page looks every few seconds whether a rating came in. The server answers 204 while nothing changed.
const EVERY = 3000;
const report = document.getElementById("report");
const sign = document.getElementById("live");

let looked = Date.now();
let lostSince = null;
let stopped = false;
let looking = false;

const part = () => report.firstElementChild;
const say = (words) => {
  const text = words
    .replace("{count}", part().dataset.count)
    .replace("{seconds}", Math.max(0, Math.round((Date.now() - looked) / 1000)))
    .replace("{time}", lostSince?.toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" }) ?? "");
  if (sign.textContent !== text) sign.textContent = text;
};

function show() {
  sign.classList.toggle("off", stopped || Boolean(lostSince) || document.hidden);
  if (stopped) return say(sign.dataset.signedOut);
  if (lostSince) return say(sign.dataset.lost);
  return say(document.hidden ? sign.dataset.asleep : sign.dataset.words);
}

async function look() {
  if (document.hidden || looking || stopped) return;
  looking = true;
  const address = new URL(report.dataset.live, location.href);
  address.searchParams.set("seen", part().dataset.watermark);
  try {
    const reply = await fetch(address, { credentials: "same-origin", redirect: "manual" });
    if (reply.type === "opaqueredirect" || reply.status === 404) stopped = true;
    else if (reply.status === 200) put(await reply.text());
    else if (reply.status !== 204) throw new Error(reply.status);
    looked = Date.now();
    lostSince = null;
  } catch {
    lostSince ??= new Date();
  } finally {
    looking = false;
    show();
  }
}

// The document is parsed without being run; only the part that stands in the page is replaced.
function put(html) {
  const made = new DOMParser().parseFromString(html, "text/html").querySelector("[data-watermark]");
  if (report.querySelector("select:focus")) return; // somebody is choosing there: the next look brings it
  if (!made) return;
  const address = report.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  report.replaceChildren(document.adoptNode(made));
  if (address) [...report.querySelectorAll("a")].find((link) => link.getAttribute("href") === address)?.focus({ preventScroll: true });
}

if (report && sign) {
  setInterval(look, EVERY);
  setInterval(show, 1000);
  document.addEventListener("visibilitychange", () => (document.hidden ? show() : look()));
  show();
}
