// What waits on this device until the line is back: answers in their order, and the draft of the sheet in hand.
// Kept under the person's own name; another person's is wiped when the page opens, and all of it at sign-out.

const PREFIX = "emic:";
const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between tries; then every 30

export const csrf = () =>
  document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value;

/** One request as this page makes them. "away" when there is no line, "out" when the person is signed out. */
export async function send(url, body, seconds = 20) {
  let response;
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
  if (response.type === "opaqueredirect" || response.status === 403) return { state: "out" };
  if (response.status >= 500 || response.status === 429) return { state: "away" };
  try {
    const json = response.headers.get("content-type")?.includes("json");
    return { state: "here", status: response.status, data: json ? await response.json() : await response.text() };
  } catch {
    return { state: "away" }; // cut off in the middle: the same key brings the same reply
  }
}

const DRAFTS = 5;

/** What this page keeps on the device. Where storage is forbidden it is kept as long as the page is open. */
export class Device {
  constructor(person) {
    this.mine = `${PREFIX}${person}:`;
    this.memory = new Map();
    try {
      for (const key of Object.keys(localStorage))
        if (key.startsWith(PREFIX) && !key.startsWith(this.mine)) localStorage.removeItem(key);
    } catch {}
  }

  get(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(this.mine + name)) ?? this.memory.get(name) ?? otherwise;
    } catch {
      return this.memory.get(name) ?? otherwise;
    }
  }

  set(name, value) {
    try {
      localStorage.setItem(this.mine + name, JSON.stringify(value));
      this.memory.delete(name);
    } catch {
      this.memory.set(name, value);
    }
  }

  draft(assignment) {
    return this.get("drafts", []).find((one) => one.assignment === assignment) ?? null;
  }

  /** Keep the draft of an assignment; null forgets it. */
  keep(assignment, draft) {
    const others = this.get("drafts", []).filter((one) => one.assignment !== assignment);
    this.set("drafts", draft ? [{ assignment, ...draft }, ...others].slice(0, DRAFTS) : others);
  }
}

/** Answers that could not be sent, oldest first. Sent again with the same key until they are taken. */
export class Outbox {
  constructor(device, { arrived, away, out }) {
    Object.assign(this, { device, arrived, away, out, tries: 0, timer: 0, busy: false });
    addEventListener("online", () => this.flush());
  }

  get waiting() {
    return this.device.get("outbox", []);
  }

  has(assignment) {
    return this.waiting.some((one) => one.assignment === assignment);
  }

  add(entry) {
    this.device.set("outbox", [...this.waiting.filter((one) => one.key !== entry.key), entry]);
  }

  drop(key) {
    this.device.set("outbox", this.waiting.filter((one) => one.key !== key));
  }

  /** Send all that waits. True when nothing is left. */
  async flush() {
    if (this.busy) return false;
    this.busy = true;
    clearTimeout(this.timer);
    try {
      for (let entry = this.waiting[0]; entry; entry = this.waiting[0]) {
        const reply = await send(entry.url, new URLSearchParams(entry.body));
        if (reply.state === "away") return this.later();
        if (reply.state === "out") return this.out(), false;
        this.drop(entry.key);
        this.tries = 0;
        await this.arrived(entry, reply, this.waiting.length);
      }
      return true;
    } finally {
      this.busy = false;
    }
  }

  later() {
    const wait = WAITS[Math.min(this.tries++, WAITS.length - 1)];
    this.timer = setTimeout(() => this.flush(), wait * 1000 * (0.8 + Math.random() * 0.4));
    this.away();
    return false;
  }
}
