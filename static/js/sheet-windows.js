// Other windows of this browser with the same sheet: they tell each other, and the server hears nothing of it.

/** `others(n)`: so many have this sheet, too; `answered(decided, from)`: one of them has submitted it, or changed or left it. */
export class Windows {
  constructor(person, { others, answered }) {
    Object.assign(this, { others, answered, id: String(Math.random()), of: null, ids: new Set(), past: new Map() });
    if (!("BroadcastChannel" in globalThis)) return;
    this.channel = new BroadcastChannel(`emic:${person}`);
    this.channel.onmessage = ({ data }) => this.hear(data);
    addEventListener("pagehide", () => this.tell("left"));
    addEventListener("pageshow", (event) => event.persisted && this.tell("here"));
  }

  /** A sheet is on the bench, or none. */
  begin(of) {
    if (of === this.of) return;
    this.tell("left");
    Object.assign(this, { of, ids: new Set() });
    this.tell("here");
    const from = this.past.get(of);
    if (this.past.delete(of)) setTimeout(() => of === this.of && this.answered(false, from)); // a reply from before brought it
  }

  /** `from`: what the sheet held that was answered. */
  tell(what, of = this.of, from = null) {
    if (of) this.channel?.postMessage({ what, of, id: this.id, from });
  }

  hear({ what, of, id, from }) {
    if (what === "answered" && of !== this.of) this.past.set(of, from);
    if (of !== this.of) return;
    if (what === "answered" || what === "decided") return this.answered(what === "decided", from);
    if (what === "left") this.ids.delete(id);
    else if (!this.ids.has(id)) {
      this.ids.add(id);
      this.tell("here"); // the other one knows it now, and is silent
    } else return;
    this.others(this.ids.size);
  }
}
