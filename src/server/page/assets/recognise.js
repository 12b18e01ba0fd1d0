// The tab that looks at pictures: classes, things, label maps, neighbours.
import { postPicture } from "./api.js";
import { $, el, selectField, checkBytes, complain, loadImage, kPictureTypes, bytesOf, download, say } from "./ui.js";
import { eachMaskPixel } from "./rle.js";

const kKinds = [  // kind of model, route, label, help
  ["classifier", "classify", "classes", "which classifier names the picture"],
  ["detector", "detect", "things", "which detector looks for things in it"],
  ["segmenter", "segment", "label map", "which segmenter names every pixel"],
];
const kShows = { boxes: "detector", masks: "detector", names: "detector", labels: "segmenter" };
const kCrowd = 8;  // more things than this: names only where their boxes are wide enough
const kLargest = 1024;  // pixels of a drawing's longer side

let info;
const results = [];    // {name, blob, width, height, classify, detect, segment, neighbours, canvas, ...}
let queue = Promise.resolve();

export function startRecognise(theInfo) {
  info = theInfo;
  const has = (kind) => info.models.some((one) => one.kind === kind);
  for (const [kind, , title, help] of kKinds) {
    const models = info.models.filter((one) => one.kind === kind);
    if (!models.length) continue;
    $("recognise-models").append(selectField(`recognise-${kind}`, title, help,
      [...models.map((one) => [one.name, one.name]), ["", "none"]]));
  }
  for (const [what, kind] of Object.entries(kShows)) $(`show-${what}`).closest("label").hidden = !has(kind);
  $("recognise-show").hidden = !Object.values(kShows).some(has);
  $("threshold").closest(".field").hidden = !has("detector");
  if (!kKinds.some(([kind]) => has(kind))) {
    $("recognise-models").append(el("p", {}, "No model here recognises pictures. Start the server with a classifier, a detector or a segmenter (--model)."));
  }
  $("recognise-open").addEventListener("click", () => $("recognise-file").click());
  $("recognise-folder").addEventListener("click", () => $("recognise-dir").click());
  for (const id of ["recognise-file", "recognise-dir"]) {
    $(id).addEventListener("change", () => { addFiles([...$(id).files]); $(id).value = ""; });
  }
  $("threshold").addEventListener("input", () => {
    $("threshold-text").textContent = `${$("threshold").value}%`;
    results.forEach(draw);
  });
  for (const id of ["show-boxes", "show-masks", "show-labels", "show-names"]) {
    $(id).addEventListener("change", () => results.forEach(draw));
  }
  $("recognise-clear").addEventListener("click", () => {
    for (const result of results) URL.revokeObjectURL(result.address);
    results.length = 0;
    $("recognised").replaceChildren();
    status();
  });
  $("export-json").addEventListener("click", exportJson);
  $("export-coco").addEventListener("click", exportCoco);
  $("export-csv").addEventListener("click", exportCsv);
  status();
}

export function addFiles(files) {
  const pictures = files.filter((file) => kPictureTypes.includes(file.type));
  if (!pictures.length) return say("There is no PNG, JPEG or WebP picture among these.", true);
  for (const file of pictures) addPicture(file, file.webkitRelativePath || file.name || "picture");
}

export function addPicture(blob, name) {
  const canvas = el("canvas", { role: "img", "aria-label": name });
  const result = { name, blob, canvas, count: el("div", { class: "quiet" }), details: el("div", { class: "result" }) };
  result.card = el("div", { class: "card result", role: "listitem" }, el("h3", {}, name), canvas, result.count, result.details);
  $("recognised").append(result.card);
  results.push(result);
  queue = queue.then(() => look(result)).catch((error) => {
    result.failed = true;
    result.count.textContent = `Failed: ${error.message}`;
    complain(error);
  }).then(status);
  status();
}

function status() {
  const done = results.filter((result) => result.done).length, failed = results.filter((result) => result.failed).length;
  $("recognise-status").textContent = results.length ? `${done} of ${results.length} pictures${failed ? `, ${failed} failed` : ""}` : "";
  for (const id of ["export-json", "export-coco", "export-csv", "recognise-clear"]) $(id).disabled = !results.length;
}

