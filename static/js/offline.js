// The page that stands in for others without a line: how many answers wait here, and what the person took along.
const person = document.body.dataset.person;
const read = (name) => {
  try {
    return JSON.parse(localStorage.getItem(`emic:${person}:${name}`)) ?? [];
  } catch {
    return [];
  }
};

const waits = document.getElementById("waiting");
waits.textContent = waits.dataset.words.replace("NUMBER", read("outbox").length);
document.getElementById("sent").hidden = !read("outbox").length;
const list = document.getElementById("packs");
for (const { name, page, ends } of read("packs")) {
  const row = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { className: "btn go", href: page, dir: "auto", textContent: name });
  const note = Object.assign(document.createElement("span"), { className: "note", textContent: list.dataset.words.replace("TIME", ends) });
  row.append(link, " ", note);
  list.append(row);
}
document.getElementById("nothing").hidden = list.children.length > 0;

/** The page that was asked for, if it is one of this site. */
function wanted() {
  const from = new URLSearchParams(location.search).get("from") ?? "";
  return /^\/(?![/\\])/.test(from) && from !== location.pathname ? from : "/work/";
}

const back = () => location.replace(wanted());
document.getElementById("again").href = wanted();
addEventListener("online", back);
