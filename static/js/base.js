// Every page: little things that need no page of their own.
import { isUnsent, restoreAnswers, wipeOthers, wipePacks } from "./device-storage.js";

// A button with data-copies="id" copies that element's text.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copies);
  await navigator.clipboard.writeText(source.value ?? source.textContent);
  button.textContent = button.dataset.copied ?? button.textContent;
});

// A form with data-once sends one request however often it is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-once]");
  if (!form) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
});

// A select or checkbox with data-submits sends its form when it changes, without the fields that data-clears names.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-submits]")) return;
  const form = event.target.form;
  for (const name of event.target.dataset.clears?.split(" ") ?? []) {
    for (const field of form.querySelectorAll(`[name="${name}"]`)) field.disabled = true;
  }
  form.requestSubmit();
});

// A page found again by Back says what its address says: browsers keep what was chosen before leaving, and a sent form.
window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("[data-submits]")) {
    field.disabled = false;
    if (field.options) for (const option of field.options) option.selected = option.defaultSelected;
    else field.checked = field.defaultChecked;
  }
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The tabs may be wider than a phone: the present one stands in the middle. (scrollIntoView would move the page, too.)
for (const tab of document.querySelectorAll(".bar nav [aria-current]")) {
  const [own, row] = [tab.getBoundingClientRect(), tab.parentElement.getBoundingClientRect()];
  tab.parentElement.scrollLeft += own.left + own.width / 2 - row.left - row.width / 2;
}

// What a sheet could not send goes out from every page.
const person = document.body.dataset.person;
const outbox = `emic:${person}:outbox`;
function waiting() {
  try {
    return (localStorage.getItem(outbox) ?? "[]") !== "[]";
  } catch {
    return false;
  }
}
const sendWaiting = async () => waiting() && (await import("./outbox-notice.js")).send();
if (person) restoreAnswers(person).then(sendWaiting);
window.addEventListener("online", sendWaiting);

// Nothing of a person stays on the device when they sign out, but answers that could not be sent: those wait there for
// the same person. Their other windows go away.
const SIGNED_OUT = "emic-signed-out", LEAVING = "emic-leaving";
const stored = () => {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
};
const tookAlong = (keys) => keys.some((key) => /^emic:\w+:app$/.test(key));

/** `keep`: the browser is told to forget all but what waits, of whomever. Should the server not hear of it, the next page tells it. */
function leave(form) {
  if (stored().some(isUnsent)) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "keep", value: "1" }));
  localStorage.setItem(SIGNED_OUT, Date.now()); // the other windows hear it
  for (const key of stored()) if (key.startsWith("emic") && !isUnsent(key)) localStorage.removeItem(key);
  localStorage.setItem(LEAVING, person);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches('form[action*="sign-out"]')) return;
  if (form.dataset.sure || !(waiting() || tookAlong(stored()))) return leave(form);
  event.preventDefault();
  const unsent = waiting() ? await import("./outbox-notice.js").catch(() => null) : null;
  if (unsent && !(await unsent.maySignOut())) return;
  if (tookAlong(stored())) {
    await import("./device-packs.js").then((packs) => packs.giveAllBack(person)).catch(() => {});
    await wipePacks();
  }
  if (unsent && waiting()) return unsent.signOutKeeping(form, () => leave(form));
  form.dataset.sure = "1";
  form.requestSubmit();
});

// What lies here of packs, where the work page offers none any more.
const offersPacks = document.querySelector("[data-pack], script[src*='/pack']");
if (location.pathname === "/work/" && tookAlong(stored()) && !offersPacks) import("./pack.js");

// What another person left on this device goes, but for what they could not send; and who signed out without a line
// is signed out now.
if (person) wipeOthers(person);
if (stored().includes(LEAVING)) {
  if (person && localStorage.getItem(LEAVING) === person) import("./outbox-notice.js").then((unsent) => unsent.finishSignOut());
  else localStorage.removeItem(LEAVING);
}
/** To the sign-in page, once the server knows it, too: it sends whom it still takes for signed in straight back. */
async function goes(tries) {
  const who = await fetch("/sign-in/here").then((reply) => reply.json(), () => ({})).catch(() => ({}));
  if (who.person && tries) setTimeout(goes, 500, tries - 1);
  else location.replace(`/sign-in?elsewhere=1&next=${encodeURIComponent(location.pathname + location.search)}`);
}
window.addEventListener("storage", (event) => {
  if (event.key !== SIGNED_OUT || !event.newValue) return;
  document.body.hidden = true;
  setTimeout(goes, 500, 20);
});
