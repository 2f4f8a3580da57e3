// What a field's or a display's own script needs of the sheet page. sheet.js fills it; the modules only use it.

const parts = [];
let here = null;

/** Called with { bench, form, assignment, stage } for each sheet that comes before the person; at once if one is there. */
export function onSheet(act) {
  parts.push(act);
  if (here) act(here);
}

/** A sheet is on the bench. For sheet.js alone. */
export function begun(sheet) {
  here = sheet;
  measured.clear();
  for (const act of parts) act(sheet);
}

const keys = [];

/** `act(event, key)` is asked before the sheet's own keys, unless somebody types or a dialog is open; true: it was it. */
export const onKey = (act) => keys.push(act);
export const pressed = (event, key) => keys.some((act) => act(event, key) === true);

const holds = [];

/** `act(form)` is asked before an answer goes out; true: it stays, and the script has said why. */
export const onSubmit = (act) => holds.push(act);
export const stays = (form) => holds.some((act) => act(form) === true);

/** What a field's script measures, under the names that a sheet's rules use, such as "region.area". Emptied with each sheet. */
export const measured = new Map();

/** An answer was changed by a script: it is drafted as if it had been typed. */
export const changed = (input) => input.dispatchEvent(new Event("input", { bubbles: true }));

/**
 * A short text that changes while the person works. A new text node makes the browser match every rule with `:has()` of
 * the page again, 30 ms a key on a sheet of 200 pictures and a slow phone; new characters in the same node do not.
 */
export function setText(element, text) {
  const node = element.firstChild;
  if (node?.nodeType === Node.TEXT_NODE && node === element.lastChild && text !== "") node.data = text;
  else element.textContent = text;
}

/** Said to those who listen to the page. */
export function announce(words) {
  document.getElementById("said").textContent = words;
}
