// The tab that fills in parts of pictures.
import { postStream } from "./api.js";
import { $, el, pair, settingField, selectField, checkBytes, complain, fieldValue, loadImage, offer, kPictureTypes, duration, say } from "./ui.js";
import { seedField, nextSeed } from "./seed.js";
import { MaskEditor } from "./mask.js";
import { addShot, shotOf } from "./gallery.js";

const kFirst = ["count", "steps", "fast", "passes", "guidance"];
const kMore = ["match", "feather", "schedule", "temperature", "temperature-curve", "top-p", "mapping", "keep-last-unreliable"];
const kSides = ["left", "top", "right", "bottom"];

let info, editors, editor;
let picture = null;   // {blob, name}
let run = null;

const model = () => editors.find((one) => one.name === $("edit-model").value) ?? editors[0];

export function startEdit(theInfo) {
  info = theInfo;
  editors = info.models.filter((one) => one.edits);
  editor = new MaskEditor($("edit-canvas"), update);
  if (!editors.length) {
    $("edit-fields").append(el("p", {}, "No model here edits pictures. Start the server with an ADDP model (--model)."));
    return;
  }
  const byName = new Map(info.edit.map((one) => [one.name, one]));
  const labels = { count: "variants", "temperature-curve": "temperature curve", "keep-last-unreliable": "keep the last unreliable" };
  $("edit-fields").append(
    selectField("edit-model", "model", "which of the server's models", editors.map((one) => [one.name, one.name])),
    selectField("edit-class", "class", "the kind of picture that it becomes", []),
    seedField("edit", byName.get("seed")),
    ...kFirst.map((name) => settingField(byName.get(name), "edit", labels[name])));
  $("edit-more").append(...kMore.map((name) => settingField(byName.get(name), "edit", labels[name])));
  pair("edit-count", "edit-steps");
  $("edit-count").value = 4;
  fillClasses();
  $("edit-model").addEventListener("change", fillClasses);
  $("edit-class").addEventListener("change", () => { $("edit-guidance").disabled = !$("edit-class").value; });
  $("edit-form").addEventListener("submit", (event) => { event.preventDefault(); fill(); });
  $("edit-stop").addEventListener("click", () => run?.abort.abort());
  for (const id of ["edit-open", "edit-hint"]) $(id).addEventListener("click", () => $("edit-file").click());
  $("edit-file").addEventListener("change", () => { if ($("edit-file").files[0]) openPicture($("edit-file").files[0]); });
  for (const side of kSides) startMargin(side);
  startTools();
}

function startMargin(side) {
  const input = $(`edit-${side}`);
  let typing = false;  // one step of the history, however many digits
  input.addEventListener("input", () => {
    if (!typing) editor.remember();
    typing = true;
    editor.setMargin(side, Number(input.value) || 0);
  });
  input.addEventListener("change", () => {
    typing = false;
    editor.fit();
  });
}

function fillClasses() {
  const classes = model().classes;
  $("edit-class").replaceChildren(el("option", { value: "" }, "whatever fits"), ...classes.map((name) => el("option", { value: name }, name)));
  $("edit-class").disabled = !classes.length;
  $("edit-guidance").disabled = true;
  offer("edit-fast", model().fast);
}

function chooseTool(name) {
  editor.tool = name;
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.setAttribute("aria-checked", String(button.dataset.tool === name));
  }
  editor.draw();
}

function startTools() {
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.addEventListener("click", () => chooseTool(button.dataset.tool));
  }
  $("brush-size").addEventListener("input", () => { editor.size = Number($("brush-size").value); editor.draw(); });
  const clicks = {
    "edit-undo": () => editor.undo(), "edit-redo": () => editor.redo(), "edit-invert": () => editor.invert(),
    "edit-clear": () => editor.clear(), "zoom-in": () => editor.zoom(1.3), "zoom-out": () => editor.zoom(1 / 1.3), "zoom-fit": () => editor.fit(),
  };
  for (const [id, action] of Object.entries(clicks)) $(id).addEventListener("click", () => picture && action());
  document.addEventListener("keydown", shortcut);
  $("compare-range").addEventListener("input", compare);
  for (const kind of ["pointerdown", "pointermove"]) $("compare").addEventListener(kind, slide);
  $("variant-use").addEventListener("click", () => openPicture(run.shots[run.chosen].blob, "variant.png"));
  $("variant-keep").addEventListener("click", () => { addShot(run.shots[run.chosen]); say("It is in the gallery."); });
  $("edit-canvas").addEventListener("contextmenu", (event) => event.preventDefault());
}

function shortcut(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "range";
  if ($("edit").hidden || typing || !picture) return;
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") { event.shiftKey ? editor.redo() : editor.undo(); event.preventDefault(); }
    if (key === "y") { editor.redo(); event.preventDefault(); }
    if (key === "enter") fill();
    return;
  }
  const keys = {
    b: () => chooseTool("brush"), e: () => chooseTool("eraser"), r: () => chooseTool("box"), l: () => chooseTool("lasso"), h: () => chooseTool("pan"),
    i: () => editor.invert(), delete: () => editor.clear(), "[": () => editor.resizeBrush(-1), "]": () => editor.resizeBrush(1),
    "+": () => editor.zoom(1.3), "-": () => editor.zoom(1 / 1.3), 0: () => editor.fit(),
  };
  keys[key]?.();
}

