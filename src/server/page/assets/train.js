// The tab that watches trainings. It only reads.
import { getJson, getBlob } from "./api.js";
import { $, el, svg, complain, duration } from "./ui.js";

const kEvery = 2000;
let timer = 0, chosen = "", position = 0, curves = new Map(), pictures = "";

export function startTrain(info) {
  $("runs-empty").hidden = info.watching;
}

// Asks while the tab is looked at, and not otherwise.
export function watchTrain(visible) {
  clearTimeout(timer);
  if (visible) tick();
}

async function tick() {
  try {
    const { watching, runs } = await getJson("/api/runs");
    if (watching) {
      if (!runs.length) { $("runs-empty").hidden = false; $("runs-empty").textContent = "There is no run in that folder yet."; }
      list(runs);
      await follow(runs);
    }
  } catch (error) {
    complain(error);
  }
  if (!$("train").hidden) timer = setTimeout(tick, kEvery);
}

function list(runs) {
  if (!runs.some((run) => run.name === chosen) && runs.length) choose(runs[0].name);
  $("runs").replaceChildren(...runs.map((run) => el("button", {
    type: "button", role: "option", "aria-selected": String(run.name === chosen), onclick: () => { choose(run.name); watchTrain(true); },
  }, el("strong", {}, run.name), el("span", { class: "quiet" },
    `step ${run.step}${run.steps ? ` of ${run.steps}` : ""}, ${run.seconds_since_update < 60 ? "running" : `${duration(run.seconds_since_update)} ago`}`))));
}

function choose(name) {
  chosen = name;
  position = 0;
  curves = new Map();
  pictures = "";
  $("run-pictures").replaceChildren();
}

async function follow(runs) {
  const run = runs.find((one) => one.name === chosen);
  if (!run) return;
  let log;
  do {
    log = await getJson(`/api/runs/log?run=${encodeURIComponent(chosen)}&from=${position}`);
    if (log.restarted) curves = new Map();
    position = log.next;
    log.lines.forEach(addLine);
  } while (log.more && log.lines.length);
  $("run-name").textContent = run.name;
  $("run-progress").value = run.steps ? run.step / run.steps : 0;
  const done = run.steps && run.step >= run.steps;
  $("run-status").textContent = [
    `step ${run.step}${run.steps ? ` of ${run.steps}` : ""}`,
    run.pictures_per_second ? `${run.pictures_per_second.toPrecision(3)} pictures/s` : "",
    done ? "finished" : run.seconds_left !== null ? `${duration(run.seconds_left)} left` : "",
  ].filter(Boolean).join(" · ");
  drawCharts();
  await showPictures(run);
}

function addLine(line) {
  const kind = line.kind ?? "train";
  for (const [name, value] of Object.entries(line)) {
    if (name === "step" || typeof value !== "number") continue;
    if (!curves.has(name)) curves.set(name, { train: [], eval: [] });
    (curves.get(name)[kind] ??= []).push([line.step, value]);
  }
}

function number(value) {
  const size = Math.abs(value);
  return size !== 0 && (size < 0.001 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

// At most `most` points, each the mean of its neighbours.
function thinned(points, most = 400) {
  if (points.length <= most) return points;
  const out = [];
  for (let i = 0; i < most; ++i) {
    const part = points.slice(Math.floor((i * points.length) / most), Math.floor(((i + 1) * points.length) / most));
    out.push([part.at(-1)[0], part.reduce((sum, point) => sum + point[1], 0) / part.length]);
  }
  return out;
}

function chart(name, kinds) {
  const width = 340, height = 190, left = 52, bottom = 24, top = 12;
  const lines = Object.entries(kinds).filter(([, points]) => points.length).map(([kind, points]) => [kind, thinned(points)]);
  const all = lines.flatMap(([, points]) => points);
  const xs = all.map((point) => point[0]), ys = all.map((point) => point[1]);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
  if (y0 === y1) { y0 -= 0.5; y1 += 0.5; }
  const x = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (width - left - 8);
  const y = (value) => top + (1 - (value - y0) / (y1 - y0)) * (height - top - bottom);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}, last ${number(ys.at(-1))}` });
  for (const share of [0, 0.5, 1]) {
    const value = y0 + share * (y1 - y0);
    picture.append(svg("line", { class: "axis", x1: left, x2: width - 8, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, number(value)));
  }
  picture.append(svg("text", { x: left, y: height - 6 }, String(x0)), svg("text", { x: width - 8, y: height - 6, "text-anchor": "end" }, String(x1)));
  for (const [kind, points] of lines) {
    picture.append(svg("polyline", { class: kind === "eval" ? "eval" : "train", points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") }));
    if (kind === "eval") for (const [a, b] of points) picture.append(svg("circle", { cx: x(a), cy: y(b), r: 2.6 }));
  }
  const last = lines.map(([kind, points]) => `${kind} ${number(points.at(-1)[1])}`).join(", ");
  return el("div", { class: "card chart" }, el("div", { class: "row between" }, el("h2", {}, name), el("span", { class: "quiet" }, last)), picture);
}

function drawCharts() {
  const names = [...curves.keys()].sort((a, b) => (b === "loss") - (a === "loss") || a.localeCompare(b));
  $("run-charts").replaceChildren(...names.map((name) => chart(name, curves.get(name))));
}

async function showPictures(run) {
  const wanted = run.pictures.join("\n");
  if (wanted === pictures) return;
  pictures = wanted;
  const cards = [];
  for (const name of run.pictures) {
    const blob = await getBlob(`/api/runs/picture?run=${encodeURIComponent(run.name)}&picture=${encodeURIComponent(name)}`);
    cards.push(el("div", { class: "card" }, el("h2", {}, name.replace(/-0*(\d+)\.png$/, ", step $1")),
      el("img", { src: URL.createObjectURL(blob), alt: name })));
  }
  for (const old of $("run-pictures").querySelectorAll("img")) URL.revokeObjectURL(old.src);
  $("run-pictures").replaceChildren(...cards);
}
