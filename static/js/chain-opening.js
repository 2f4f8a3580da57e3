// The form that opens the chain: what it will open is counted anew after each change. Without this script the button
// “Update the figures” does that.
const form = document.querySelector(".chain-form");
const PARTS = ["opening-work", "open-chain"];
const PAUSE = 400; // milliseconds without a change
let waiting = 0, turn = 0;

async function count() {
  const own = ++turn;
  const data = new FormData(form);
  data.set("do", "check");
  const reply = await fetch(location.href, { method: "POST", body: data }).catch(() => null);
  const text = reply && (await reply.text().catch(() => ""));
  if (!text || own !== turn) return; // a later change is counted already
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const id of PARTS) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (fresh && fresh.innerHTML !== old.innerHTML) old.innerHTML = fresh.innerHTML;
  }
}

form?.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(count, PAUSE);
});
