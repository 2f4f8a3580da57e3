// Every page: little things that need no page of their own.

// A button with data-opens="id" opens that dialog; data-copies="id" copies that element's text.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-opens], [data-copies]");
  if (!button) return;
  if (button.dataset.opens) document.getElementById(button.dataset.opens)?.showModal();
  if (button.dataset.copies) {
    const source = document.getElementById(button.dataset.copies);
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = button.dataset.copied ?? button.textContent;
  }
});

// A form with data-once sends one request however often it is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-once]");
  if (!form) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
});

// A select or checkbox with data-submits sends its form when it changes.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
});

// Nothing of a person stays on the device when they sign out.
document.addEventListener("submit", (event) => {
  if (!event.target.matches('form[action*="sign-out"]')) return;
  for (const key of Object.keys(localStorage)) if (key.startsWith("emic:")) localStorage.removeItem(key);
});
