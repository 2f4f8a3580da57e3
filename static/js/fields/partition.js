// Pictures as a partition: who is a duplicate of whom, and what is kept. Pure: no page. The server's twin is
// annotation/fields/grouping/spec.py. Pictures are numbered from 0 in the order of the sheet.

const OPEN = { act: "", group: -1, role: "" };

export class Partition {
  constructor(names) {
    this.names = names;
    this.at = new Map(names.map((name, index) => [name, index]));
    this.state = names.map(() => OPEN); // entries are never changed, only replaced: a step back puts the old ones in
    this.steps = [];
    this.free = 0;
  }

  get(index) {
    return this.state[index];
  }

  get decided() {
    return this.state.reduce((sum, one) => sum + (one.act !== ""), 0);
  }

  members(group) {
    return this.state.flatMap((one, index) => (group >= 0 && one.group === group ? [index] : []));
  }

  /** The picture that stands for a group: the first that is kept of it. */
  keptOf(index) {
    const { act, group } = this.state[index];
    if (act === "keep") return index;
    return this.members(group).find((one) => this.state[one].act === "keep") ?? index;
  }

  /** The first that is open after `index`, going round; -1 when there is none. */
  nextOpen(index) {
    const count = this.names.length;
    for (let step = 1; step <= count; step++) if (!this.state[(index + step) % count].act) return (index + step) % count;
    return -1;
  }

  // ---- decisions: each is one step that can be taken back; false when nothing changed

  /** Kept, and a duplicate of nothing: it leaves the group it was in. What `role` says keeps it beside another. */
  keep(index, role = "") {
    const now = this.state[index];
    if (now.act === "keep" && now.role === role) return false;
    return this.step(index, () => {
      if (now.act !== "keep") this.leave(index);
      this.put(index, { act: "keep", group: now.act === "keep" ? now.group : this.free++, role });
    });
  }

  /** A duplicate of `other`: their two groups are one from now on, and `index` is not kept. */
  same(index, other, role = "") {
    const [now, to] = [this.state[index], this.state[other]];
    if (index === other || index < 0 || other < 0) return false;
    if (now.act === "same" && now.group === to.group && now.role === role) return false;
    return this.step(index, () => {
      if (to.group < 0 || to.act === "unsure") this.put(other, { act: "keep", group: this.free++, role: "" });
      const group = this.state[other].group;
      if (now.act === "unsure") this.leave(index);
      else for (const one of this.members(now.group)) this.put(one, { ...this.state[one], group });
      this.put(index, { act: "same", group, role });
      if (!this.members(group).some((one) => this.state[one].act === "keep")) this.put(other, { act: "keep", group, role: "" });
    });
  }

  drop(index) {
    if (this.state[index].act === "drop") return false;
    return this.step(index, () => {
      this.leave(index);
      this.put(index, { act: "drop", group: -1, role: "" });
    });
  }

  unsure(index) {
    if (this.state[index].act === "unsure") return false;
    return this.step(index, () => {
      this.leave(index);
      this.put(index, { act: "unsure", group: this.free++, role: "" });
    });
  }

  /** Keep several at once, as one step. */
  keepAll(indexes) {
    if (!indexes.length) return false;
    return this.step(indexes[0], () => {
      for (const one of indexes) this.put(one, { act: "keep", group: this.free++, role: "" });
    });
  }

  /** Take the last step back: { index, count, changed }, or null. `count`: how many pictures are open again. */
  undo() {
    const step = this.steps.pop();
    if (!step) return null;
    const before = this.decided;
    for (const [index, old] of step.old) this.state[index] = old;
    return { index: step.index, count: before - this.decided, changed: [...step.old.keys()] };
  }

  step(index, act) {
    const step = { index, old: new Map() };
    this.steps.push(step);
    act();
    return [...step.old.keys()];
  }

  put(index, entry) {
    const { old } = this.steps.at(-1);
    if (!old.has(index)) old.set(index, this.state[index]);
    this.state[index] = entry;
  }

  /** Out of its group. What stays behind keeps one: the first, if the one that was kept went. */
  leave(index) {
    const rest = this.members(this.state[index].group).filter((one) => one !== index);
    this.put(index, OPEN);
    if (rest.length && !rest.some((one) => this.state[one].act === "keep"))
      this.put(rest[0], { ...this.state[rest[0]], act: "keep", role: "" });
  }

  // ---- as the server reads it

  /** The answer so far; "" when nothing is decided. Pictures that are open stand nowhere in it. */
  toJSON() {
    const groups = new Map();
    const parts = { groups: [], dropped: [], unsure: [] };
    this.state.forEach(({ act, group, role }, index) => {
      const name = this.names[index];
      if (act === "drop") parts.dropped.push(name);
      if (act === "unsure") parts.unsure.push(name);
      if (group < 0) return;
      if (!groups.has(group)) parts.groups.push(groups.set(group, { images: [], kept: [], roles: {} }).get(group));
      groups.get(group).images.push(name);
      if (act === "keep") groups.get(group).kept.push(name);
      if (role) groups.get(group).roles[name] = role;
    });
    return this.decided ? parts : "";
  }

  /** Take up an answer, or a part of one. What is not a picture of this sheet is passed over. */
  load(answer) {
    this.state = this.names.map(() => OPEN);
    this.steps = [];
    const put = (name, entry) => this.at.has(name) && (this.state[this.at.get(name)] = { role: "", ...entry });
    for (const { images = [], kept = [], roles = {} } of answer?.groups ?? []) {
      const group = this.free++;
      for (const name of images) put(name, { act: kept.includes(name) ? "keep" : "same", group, role: roles[name] ?? "" });
      const own = this.members(group);
      if (own.length && !own.some((one) => this.state[one].act === "keep")) put(this.names[own[0]], { act: "keep", group });
    }
    for (const name of answer?.dropped ?? []) put(name, { act: "drop", group: -1 });
    for (const name of answer?.unsure ?? []) put(name, { act: "unsure", group: this.free++ });
  }
}
