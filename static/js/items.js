// J and K go to the next and the earlier item, as the links say.
const GOES = { j: "next", k: "prev" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  const rel = GOES[event.key.toLowerCase()];
  document.querySelector(`a[rel="${rel}"]`)?.click();
});
