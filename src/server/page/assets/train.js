// The tab that watches trainings. It only reads.
import { getJson, getBlob } from "./api.js";
import { $, el, complain, duration } from "./ui.js";
import { chart } from "./chart.js";

const kEvery = 2000;
const kSilent = 60;  // seconds after which a run is no longer taken to be running
const buttons = new Map();  // by the run's name; kept, so that the keyboard's focus stays
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
  const wanted = runs.map((run) => {
    if (!buttons.has(run.name)) {
      buttons.set(run.name, el("button", { type: "button", role: "option", onclick: () => { choose(run.name); watchTrain(true); } },
        el("strong", {}, run.name), el("span", { class: "quiet" })));
    }
    const button = buttons.get(run.name);
    button.setAttribute("aria-selected", String(run.name === chosen));
    button.lastChild.textContent = `${stepOf(run)}, ${running(run) ? "running" : `${done(run) ? "finished " : ""}${duration(run.seconds_since_update)} ago`}`;
    return button;
  });
  const shown = [...$("runs").children];
  if (shown.length === wanted.length && shown.every((button, i) => button === wanted[i])) return;
  const focused = document.activeElement;
  $("runs").replaceChildren(...wanted);
  if (wanted.includes(focused)) focused.focus();
}

const stepOf = (run) => `step ${run.step}${run.steps ? ` of ${run.steps}` : ""}`;
const done = (run) => Boolean(run.steps) && run.step >= run.steps;
const running = (run) => !done(run) && run.seconds_since_update < kSilent;

function statusOf(run) {
  if (done(run)) return "finished";
  if (!running(run)) return `nothing new for ${duration(run.seconds_since_update)}`;
  return run.seconds_left === null ? "running" : `${duration(run.seconds_left)} left`;
}

function choose(name) {
  chosen = name;
  position = 0;
  curves = new Map();
  pictures = "";
  $("run-pictures").replaceChildren();
  $("run-charts").replaceChildren();
}

async function follow(runs) {
  const run = runs.find((one) => one.name === chosen);
  if (!run) return;
  let log, news = false;
  do {
    log = await getJson(`/api/runs/log?run=${encodeURIComponent(chosen)}&from=${position}`);
    if (log.restarted) curves = new Map();
    position = log.next;
    log.lines.forEach(addLine);
    news ||= log.restarted || log.lines.length > 0;
  } while (log.more && log.lines.length);
  $("run-name").textContent = run.name;
  $("run-progress").value = run.steps ? run.step / run.steps : 0;
  $("run-status").textContent = [
    stepOf(run), run.pictures_per_second ? `${Number(run.pictures_per_second.toPrecision(3))} pictures/s` : "", statusOf(run),
  ].filter(Boolean).join(" · ");
  if (news) drawCharts();
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

// "loss" first, then what was evaluated, the rest by name.
function drawCharts() {
  const rank = (name) => (name === "loss" ? 0 : curves.get(name).eval.length ? 1 : 2);
  const names = [...curves.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  $("run-charts").replaceChildren(...names.map((name) => chart(name.replaceAll("_", " "), curves.get(name))));
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
