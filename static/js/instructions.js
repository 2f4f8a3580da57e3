// Before work: only time in which the page is in view counts. Without this file the server counts all that passes.

const BEAT = 5000;
const form = document.querySelector(".dwell");
if (form) watch(form);
document.getElementById("go-on")?.focus();

function watch(dwell) {
  const note = dwell.querySelector("[data-counts]");
  const button = dwell.querySelector("button");
  const needed = Number(dwell.dataset.left);
  let counted = 0, last = performance.now(), sent = 0;
  dwell.elements.seconds.value = "0";
  tick();
  const clock = setInterval(tick, 500);

  function tick() {
    const now = performance.now();
    if (document.visibilityState === "visible") counted += Math.min(now - last, 1000) / 1000;
    last = now;
    dwell.elements.seconds.value = counted.toFixed(1);
    const left = Math.max(0, Math.ceil(needed - counted));
    note.textContent = left ? note.dataset.words.replace("SECONDS", left) : "";
    if (left) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
    if (!left) clearInterval(clock);
    if (counted * 1000 - sent >= BEAT || !left) beat();
  }

  /** What was read so far is kept, should the page be left. */
  async function beat() {
    sent = counted * 1000;
    const data = new FormData(dwell);
    data.set("act", "seen");
    const headers = { "X-Requested-With": "emic" };
    await fetch(location.pathname, { method: "POST", body: data, headers, keepalive: true }).catch(() => {});
  }

  dwell.addEventListener("submit", (event) => {
    if (button.hasAttribute("aria-disabled")) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    last = performance.now();
  });
}