function update() {
  $("edit-undo").disabled = !editor.undos.length;
  $("edit-redo").disabled = !editor.redos.length;
  $("brush-size").value = editor.size;
  for (const side of kSides) {
    if (document.activeElement !== $(`edit-${side}`)) $(`edit-${side}`).value = editor.margins[side];
  }
  const { width, height } = editor.frame(), added = width * height - editor.width * editor.height;
  const hidden = editor.hiddenPixels() + added;
  $("edit-info").textContent = picture ? `${picture.name}, ${width}×${height} pixels, ${hidden} to fill in` : "";
  $("edit-go").disabled = !picture || !editors?.length || Boolean(run?.running) || hidden === 0;
}

export async function openPicture(blob, name = blob.name ?? "picture") {
  if (blob.type && !kPictureTypes.includes(blob.type)) return say("That is no PNG, JPEG or WebP picture.", true);
  const address = URL.createObjectURL(blob);
  try {
    checkBytes(blob, info.limits);
    const image = await loadImage(address);
    if (image.naturalWidth * image.naturalHeight > info.limits.canvas_pixels) {
      throw new Error(`pictures of up to ${Math.round(info.limits.canvas_pixels / 1e6)} megapixels can be edited; make it smaller first`);
    }
    if (picture) URL.revokeObjectURL(picture.address);
    picture = { blob, name, address, image };
    $("edit-hint").hidden = true;
    $("edit-results").hidden = true;
    editor.open(image);
  } catch (error) {
    URL.revokeObjectURL(address);
    complain(error);
  }
}

function form(mask) {
  const data = new FormData();
  data.append("image", picture.blob, "picture");
  if (mask) data.append("mask", mask, "mask.png");
  data.append("stream", "true");
  data.append("model", $("edit-model").value);
  data.append("seed", $("edit-seed").value);
  if ($("edit-class").value) data.append("class", $("edit-class").value);
  for (const name of [...kFirst, ...kMore]) {
    const value = fieldValue($(`edit-${name}`));
    if (value !== undefined) data.append(name, value);
  }
  for (const side of kSides) data.append(side, editor.margins[side]);
  return data;
}

async function fill() {
  if (!picture || $("edit-go").disabled) return;
  run = { abort: new AbortController(), running: true, shots: [], chosen: 0, window: null, began: performance.now(), before: picture.image, margins: { ...editor.margins } };
  $("edit-stop").disabled = false;
  update();
  $("edit-status").textContent = "waiting for the others in the queue";
  $("edit-progress").hidden = false;
  $("edit-progress").value = 0;
  try {
    const mask = editor.hiddenPixels() ? await editor.maskBlob() : null;
    await postStream("/api/inpaint", form(mask), {
      window: (window) => { run.window = window; },
      step: showStep,
      picture: (made) => { run.shots[made.picture] = { ...shotOf(made, {}), edited: true }; },
    }, run.abort.signal);
    nextSeed("edit");
    $("edit-status").textContent = duration((performance.now() - run.began) / 1000);
    showVariants();
  } catch (error) {
    $("edit-status").textContent = error.name === "AbortError" ? "stopped" : "failed";
    complain(error);
  } finally {
    run.running = false;
    editor.preview = null;
    $("edit-stop").disabled = true;
    editor.draw();
    update();
  }
}

async function showStep(step) {
  $("edit-progress").value = (step.step + 1) / step.steps;
  $("edit-status").textContent = `step ${step.step + 1} of ${step.steps}`;
  if (step.picture !== 0 || !step.image || !run.window) return;
  editor.preview = { image: await loadImage(step.image), box: run.window.box };
  editor.draw();
}

// The picture as it was, on the larger canvas where margins were added.
async function beforeAddress(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  context.fillStyle = "#808080";
  context.fillRect(0, 0, width, height);
  context.drawImage(run.before, run.margins.left, run.margins.top);
  return canvas.toDataURL("image/png");
}

async function showVariants() {
  $("edit-results").hidden = false;
  $("compare-before").src = await beforeAddress(run.shots[0].width, run.shots[0].height);
  $("variants").replaceChildren(...run.shots.map((shot, i) => el("button", {
    type: "button", role: "listitem", "aria-label": `Variant ${i + 1}`, onclick: () => chooseVariant(i),
  }, el("img", { src: shot.address, alt: "" }))));
  chooseVariant(0);
}

function chooseVariant(index) {
  run.chosen = index;
  [...$("variants").children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
  const shot = run.shots[index];
  $("compare-after").src = shot.address;
  $("variant-download").href = shot.address;
  $("variant-download").download = `edited-${index}.png`;
  compare();
}

// The line follows a pointer that is pressed on the picture.
function slide(event) {
  if (!(event.buttons & 1)) return;
  event.preventDefault();
  const box = $("compare").getBoundingClientRect();
  $("compare-range").value = Math.round((100 * (event.clientX - box.left)) / box.width);
  compare();
}

function compare() {
  const share = Number($("compare-range").value);
  $("compare-clip").style.clipPath = `inset(0 0 0 ${share}%)`;
  $("compare-line").style.left = `${share}%`;
}
