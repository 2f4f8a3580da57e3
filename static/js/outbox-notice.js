// Answers that a sheet could not send wait on this device. Any other page sends them, too, and nobody signs out over them unasked.

import { dropAnswer } from "./device-storage.js";

const person = document.body.dataset.person;
const SECONDS = 20;
const DONE = 200; // as in sheet.js

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(`emic:${person}:${name}`)) ?? [];
  } catch {
    return [];
  }
}

const write = (name, rows) => localStorage.setItem(`emic:${person}:${name}`, JSON.stringify(rows));

function post(url, body) {
  const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value;
  const headers = { "X-Requested-With": "emic", "X-CSRFToken": token };
  const how = { method: "POST", body: new URLSearchParams(body), redirect: "manual", headers };
  return fetch(url, { ...how, signal: AbortSignal.timeout(SECONDS * 1000) });
}

/** A reply of the site, and for this person. */
const mine = (response) => response.headers.get("X-Emic-Person") === person;

/**
 * True when nothing is left. The same key is never taken twice, so another window may be sending, too. What the server
 * wants to show first (a mistake, another window's answer, why it is not stored) stays for its sheet, and is put into `refused`.
 */
export async function sendAll(refused = []) {
  try {
    for (const entry of read("outbox")) {
      const response = await post(entry.url, entry.body);
      if (!mine(response)) continue;
      const shows = response.status === 422 || response.headers.has("X-Emic-Refused");
      if (shows) refused.push(entry);
      if (response.status !== 200 || shows) continue;
      write("outbox", read("outbox").filter((one) => one.key !== entry.key));
      dropAnswer(entry.key);
      if (entry.body.some(([name]) => name === "pack")) write("done", [...read("done"), entry.assignment].slice(-DONE));
      if (!entry.url.endsWith("skip")) write("drafts", read("drafts").filter((one) => one.assignment !== entry.assignment));
    }
  } catch {} // no line
  return read("outbox").length === 0;
}

const line = document.getElementById("waits");

function tell(words) {
  line.hidden = false;
  line.firstElementChild.textContent = line.dataset[words];
}

// What was said here is of before: another window has sent what waited, or has more that waits.
addEventListener("storage", ({ key }) => {
  if (key !== `emic:${person}:outbox` || !line || line.hidden) return;
  const isEmpty = !read("outbox").length, link = line.querySelector("a");
  if (isEmpty && link.hidden) tell("sent"), (link.hidden = false);
  else if (!isEmpty && line.firstElementChild.textContent === line.dataset.sent) line.hidden = true;
});

/** Sends, and says so. */
export async function send() {
  if (!line || !read("outbox").length) return;
  tell("waits");
  const refused = [];
  const all = await sendAll(refused);
  tell(all ? "sent" : refused.length ? "refused" : "left");
  const link = line.querySelector("a");
  link.hidden = !all && !refused.length;
  if (refused.length) Object.assign(link, { href: refused[0].work, textContent: line.dataset.open });
}

/** Sends what waits; where that fails, asks whether the person signs out all the same. */
export async function maySignOut() {
  if (await sendAll()) return true;
  const dialog = document.getElementById("unsent");
  if (!dialog) return true;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
  return dialog.returnValue === "out";
}

const LEAVING = "emic-leaving";

/** Signs out, and leaves what could not be sent on the device. */
async function signOut(action) {
  const response = await post(action, { keep: "1" });
  if (response.type !== "opaqueredirect") throw new Error(response.status);
  localStorage.removeItem(LEAVING);
  location.replace("/sign-in");
}

/** `leave` empties the device. Without a line the server does not know it yet: the next page with a line tells it. */
export async function signOutKeeping(form, leave) {
  leave();
  try {
    await signOut(form.action);
  } catch {
    localStorage.setItem(LEAVING, person);
    const words = Object.assign(document.createElement("p"), { className: "msg info", textContent: document.getElementById("unsent").dataset.left });
    document.body.replaceChildren(words);
  }
}

export async function finishSignOut() {
  document.body.hidden = true;
  try {
    await signOut(document.querySelector('form[action*="sign-out"]').action);
  } catch {
    document.body.hidden = false;
  }
}
