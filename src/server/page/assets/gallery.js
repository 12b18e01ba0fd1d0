// Finished pictures, kept in this page.
import { $, el, bytesOf, download } from "./ui.js";

const kMost = 200;
const shots = [];
let actions = {};

// `handlers`: again(shot), edit(shot), recognise(shot)
export function startGallery(handlers) {
  actions = handlers;
  $("gallery-clear").addEventListener("click", () => {
    for (const shot of shots) URL.revokeObjectURL(shot.address);
    shots.length = 0;
    $("gallery").replaceChildren();
    $("gallery-empty").hidden = false;
  });
}

// From the server's JSON of a picture.
export function shotOf(picture, settings) {
  const blob = new Blob([bytesOf(picture.png)], { type: "image/png" });
  const name = `addp-${picture.class ? picture.class.replace(/[^A-Za-z0-9]+/g, "-") + "-" : ""}${picture.seed}-${picture.number}.png`;
  return { ...picture, png: undefined, blob, name, settings, address: URL.createObjectURL(blob) };
}

function card(shot) {
  const title = `${shot.edited ? "edited" : shot.class ?? "picture"} · seed ${shot.seed}${shot.number ? ` #${shot.number}` : ""}`;
  return el("div", { class: "shot", role: "listitem" },
    el("img", { src: shot.address, alt: title, title }),
    el("div", { class: "text" }, title),
    el("div", { class: "does" },
      el("button", { type: "button", onclick: () => download(shot.blob, shot.name), title: "PNG with its recipe inside" }, "Download"),
      el("button", {
        type: "button", onclick: () => actions.again(shot), disabled: Boolean(shot.edited),
        title: shot.edited ? "Edited pictures are made again on the Edit tab" : "Again with this seed and these settings",
      }, "Again"),
      el("button", { type: "button", onclick: () => actions.edit(shot) }, "Edit"),
      el("button", { type: "button", onclick: () => actions.recognise(shot) }, "What is it?")));
}

export function addShot(shot) {
  shots.unshift(shot);
  $("gallery").prepend(card(shot));
  $("gallery-empty").hidden = true;
  while (shots.length > kMost) {
    URL.revokeObjectURL(shots.pop().address);
    $("gallery").lastElementChild.remove();
  }
}
