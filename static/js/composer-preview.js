// The preview of a sheet: what a field's or a display's own script does is done, and nothing is sent.
import { begun } from "./sheet-parts.js";

const bench = document.getElementById("bench");
const form = document.getElementById("main");
document.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link) event.preventDefault();
  const opens = event.target.closest("[data-dialog]");
  if (opens) document.getElementById(opens.dataset.dialog)?.showModal();
  const button = event.target.closest("dialog button");
  if (button) button.closest("dialog").close();
});
if (bench && form?.matches("form")) begun({ bench, form, assignment: null, stage: bench.querySelector(".stage") });
