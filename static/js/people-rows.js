// The list of people: a name opens the person's part below their row. Without this script it leads to their page.
const table = document.querySelector(".people table");

function close(link, part) {
  part.remove();
  link.setAttribute("aria-expanded", "false");
  link.closest("tr").classList.remove("sel");
}

/** The answer's own document is parsed without being run; only the part of the person stands in the page. */
async function load(address) {
  const reply = await fetch(address, { credentials: "same-origin", redirect: "manual" });
  if (reply.status !== 200) throw new Error(reply.status);
  return document.adoptNode(new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("[data-part]"));
}

function place(link, content) {
  const row = link.closest("tr");
  const part = document.createElement("tr");
  const cell = part.insertCell();
  part.className = "pan";
  part.setAttribute("role", "row");
  cell.setAttribute("role", "cell");
  cell.colSpan = row.cells.length;
  cell.append(content);
  row.after(part);
  row.classList.add("sel");
  link.setAttribute("aria-expanded", "true");
}

table?.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-opens]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const next = link.closest("tr").nextElementSibling;
  if (next?.classList.contains("pan")) return close(link, next);
  if (link.dataset.loading) return;
  link.dataset.loading = "1";
  try {
    place(link, await load(link.dataset.opens));
  } catch {
    location.assign(link.href); // signed out, without a line, or not allowed any more: their page says it
  } finally {
    delete link.dataset.loading;
  }
});

// Escape inside a person's part closes it, and the focus goes back to the name.
table?.addEventListener("keydown", (event) => {
  const part = event.key === "Escape" ? event.target.closest("tr.pan") : null;
  const link = part?.previousElementSibling.querySelector("a[data-opens]");
  if (!link) return;
  close(link, part);
  link.focus();
});

for (const link of table?.querySelectorAll("a[data-opens]") ?? []) link.setAttribute("aria-expanded", "false");
