// The matrix as one stop of the Tab key: arrows, Home and End move from cell to cell. Without this every cell is a stop.
const table = document.querySelector("[data-matrix]");
const rows = table ? [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td")].map((cell) => cell.firstElementChild)) : [];
const links = rows.flat().filter((one) => one?.matches("a"));
const start = links.find((one) => one.ariaCurrent) ?? links[0];
for (const one of links) one.tabIndex = one === start ? 0 : -1;

function next(row, column, down, across) {
  let [r, c] = [row + down, column + across];
  while (rows[r]?.[c] && !rows[r][c].matches("a")) [r, c] = [r + down, c + across];
  return rows[r]?.[c];
}

table?.addEventListener("keydown", (event) => {
  const row = rows.findIndex((one) => one.includes(event.target));
  if (row < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const column = rows[row].indexOf(event.target);
  const across = document.documentElement.dir === "rtl" ? -1 : 1;
  const ends = rows[row].filter((one) => one.matches("a"));
  const to = {
    ArrowUp: () => next(row, column, -1, 0),
    ArrowDown: () => next(row, column, 1, 0),
    ArrowRight: () => next(row, column, 0, across),
    ArrowLeft: () => next(row, column, 0, -across),
    Home: () => ends[0],
    End: () => ends.at(-1),
  }[event.key]?.();
  if (!to) return;
  event.preventDefault();
  for (const one of links) one.tabIndex = one === to ? 0 : -1;
  to.focus();
});

// A cell that was opened is read out: the page came back with its address.
if (location.hash === "#hole") document.getElementById("hole")?.focus({ preventScroll: true });
