// A seed with its dice and its lock: unlocked, every call takes the next one.
import { $, el, icon } from "./ui.js";

export function seedField(prefix, setting) {
  const id = `${prefix}-seed`;
  return el("div", { class: "field" },
    el("label", { for: id }, "seed"),
    el("div", { class: "with" },
      el("input", { id, type: "number", min: setting.minimum, max: setting.maximum, step: 1, value: Math.floor(Math.random() * 1e9), "aria-describedby": `${id}-help` }),
      el("button", {
        type: "button", class: "icon", id: `${prefix}-dice`, "aria-label": "Another seed", title: "Another seed",
        onclick: () => { $(id).value = Math.floor(Math.random() * 1e9); },
      }, icon("dice")),
      el("button", {
        type: "button", class: "icon", id: `${prefix}-lock`, "aria-pressed": "false", "aria-label": "Keep the seed", title: "Keep the seed",
        onclick: () => lockSeed(prefix, !isLocked(prefix)),
      }, icon("unlocked"))),
    el("small", { id: `${id}-help` }, `${setting.help}; unlocked, every call takes the next one`));
}

const isLocked = (prefix) => $(`${prefix}-lock`).getAttribute("aria-pressed") === "true";

export function lockSeed(prefix, locked = true) {
  $(`${prefix}-lock`).setAttribute("aria-pressed", String(locked));
  $(`${prefix}-lock`).replaceChildren(icon(locked ? "locked" : "unlocked"));
}

export function nextSeed(prefix) {
  if (!isLocked(prefix)) $(`${prefix}-seed`).value = Number($(`${prefix}-seed`).value) + 1;
}
