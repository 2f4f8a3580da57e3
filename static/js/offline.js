// The page that stands in for others without a line: how many answers wait here, and what the person took along.
import { packsHere } from "./device-packs.js";
import { restoreAnswers } from "./device-storage.js";

const person = document.body.dataset.person;
function unsent() {
  try {
    return JSON.parse(localStorage.getItem(`emic:${person}:outbox`)) ?? [];
  } catch {
    return [];
  }
}

/** The page that was asked for, if it is one of this site. */
function wanted() {
  const from = new URLSearchParams(location.search).get("from") ?? "";
  return /^\/(?![/\\])/.test(from) && from !== location.pathname ? from : "/work/";
}

const back = () => location.replace(wanted());
document.getElementById("again").href = wanted();
addEventListener("online", back);
document.addEventListener("click", ({ target }) => target.closest("a") && removeEventListener("online", back)); // they go elsewhere

await restoreAnswers(person);
const waits = document.getElementById("waiting");
waits.textContent = waits.dataset.words.replace("NUMBER", unsent().length);
document.getElementById("sent").hidden = !unsent().length;
const list = document.getElementById("packs");
for (const { name, page, ends } of await packsHere(person)) {
  const row = Object.assign(document.createElement("li"), { className: "row" });
  const link = Object.assign(document.createElement("a"), { className: "btn go", href: page, dir: "auto", textContent: name });
  const note = Object.assign(document.createElement("p"), { className: "note", textContent: list.dataset.words.replace("TIME", ends) });
  row.append(link, note);
  list.append(row);
}
document.getElementById("nothing").hidden = list.children.length > 0;
