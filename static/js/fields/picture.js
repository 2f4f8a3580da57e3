// A picture that the person brings: sent with its progress, seen before it is submitted, replaced, cleared.
import { announce, changed, onSheet, onSubmit } from "../sheet-parts.js";
import { csrf, onReturn, signIn } from "../sheet-session.js";

let here = []; // the picture fields of the sheet in hand

onSheet(({ form, bench }) => {
  for (const one of here) one.request?.abort();
  here = [...form.querySelectorAll("[data-sha]")].map((sha) => new Bringer(sha.closest("[data-field]"), bench));
  form.addEventListener("put", () => here.forEach((one) => one.drawn()));
});
const again = (signedIn) => here.forEach((one) => one.waits && one.again(signedIn));
addEventListener("online", () => again(false));
onReturn(() => again(true));
onSubmit(() => {
  const busy = here.find((one) => one.request);
  if (busy) announce(busy.part("words").textContent);
  return Boolean(busy);
});

class Bringer {
  constructor(field, bench) {
    Object.assign(this, { field, url: `${bench.dataset.base}picture`, request: null, last: null });
    this.part = (name) => field.querySelector(`[data-${name}]`);
    this.file = field.querySelector("[type=file]");
    this.address = field.querySelector("[name^=l-]");
    for (const button of field.querySelectorAll("[data-do]")) {
      button.type = "button";
      button.hidden = false;
      button.addEventListener("click", () => this[button.dataset.do]());
    }
    this.file.addEventListener("change", () => this.file.files[0] && this.send("file", this.file.files[0]));
    this.address.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault(); // the address is brought; the sheet is not sent yet
      event.stopPropagation();
      this.bring();
    });
    this.part("licence").addEventListener("change", () => this.licence());
    this.licence();
    this.look();
  }

  get waits() {
    return this.last !== null && this.request === null;
  }

  /** Show what is there. After a reload the number of the picture may be known, and its address not. */
  async look() {
    const sha = this.part("sha").value;
    const came = this.part("came");
    this.part("bring").hidden = Boolean(sha);
    if (!sha || !came.hidden) return void (came.hidden = !sha);
    const reply = await fetch(this.url, { headers: { "X-Requested-With": "emic" }, redirect: "manual" }).catch(() => null);
    const found = reply?.ok ? (await reply.json()).pictures.find((one) => one.sha === sha) : null;
    if (found) this.show(found);
    else this.part("bring").hidden = false;
  }

  /** Another picture than the one on the page may have been put into the form. */
  drawn() {
    this.part("came").hidden = true;
    this.licence();
    this.look();
  }

  show({ preview, width, height }) {
    const image = this.part("came").querySelector("img");
    for (const name of ["srcset", "sizes"]) image.removeAttribute(name);
    Object.assign(image, { src: preview, width, height });
    const size = document.createElement("bdi");
    Object.assign(size, { dir: "ltr", textContent: `${width} × ${height}` });
    this.part("size").replaceChildren(size);
    this.part("came").hidden = false;
    this.part("bring").hidden = true;
  }

  licence() {
    const select = this.part("licence");
    this.part("other").hidden = select.selectedIndex < select.options.length - 1; // the last one is: in words
  }

  bring() {
    const url = this.address.value.trim();
    if (url) this.send("url", url);
    else this.address.focus();
  }

  /** `signedIn`: it goes out again since the person is known to be signed in. */
  send(kind, what, signedIn = false) {
    this.request?.abort();
    this.last = [kind, what];
    this.part("failed").hidden = true;
    const most = Number(this.field.dataset.most);
    if (kind === "file" && what.size > most * 1024 * 1024) return this.fail(this.field.dataset.saidLarge, true);
    const body = new FormData();
    body.append(kind, what);
    const request = (this.request = new XMLHttpRequest());
    request.open("POST", this.url);
    request.setRequestHeader("X-Requested-With", "emic");
    request.setRequestHeader("X-CSRFToken", csrf());
    const bar = this.part("way").querySelector("progress");
    bar.removeAttribute("value");
    request.upload.onprogress = ({ loaded, total }) => kind === "file" && (bar.value = (100 * loaded) / total);
    request.onload = () => this.replied(request, kind, signedIn);
    request.onerror = () => this.fail(this.field.dataset.saidAway);
    request.send(body);
    this.going(this.field.dataset[kind === "file" ? "saidSending" : "saidFetching"]);
  }

  going(words) {
    this.part("way").hidden = !words;
    this.part("words").textContent = words;
    for (const one of [this.file, this.address, ...this.field.querySelectorAll(".sources .btn")]) one.disabled = Boolean(words);
    if (words) announce(words);
  }

  replied(request, kind, signedIn) {
    const json = request.getResponseHeader("content-type")?.includes("json") ? JSON.parse(request.responseText) : null;
    if (request.status === 200 && json?.sha) return this.came(json, kind);
    if (request.status === 422 && json) return this.fail(json.words, true);
    this.fail(request.status === 413 ? this.field.dataset.saidLarge : this.field.dataset.saidFailed);
    // A page instead of an answer: the sign-in page. Once the person is back, it goes out again; if that brings a page,
    // too, it is another one, as of a filter in front of the site.
    if (!signedIn && (request.status === 403 || request.status === 200)) signIn(true);
  }

  came(found, kind) {
    this.request = this.last = null;
    this.going("");
    this.part("sha").value = found.sha;
    this.part("kind").value = kind;
    this.show(found);
    this.file.value = this.address.value = "";
    changed(this.part("sha"));
    this.field.querySelector("[data-do=replace]").focus({ preventScroll: true });
    announce(this.field.dataset.saidCame.replace("WIDTH", found.width).replace("HEIGHT", found.height));
  }

  /** `final`: sending the same again would not help. */
  fail(words, final = false) {
    this.request = null;
    this.going("");
    const box = this.part("failed");
    box.querySelector("span").textContent = words;
    box.querySelector("button").hidden = final;
    box.hidden = false;
    if (final) this.last = null;
    if (final) this.file.value = "";
    announce(words);
  }

  again(signedIn = false) {
    if (this.last) this.send(...this.last, signedIn);
  }

  cancel() {
    this.request?.abort();
    this.request = this.last = null;
    this.going("");
    this.file.value = "";
    announce(this.field.dataset.saidCancelled);
    this.focus();
  }

  /** `capture` opens the camera at once on a phone, if the field takes any picture; elsewhere a choice of files. */
  camera() {
    const input = Object.assign(document.createElement("input"), { type: "file", accept: "image/*", hidden: true });
    input.setAttribute("capture", "environment");
    for (const type of ["change", "cancel"]) input.addEventListener(type, () => {
      input.remove();
      if (input.files[0]) this.send("file", input.files[0]);
    });
    this.field.append(input); // some browsers open nothing for an input that is on no page
    input.click();
  }

  gallery() {
    this.file.click();
  }

  /** Where one brings a picture from: the buttons for fingers, else the field. */
  focus() {
    const button = this.field.querySelector(".sources .btn");
    (button.checkVisibility?.() ? button : this.file).focus();
  }

  replace() {
    this.part("bring").hidden = false;
    this.focus();
  }

  clear() {
    this.part("sha").value = this.part("kind").value = "";
    this.part("came").hidden = true;
    this.part("bring").hidden = false;
    changed(this.part("sha"));
    this.focus();
    announce(this.field.dataset.saidCleared);
  }
}
