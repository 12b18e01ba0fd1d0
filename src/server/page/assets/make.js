// The tab that makes pictures and shows the alternation while it happens.
import { getJson, postStream } from "./api.js";
import { $, el, icon, pair, settingField, selectField, complain, duration, fieldValue, loadImage, offer, say } from "./ui.js";
import { seedField, lockSeed, nextSeed } from "./seed.js";
import { fitCanvas, drawPixels, drawReliable, drawTokens } from "./frames.js";
import { addShot, shotOf } from "./gallery.js";

const kFirst = ["count", "steps", "fast", "schedule", "temperature", "top-p", "guidance"];
const kMore = ["size", "temperature-curve", "mapping", "keep-last-unreliable", "first"];
const kLabels = { "temperature-curve": "temperature curve", "keep-last-unreliable": "keep the last unreliable", first: "first number" };

let info, makers, palette = "", palettes = new Map();
let run = null;       // {abort, start, frames, shots, chosen, following}
let playing = 0;

const model = () => makers.find((one) => one.name === $("make-model").value) ?? makers[0];

function fillClasses() {
  const classes = model().classes;
  $("make-class").replaceChildren(el("option", { value: "" }, classes.length ? "any" : "this model knows no classes"),
    ...classes.map((name) => el("option", { value: name }, name)));
  $("make-class").disabled = classes.length === 0;
  offer("make-fast", model().fast);
  updateGuidance();
}

function updateGuidance() { $("make-guidance").disabled = !$("make-class").value; }

export function startMake(theInfo) {
  info = theInfo;
  makers = info.models.filter((one) => one.makes);
  if (!makers.length) {
    $("make-form").replaceChildren(el("p", {}, "No model here makes pictures. Start the server with an ADDP model (--model)."));
    return;
  }
  const byName = new Map(info.make.map((one) => [one.name, one]));
  $("make-fields").append(
    selectField("make-model", "model", "which of the server's models", makers.map((one) => [one.name, `${one.name} (${one.kind}, ${one.width}×${one.height})`])),
    selectField("make-class", "class", "the kind of picture to make", []),
    seedField("make", byName.get("seed")),
    ...kFirst.map((name) => settingField(byName.get(name), "make", kLabels[name])));
  pair("make-count", "make-steps");
  $("make-more").append(...kMore.map((name) => settingField(byName.get(name), "make", kLabels[name])));
  $("make-count").value = 4;
  $("make-model").addEventListener("change", fillClasses);
  $("make-class").addEventListener("change", updateGuidance);
  $("make-form").addEventListener("submit", (event) => { event.preventDefault(); make(); });
  $("make-stop").addEventListener("click", () => run?.abort.abort());
  $("make-step").addEventListener("input", () => { run.following = false; stopPlaying(); show(); });
  $("make-play").addEventListener("click", play);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "Enter" && !$("make").hidden) make();
  });
  stopPlaying();
  fillClasses();
}

function settings() {
  const out = { model: $("make-model").value, seed: Number($("make-seed").value) };
  if ($("make-class").value) out.class = $("make-class").value;
  for (const name of [...kFirst, ...kMore]) out[name] = fieldValue($(`make-${name}`));
  return out;
}

// The model of a recipe: by its bytes, wherever it lay, or by its name here.
function modelOf(recipe) {
  return makers.find((one) => one.sha256 === recipe["model-sha256"]) ?? makers.find((one) => one.name === recipe["served-as"]);
}

// Settings back into the form: from a picture's recipe or a gallery picture.
export function restore(recipe) {
  const put = (id, value) => {
    const input = $(id);
    if (!input || value === undefined || value === null) return;
    if (input.type === "checkbox") {
      input.checked = String(value) === "true";
      return;
    }
    if (input.tagName === "SELECT" && ![...input.options].some((option) => option.value === String(value))) return;
    input.value = value;
  };
  const maker = modelOf(recipe);
  put("make-model", maker?.name);
  fillClasses();
  put("make-class", recipe.class ?? "");
  put("make-seed", recipe.seed);
  put("make-size", "");
  for (const name of ["fast", "keep-last-unreliable"]) put(`make-${name}`, false);
  put("make-guidance", 1);
  for (const name of [...kFirst, ...kMore]) put(`make-${name}`, recipe[name]);
  put("make-first", recipe.number ?? recipe.first ?? 0);
  put("make-count", 1);
  lockSeed("make");
  updateGuidance();
  if (maker) say("The settings of that picture are back; its seed is locked.");
  else say("The settings of that picture are back, but its model is not served here: another one makes another picture.", true);
}

