// How fast it goes, from the time somebody is at work: the page is seen, and somebody moved in the last half minute.
// Lives as long as the page: the sheets of a sitting are counted together.

const IDLE = 30_000;
const WINDOW = 600; // seconds
const STEP = 60; // of the line that is drawn
export const FEWEST = 5;

let active = 0, ticked = Date.now(), moved = Date.now();
let log = []; // { at: active seconds, pictures, keys }, oldest first

function tick() {
  const now = Date.now();
  if (!document.hidden && now - moved <= IDLE) active += Math.min(now - ticked, 2000) / 1000;
  ticked = now;
}
setInterval(tick, 1000);
for (const type of ["pointerdown", "pointermove", "keydown", "wheel"])
  addEventListener(type, () => (moved = Date.now()), { passive: true, capture: true });

/** Something was done: so many pictures more (or fewer, after an undo), with so many keys or touches. */
export function count(pictures, keys) {
  tick();
  log.push({ at: active, pictures, keys });
  if (log.length > 20_000) log = log.slice(-10_000);
}

const sum = (rows, what) => rows.reduce((total, row) => total + row[what], 0);
const hourly = (rows, seconds) => (seconds > 0 ? (sum(rows, "pictures") / seconds) * 3600 : 0);

/** { rate, keys, all, minutes, line: [pictures an hour, oldest first] }; null before the fifth picture. */
export function pace() {
  tick();
  const since = Math.max(0, active - WINDOW);
  const rows = log.filter((row) => row.at >= since);
  const pictures = sum(rows, "pictures");
  if (pictures < FEWEST || active < 2) return null;
  const span = active - since;
  const steps = Math.max(1, Math.ceil(span / STEP));
  const line = Array.from({ length: steps + 1 }, (_one, step) => {
    const to = since + (span * step) / steps;
    const from = Math.max(since, to - STEP);
    return hourly(rows.filter((row) => row.at > from && row.at <= to), to - from);
  });
  line[0] = line[1];
  return { rate: hourly(rows, span), keys: sum(rows, "keys") / pictures, all: hourly(log, active), minutes: span / 60, line };
}

/** The line as a path in a box of 300 by 36: the newest at the end of it. */
export function drawn({ line }) {
  const most = Math.max(...line, 1);
  const points = line.map((value, step) => [(300 * (10 - (line.length - 1 - step))) / 10, 38 - (32 * Math.max(0, value)) / most]);
  return { path: `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`, end: points.at(-1) };
}
