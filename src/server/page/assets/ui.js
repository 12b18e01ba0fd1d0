// Small helpers that every tab uses. Texts are always set as text, never as markup.

export const $ = (id) => document.getElementById(id);

// el("button", {class: "x", title: "y", onclick: f}, "text", child, ...)
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Drawn, because not every machine has a font with such signs.
const kIcons = {
  dice: ["M4 4h16v16H4z", "M8.5 8.5h.01M15.5 8.5h.01M12 12h.01M8.5 15.5h.01M15.5 15.5h.01"],
  locked: ["M6 11h12v9H6z", "M8.5 11V8a3.5 3.5 0 0 1 7 0v3"],
  unlocked: ["M6 11h12v9H6z", "M8.5 11V7.5a3.5 3.5 0 0 1 6.8-1.2"],
  play: ["M8 5l11 7-11 7z"],
  pause: ["M8 5v14M16 5v14"],
  theme: ["M12 4a8 8 0 1 0 0 16z", "M12 4a8 8 0 0 1 0 16"],
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" },
    ...kIcons[name].map((path) => svg("path", { d: path })));
}

export function say(message, isError = false) {
  const toast = el("div", { class: isError ? "toast error" : "toast" }, message);
  $("toasts").append(toast);
  setTimeout(() => toast.remove(), isError ? 9000 : 4000);
}

export function complain(error) {
  if (error.name === "AbortError") return;
  console.info(error.message);
  say(error.message.charAt(0).toUpperCase() + error.message.slice(1), true);
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export function loadImage(address) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error("this picture cannot be shown"));
    image.src = address;
  });
}

// Before it is sent: a body that is too large is only refused.
export function checkBytes(blob, limits) {
  const most = limits.body_bytes - (1 << 16);  // the other fields need room, too
  if (blob.size > most) throw new Error(`files of up to ${Math.floor(most / (1 << 20))} MiB can be sent, and this one has ${Math.ceil(blob.size / (1 << 20))}; make it smaller first`);
}

export const kPictureTypes = ["image/png", "image/jpeg", "image/webp"];

// A form field for a setting as the server describes it, with its line of help.
export function settingField(setting, prefix, label = setting.name) {
  const id = `${prefix}-${setting.name}`;
  const help = el("small", { id: `${id}-help` }, setting.help);
  let input;
  if (setting.choices) {
    input = el("select", { id, "aria-describedby": help.id },
      ...setting.choices.map((name) => el("option", { value: name }, name)));
    input.value = setting.default;
  } else if (setting.type === "boolean") {
    input = el("input", { id, type: "checkbox", "aria-describedby": help.id });
    input.checked = setting.default;
  } else if (setting.type === "string") {
    input = el("input", { id, type: "text", value: setting.default, "aria-describedby": help.id });
  } else {
    input = el("input", {
      id, type: "number", value: setting.default, min: setting.minimum, max: setting.maximum,
      step: setting.type === "integer" ? 1 : "any", "aria-describedby": help.id,
    });
  }
  return el("div", { class: "field" }, el("label", { for: id }, label), input, help);
}

// What a field holds, as the server takes it; undefined: it is left out.
export function fieldValue(input) {
  if (input.disabled) return undefined;
  if (input.type === "checkbox") return input.checked || undefined;
  if (input.value === "") return undefined;
  return input.type === "number" ? Number(input.value) : input.value;
}

// Two short fields side by side.
export function pair(first, second) {
  const fields = [first, second].map((id) => $(id).closest(".field"));
  const both = el("div", { class: "pair" });
  fields[0].before(both);
  both.append(...fields);
}

// A switch that only some models know is not there for the others.
export function offer(id, there) {
  $(id).disabled = !there;
  $(id).closest(".field").hidden = !there;
}

export function selectField(id, label, help, choices) {
  const select = el("select", { id, "aria-describedby": `${id}-help` },
    ...choices.map(([value, text]) => el("option", { value }, text)));
  return el("div", { class: "field" }, el("label", { for: id }, label), select,
    el("small", { id: `${id}-help` }, help));
}