async function usePalette(name) {
  if (!palettes.has(name)) palettes.set(name, (await getJson(`/api/palette?model=${encodeURIComponent(name)}`)).colors);
  palette = palettes.get(name);
}

export async function make() {
  if (run?.running) return;
  const asked = settings();
  stopPlaying();
  run = { abort: new AbortController(), running: true, frames: [], shots: [], chosen: 0, following: true, asked, began: performance.now() };
  $("make-go").disabled = true;
  $("make-stop").disabled = false;
  $("make-status").textContent = "waiting for the others in the queue";
  $("make-progress").hidden = false;
  $("make-progress").value = 0;
  try {
    await usePalette(asked.model);
    await postStream("/api/generate", { ...asked, stream: true }, {
      start: begin, step: addStep, picture: addPicture,
      done: () => { $("make-status").textContent = `${duration((performance.now() - run.began) / 1000)} for ${run.start.count}`; },
    }, run.abort.signal);
    $("make-progress").value = 1;
    nextSeed("make");
  } catch (error) {
    $("make-status").textContent = error.name === "AbortError" ? "stopped" : "failed";
    complain(error);
  } finally {
    run.running = false;
    $("make-go").disabled = false;
    $("make-stop").disabled = true;
  }
}

function begin(start) {
  run.start = start;
  run.frames = Array.from({ length: start.count }, () => []);
  $("make-title").textContent = run.asked.class ?? "Any picture";
  $("make-hint").hidden = true;
  $("make-views").hidden = $("make-scrub").hidden = false;
  if (innerWidth < 860) $("make-title").scrollIntoView();
  for (const id of ["view-pixels", "view-reliable", "view-tokens"]) fitCanvas($(id), start.width, start.height);
  $("make-batch").replaceChildren(...run.frames.map((_, i) => {
    const canvas = el("canvas", { width: start.width, height: start.height });
    return el("button", {
      type: "button", role: "listitem", "aria-pressed": String(i === 0), "aria-label": `Picture ${i + 1}`,
      onclick: () => choose(i),
    }, canvas);
  }));
  $("make-step").max = start.steps - 1;
  $("make-step").value = 0;
}

function choose(index) {
  run.chosen = index;
  [...$("make-batch").children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
  show();
}

async function addStep(step) {
  const frame = { step: step.step, tokens: step.tokens, reliable: step.reliable };
  frame.image = step.image ? await loadImage(step.image) : run.frames[step.picture].at(-1)?.image;
  run.frames[step.picture].push(frame);
  drawPixels($("make-batch").children[step.picture].firstChild, frame);
  const done = run.frames.reduce((sum, frames) => sum + frames.length, 0);
  $("make-progress").value = done / (run.start.count * step.steps);
  $("make-status").textContent = `step ${step.step + 1} of ${step.steps}`;
  if (step.picture === run.chosen && run.following) {
    $("make-step").value = step.step;
    show();
  }
}

async function addPicture(picture) {
  const shot = shotOf(picture, run.asked);
  run.shots[picture.picture] = shot;
  const image = await loadImage(shot.address);
  const canvas = $("make-batch").children[picture.picture].firstChild;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  addShot(shot);
}

function show() {
  const frames = run.frames[run.chosen];
  if (!frames.length) return;
  const wanted = Number($("make-step").value);
  const frame = frames.findLast((one) => one.step <= wanted) ?? frames[0];
  drawPixels($("view-pixels"), frame);
  drawReliable($("view-reliable"), frame, run.start.grid);
  drawTokens($("view-tokens"), frame, run.start.grid, palette);
  const reliable = [...frame.reliable].filter((c) => c === "1").length;
  $("make-step-text").textContent = `step ${frame.step + 1}/${run.start.steps}, ${reliable}/${frame.reliable.length} reliable`;
}

function stopPlaying() {
  clearInterval(playing);
  playing = 0;
  $("make-play").replaceChildren(icon("play"));
  $("make-play").setAttribute("aria-label", "Play the steps");
}

function play() {
  if (playing) return stopPlaying();
  run.following = false;
  $("make-step").value = 0;
  $("make-play").replaceChildren(icon("pause"));
  $("make-play").setAttribute("aria-label", "Pause");
  playing = setInterval(() => {
    show();
    if (Number($("make-step").value) >= Number($("make-step").max)) stopPlaying();
    else $("make-step").value = Number($("make-step").value) + 1;
  }, 160);
}

export function again(shot) {
  restore({ ...shot.settings, seed: shot.seed, number: shot.number, class: shot.class, "served-as": shot.settings.model });
  $("make-go").focus();
}
