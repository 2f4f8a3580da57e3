// Who is at this page. One request as the sheet makes them; signing in without leaving it; going away when it is over.

const RESTS = 1200; // ms without a change: a dialog that opens while somebody types would take what they type
const page = document.body;
const dialog = document.getElementById("session");

/** Set when the page belongs to nobody any more. Nothing is written to the device after that. */
let closed = false;
export const isClosed = () => closed;

export const csrf = () =>
  document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value;

/** Which person the server takes this browser for: a number as text, "" for nobody, null without a line. */
async function here() {
  try {
    const response = await fetch(dialog.dataset.here, { headers: { "X-Requested-With": "emic" }, signal: AbortSignal.timeout(20_000) });
    return response.ok ? String((await response.json()).person ?? "") : null;
  } catch {
    return null;
  }
}

/**
 * One request. "away" when there is no line, "out" when the person is signed out. A token that is too old (somebody
 * signed in again in another window) is renewed, and the request sent once more. Only a reply that names the person is
 * the site's: a network's own page, or a proxy whose server is just starting again, has taken nothing.
 */
export async function send(url, body, seconds = 20, again = true) {
  if (closed) return { state: "away" };
  let response;
  body?.delete?.("csrfmiddlewaretoken"); // the header has the one of now
  try {
    response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      body,
      redirect: "manual",
      headers: { "X-Requested-With": "emic", "X-CSRFToken": csrf() },
      signal: AbortSignal.timeout(seconds * 1000),
    });
  } catch {
    return { state: "away" };
  }
  const who = response.headers.get("X-Emic-Person");
  if (who && who !== page.dataset.person) {
    leave(who); // somebody else has signed in: this page is not theirs
    return { state: "away" };
  }
  if (response.status === 403 && (await here()) === page.dataset.person)
    return again ? send(url, body, seconds, false) : { state: "away" };
  if (response.type === "opaqueredirect" || response.status === 403) return { state: "out" };
  if (!who || response.status >= 500 || [400, 408, 429].includes(response.status)) return { state: "away" };
  try {
    const json = response.headers.get("content-type")?.includes("json");
    const refused = response.headers.has("X-Emic-Refused"); // not stored, and not to be sent again
    return { state: "here", status: response.status, refused, data: json ? await response.json() : await response.text() };
  } catch {
    return { state: "away" }; // cut off in the middle: the same key brings the same reply
  }
}

/** Show nothing of this person any more, and write nothing down. */
function empty() {
  closed = true;
  page.hidden = true;
}

/** And go where whoever is there now belongs; where nobody is, to the sign-in page, which says why and leads back here. */
function leave(who) {
  if (closed) return;
  empty();
  go(who);
}

function go(who) {
  const { signIn, home } = dialog.dataset;
  location.replace(who ? home : `${signIn}?elsewhere=1&next=${encodeURIComponent(location.pathname)}`);
}

/** Once the server knows it, too: its sign-in page sends whom it still takes for signed in straight back. */
async function follow(tries) {
  const who = await here();
  if (who === page.dataset.person && tries) setTimeout(follow, 500, tries - 1);
  else go(who);
}

// ---- signing in again --------------------------------------------------------------------------------------------

const back = [];
let put = false, pressed = 0, timer = 0;

/** `then` is called when the person is signed in again. */
export const onReturn = (then) => back.push(then);

/** The session is over. `asked`: the person wants something sent now; else a dialog that was put away stays away. */
export function signIn(asked = false) {
  clearTimeout(timer);
  if (closed || dialog.open) return;
  if (put && !asked) return offer();
  const wait = pressed + RESTS - Date.now(); // also after Submit: they may be typing on the next sheet
  if (wait > 0) timer = setTimeout(signIn, wait, asked);
  else open();
}

/** The dialog was put away: the banner opens it again. */
function offer() {
  const button = Object.assign(document.createElement("button"), { className: "btn", type: "button", textContent: dialog.dataset.words });
  button.addEventListener("click", open);
  document.getElementById("line").append(" ", button);
}

async function open() {
  const asked = Date.now();
  const who = await here(); // signed in again in another window, perhaps; and the token for the form
  if (who && who !== page.dataset.person) return leave(who);
  if (who) return returned();
  if (dialog.open) return;
  if (pressed > asked) return signIn(true); // they go on typing
  say("");
  dialog.showModal();
  dialog.querySelector("[name=password]").focus();
}

function returned() {
  put = false;
  if (dialog.open) dialog.close();
  dialog.querySelector("form").reset();
  for (const then of back) then();
}

function say(words) {
  const box = dialog.querySelector("[role=alert]");
  box.textContent = words;
  box.hidden = !words;
}

async function post(form) {
  const button = form.querySelector(".go");
  if (button.getAttribute("aria-disabled")) return;
  button.setAttribute("aria-disabled", "true");
  const body = new URLSearchParams(new FormData(form));
  body.delete("csrfmiddlewaretoken");
  try {
    const response = await fetch(form.action, {
      method: "POST", body, headers: { "X-Requested-With": "emic", "X-CSRFToken": csrf() }, signal: AbortSignal.timeout(20_000),
    });
    if (response.ok) return returned();
    if (response.status === 429) return say((await response.json().catch(() => ({}))).words || dialog.dataset.locked);
    if (response.status === 403) await here();
    say(response.status === 422 || response.status === 409 ? (await response.json()).words : dialog.dataset.failed);
    form.elements.password.select();
  } catch {
    say(dialog.dataset.failed);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

dialog.addEventListener("submit", (event) => {
  event.stopPropagation();
  if (event.submitter?.formMethod === "dialog") return (put = true), offer();
  event.preventDefault();
  post(event.target);
});
dialog.addEventListener("cancel", () => ((put = true), offer()));
for (const type of ["keydown", "input", "compositionupdate"]) addEventListener(type, () => (pressed = Date.now()), true);
// Back from the window where they signed in: the page goes on by itself.
addEventListener("focus", async () => dialog.open && (await here()) === page.dataset.person && returned());

// ---- the end -----------------------------------------------------------------------------------------------------

/** Signed out without a line, as base.js notes: that page ends the session. */
function leaveIfSignedOut() {
  try {
    if (localStorage.getItem("emic-leaving") === page.dataset.person) leave(page.dataset.person);
  } catch {}
}
leaveIfSignedOut();

// A form that the browser sends itself has the token of when the page was made.
addEventListener("submit", (event) => {
  const token = event.target.elements.csrfmiddlewaretoken;
  if (token) token.value = csrf();
}, true);

// Signed out in another window (base.js there says so, before the server knows), or wiped by another person's page.
addEventListener("storage", async (event) => {
  if (event.key === "emic-signed-out" && event.newValue) empty(), follow(20);
  else if (event.key?.startsWith(`emic:${page.dataset.person}:`) && event.newValue === null) {
    const who = await here();
    if (who !== null && who !== page.dataset.person) leave(who);
  }
});
addEventListener("pageshow", async (event) => {
  if (!event.persisted) return;
  page.hidden = true;
  const who = await here();
  if (who === null || who === page.dataset.person) page.hidden = false;
  else leave(who);
});
