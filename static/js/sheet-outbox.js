// What waits on this device until the line is back: answers in their order, and the draft of the sheet in hand.
// Kept under the person's own name. Another person's goes when the page opens, but for answers that wait: they are sent
// when that person signs in here again, and by nobody else.

import { dropAnswer, keepAnswer, wipeOthers } from "./device-storage.js";
import { isClosed, send } from "./sheet-session.js";

const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between tries; then every 30

const DRAFTS = 25; // a pack may come back with a mistake in each of its answers

/** What this page keeps on the device. Where storage is forbidden or full it is kept as long as the page is open. */
export class Device {
  constructor(person) {
    this.person = person;
    this.mine = `emic:${person}:`;
    this.memory = new Map();
    wipeOthers(person);
  }

  get(name, otherwise) {
    if (this.memory.has(name)) return this.memory.get(name) ?? otherwise; // what is stored is of before
    try {
      return JSON.parse(localStorage.getItem(this.mine + name)) ?? otherwise;
    } catch {
      return otherwise;
    }
  }

  set(name, value) {
    if (isClosed()) return;
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

/**
 * Answers that could not be sent, oldest first. Sent again with the same key until they are taken. All windows share it:
 * `filled` and `emptied` hear what another one did to it. `showing(entry)`: the sheet that this page went on to, if it
 * did: the server does not draw that one again.
 */
export class Outbox {
  constructor(device, { arrived, away, out, filled, emptied, showing }) {
    Object.assign(this, { device, arrived, away, out, filled, emptied, showing, tries: 0, timer: 0, busy: false });
    addEventListener("online", () => this.flush());
    addEventListener("storage", ({ key }) => key === `${device.mine}outbox` && (this.waiting.length ? this.filled() : this.emptied()));
  }

  get waiting() {
    return this.device.get("outbox", []);
  }

  has(assignment) {
    return this.waiting.some((one) => one.assignment === assignment);
  }

  add(entry) {
    if (isClosed()) return;
    this.device.set("outbox", [...this.waiting.filter((one) => one.key !== entry.key), entry]);
    keepAnswer(this.device.person, entry);
  }

  drop(key) {
    this.device.set("outbox", this.waiting.filter((one) => one.key !== key));
    dropAnswer(key);
  }

  /** Send all that waits. True when nothing is left. `emptied` hears that it was another page that sent it. */
  async flush() {
    if (this.busy) return false;
    clearTimeout(this.timer);
    if (!this.waiting.length) return this.emptied(), true;
    this.busy = true;
    let others = false;
    try {
      for (let entry = this.waiting[0]; entry; entry = this.waiting[0]) {
        const body = new URLSearchParams(entry.body), shown = this.showing(entry);
        if (shown) body.set("showing", shown);
        const reply = await send(entry.url, body);
        others = reply.state !== "here" && !this.waiting.some((one) => one.key === entry.key);
        if (others) continue; // sent by another page meanwhile
        if (reply.state === "away") return this.later();
        if (reply.state === "out") return this.out(), false;
        this.drop(entry.key);
        this.tries = 0;
        await this.arrived(entry, reply, this.waiting.filter((one) => one.work === entry.work).length);
      }
      if (others) this.emptied();
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

const AFTER = 2000; // ms without a change: most answers are sent before, so a rating takes one request
const EVERY = 3000; // ms after the first change, though somebody goes on typing: with a slow reply still under five seconds
const AGAIN = 3000; // ms after one that did not get through

/**
 * Saves what is typed: one request at a time. A save whose reply was lost is sent again as it was, which changes nothing
 * if it had arrived; only then what was typed since. So a poor line never looks like a second window.
 *
 * `read()` gives { of, url, body }, or null when nothing may be saved now; `saved(sent, reply)` hears every reply to it.
 */
export class Autosave {
  constructor({ read, saved }) {
    Object.assign(this, { read, saved, timer: 0, since: 0, busy: false, due: false, lost: null, turn: 0 });
  }

  get waits() {
    return this.timer !== 0;
  }

  changed() {
    const now = Date.now();
    this.since ||= now;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), Math.max(0, Math.min(AFTER, this.since + EVERY - now)));
  }

  /** Forget what was to be saved, and replies that are still to come: it is submitted, or another sheet is here. */
  stop() {
    clearTimeout(this.timer);
    Object.assign(this, { timer: 0, since: 0, due: false, lost: null, turn: this.turn + 1 });
  }

  async save() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.due = this.busy;
    if (this.busy) return;
    const now = this.read();
    if (!now) return;
    const sent = this.lost?.of === now.of ? this.lost : now;
    Object.assign(this, { busy: true, since: 0, lost: null });
    const { turn } = this;
    const reply = await send(sent.url, new URLSearchParams(sent.body));
    this.busy = false;
    const here = turn === this.turn && this.read()?.of === sent.of; // else another sheet has come meanwhile
    if (here && reply.state === "away") {
      Object.assign(this, { lost: sent, due: false });
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.save(), AGAIN);
    }
    if (here) this.saved(sent, reply);
    if (this.due || (here && sent !== now && reply.status === 200 && !this.timer)) await this.save();
  }
}
