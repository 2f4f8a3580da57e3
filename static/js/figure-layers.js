// Boxes of a figure by their number: a checkbox, or its key while the focus is inside the figure, shows or hides them.
for (const choices of document.querySelectorAll("fieldset.layers")) {
  const figure = choices.closest(".drawn");
  const show = (choice) => {
    for (const layer of figure.querySelectorAll(`[data-layer="${choice.value}"]`)) layer.classList.toggle("off", !choice.checked);
  };
  choices.hidden = false;
  choices.addEventListener("change", (event) => show(event.target));
  figure.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, textarea, input:not([type=checkbox])")) return;
    const choice = /^[1-9]$/.test(event.key) ? choices.querySelector(`[value="${event.key}"]`) : null;
    if (!choice) return;
    choice.checked = !choice.checked;
    show(choice);
    event.preventDefault();
  });
}