async function look(result) {
  checkBytes(result.blob, info.limits);
  result.address = URL.createObjectURL(result.blob);
  result.image = await loadImage(result.address);
  result.width = result.image.naturalWidth;
  result.height = result.image.naturalHeight;
  const scale = Math.max(1, Math.round(512 / Math.max(result.width, result.height)));
  const shrink = Math.min(1, kLargest / Math.max(result.width, result.height));
  result.canvas.width = Math.round(result.width * scale * shrink);
  result.canvas.height = Math.round(result.height * scale * shrink);
  draw(result);
  for (const [kind, route] of kKinds) {
    const model = $(`recognise-${kind}`)?.value;
    if (!model) continue;
    result[route] = await postPicture(`/api/${route}`, result.blob, { model });
    if (route === "segment") await readLabels(result);
    describe(result);
    draw(result);
  }
  if (info.neighbours) {
    result.neighbours = await postPicture("/api/neighbours", result.blob);
    describe(result);
  }
  result.done = true;
}

// The label map as a picture in the colours of its classes.
async function readLabels(result) {
  const address = URL.createObjectURL(new Blob([bytesOf(result.segment.labels)], { type: "image/png" }));
  const image = await loadImage(address);
  URL.revokeObjectURL(address);
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const data = context.getImageData(0, 0, canvas.width, canvas.height);
  const colors = new Map(result.segment.classes.filter((one) => one.color).map((one) => [one.class, [...rgb(one.color), 140]]));
  for (let i = 0; i < data.data.length; i += 4) data.data.set(colors.get(data.data[i]) ?? [0, 0, 0, 0], i);
  context.putImageData(data, 0, 0);
  result.labelMap = canvas;
}

function rgb(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

const threshold = () => Number($("threshold").value) / 100;
const shown = (result) => (result.detect?.detections ?? []).filter((one) => one.score >= threshold());

function maskCanvas(result, found) {
  if (found.drawing) return found.drawing;
  const canvas = document.createElement("canvas");
  [canvas.height, canvas.width] = found.segmentation.size;
  const context = canvas.getContext("2d");
  const data = context.createImageData(canvas.width, canvas.height);
  const color = [...rgb(found.color), 120];
  eachMaskPixel(found.segmentation, (x, y) => data.data.set(color, 4 * (y * canvas.width + x)));
  context.putImageData(data, 0, 0);
  Object.defineProperty(found, "drawing", { value: canvas, enumerable: false });
  return canvas;
}

function draw(result) {
  if (!result.image) return;
  const { canvas } = result;
  const context = canvas.getContext("2d");
  const scale = canvas.width / result.width;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.imageSmoothingEnabled = scale < 1;
  context.drawImage(result.image, 0, 0, canvas.width, canvas.height);
  if (result.labelMap && $("show-labels").checked) context.drawImage(result.labelMap, 0, 0, canvas.width, canvas.height);
  const found = shown(result);
  if ($("show-masks").checked) for (const one of found) context.drawImage(maskCanvas(result, one), 0, 0, canvas.width, canvas.height);
  const unit = canvas.width / (canvas.clientWidth || canvas.width);  // canvas pixels per pixel of the screen
  context.font = `${12 * unit}px system-ui, sans-serif`;
  context.textBaseline = "top";
  for (const one of found) {
    const [x, y, w, h] = one.bbox.map((value) => value * scale);
    context.strokeStyle = context.fillStyle = one.color;
    context.lineWidth = 2 * unit;
    if ($("show-boxes").checked) context.strokeRect(x, y, w, h);
    if (!$("show-names").checked) continue;
    const text = `${one.name} ${Math.round(100 * one.score)}%`;
    const width = context.measureText(text).width + 6 * unit, height = 16 * unit, top = Math.max(0, y - height);
    if (found.length > kCrowd && w < width / 2) continue;
    context.fillRect(Math.min(x, canvas.width - width), top, width, height);
    const [r, g, b] = rgb(one.color);
    context.fillStyle = r * 0.3 + g * 0.6 + b * 0.1 > 140 ? "#000" : "#fff";
    context.fillText(text, Math.min(x, canvas.width - width) + 3 * unit, top + 2 * unit);
  }
  if (result.detect) {
    const counts = new Map();
    for (const one of found) counts.set(one.name, (counts.get(one.name) ?? 0) + 1);
    result.count.textContent = `${found.length} found${[...counts].map(([name, n], i) => `${i ? "," : ":"} ${n} ${name}`).join("")}`;
  }
}

function bar(name, share) {
  const fill = el("span");
  fill.style.width = `${(100 * share).toFixed(1)}%`;
  return el("div", { class: "bar" }, el("span", { class: "name" }, name), el("span", {}, `${(100 * share).toFixed(1)}%`),
    el("div", { class: "track" }, fill));
}

function describe(result) {
  const parts = [];
  if (result.classify) {
    parts.push(el("div", { class: "bars", "aria-label": "Classes" }, ...result.classify.classes.map((one) => bar(one.name, one.probability))));
  }
  if (result.segment) {
    parts.push(el("div", { class: "legend", "aria-label": "Shares of the classes" }, ...[...result.segment.classes].sort((a, b) => b.share - a.share).map((one) => {
      const patch = el("i");
      patch.style.background = one.color ?? "none";  // the ground is left as it is
      return el("span", {}, patch, `${one.name} ${(100 * one.share).toFixed(1)}%`);
    })));
  }
  if (result.neighbours) {
    const { known, total, complete } = result.neighbours;
    parts.push(el("div", { class: "quiet" }, complete ? `The most alike of ${known} pictures` : `The most alike of the ${known} pictures looked at so far, of ${total}`),
      el("div", { class: "near" }, ...result.neighbours.neighbours.map((one) => el("figure", { title: one.name },
        el("img", { src: one.image, alt: one.name }),
        el("figcaption", {}, one.similarity.toFixed(2), el("br"), one.name.split("/").at(-2) ?? "")))));
  }
  result.details.replaceChildren(...parts);
}

function file(text, type, name) { download(new Blob([text], { type }), name); }

function exportJson() {
  const all = results.map(({ name, width, height, classify, detect, segment, neighbours }) => ({
    name, width, height, classes: classify?.classes, detections: detect?.detections,
    shares: segment?.classes, neighbours: neighbours?.neighbours.map((one) => ({ name: one.name, similarity: one.similarity })),
  }));
  file(JSON.stringify(all, null, 2), "application/json", "recognised.json");
}

function exportCoco() {
  const categories = new Map(), annotations = [];
  results.forEach((result, image) => {
    for (const one of shown(result)) {
      categories.set(one.category_id, one.name);
      annotations.push({ id: annotations.length + 1, image_id: image + 1, category_id: one.category_id, bbox: one.bbox,
        segmentation: one.segmentation, area: one.area, iscrowd: 0, score: one.score });
    }
  });
  file(JSON.stringify({
    images: results.map((result, i) => ({ id: i + 1, file_name: result.name, width: result.width, height: result.height })),
    annotations, categories: [...categories].map(([id, name]) => ({ id, name })),
  }), "application/json", "recognised-coco.json");
}

// Spreadsheets take a leading = + - or @ for a formula: such texts get an apostrophe before them.
function cell(value) {
  let text = String(value ?? "");
  if (/^[=+\-@\t\r]/.test(text) && typeof value === "string") text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function exportCsv() {
  const rows = [["picture", "what", "name", "value", "x", "y", "width", "height"]];
  for (const result of results) {
    for (const one of result.classify?.classes ?? []) rows.push([result.name, "class", one.name, one.probability]);
    for (const one of shown(result)) rows.push([result.name, "thing", one.name, one.score, ...one.bbox]);
    for (const one of result.segment?.classes ?? []) rows.push([result.name, "share", one.name, one.share]);
  }
  file(rows.map((row) => row.map(cell).join(",")).join("\n") + "\n", "text/csv", "recognised.csv");
}
