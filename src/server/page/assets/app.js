// Starts the page: tabs, theme, token, and what is dropped or pasted onto it.
import { getJson, setToken } from "./api.js";
import { $, complain, icon, say } from "./ui.js";
import { startMake, restore, again } from "./make.js";
import { startEdit, openPicture } from "./edit.js";
import { startRecognise, addFiles, addPicture } from "./recognise.js";
import { startTrain, watchTrain } from "./train.js";
import { startGallery } from "./gallery.js";
import { readRecipe } from "./png.js";

const tabs = [...document.querySelectorAll('[role="tab"]')];

const places = new Map();  // how far down each tab was

function showTab(name, focus = false) {
  const before = tabs.find((tab) => tab.getAttribute("aria-selected") === "true").getAttribute("aria-controls");
  places.set(before, scrollY);
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !chosen;
    if (chosen && focus) tab.focus();
  }
  watchTrain(name === "train");
  scrollTo(0, places.get(name) ?? 0);
}

// Another tab takes something over: what it makes of it is at its top.
function goTo(name) {
  showTab(name);
  scrollTo(0, 0);
}

function startTabs() {
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => showTab(tab.getAttribute("aria-controls")));
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (next !== undefined) showTab(tabs[(next + tabs.length) % tabs.length].getAttribute("aria-controls"), true);
    });
  });
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => { document.documentElement.dataset.theme = localStorage.getItem("addp-theme") ?? (dark.matches ? "dark" : "light"); };
  dark.addEventListener("change", apply);
  $("theme").append(icon("theme"));
  $("theme").addEventListener("click", () => {
    localStorage.setItem("addp-theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}

// Files of a drop, those inside of folders too.
async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [];
  const walk = async (entry) => {
    if (entry.isFile) {
      files.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    } else if (entry.isDirectory) {
      const reader = entry.createReader();
      for (;;) {
        const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!part.length) break;
        for (const inner of part) await walk(inner);
      }
    }
  };
  for (const entry of entries) await walk(entry);
  return files.length ? files : [...transfer.files];
}

// On "Make" a picture gives its settings back, on "Edit" it is opened, on "Recognise" looked at.
export async function take(files) {
  if (!files.length) return;
  if (!$("recognise").hidden) return addFiles(files);
  if (!$("edit").hidden) return openPicture(files[0]);
  if ($("make").hidden) return;
  const recipe = await readRecipe(files[0]);
  if (!recipe) {
    say("That picture has no recipe inside. To edit it or to look at it, drop it onto that tab.", true);
  } else if (/^addp inpaint/.test(recipe.command ?? "")) {
    say("That picture was edited, and what it was made of is not inside. To go on with it, drop it onto Edit.", true);
  } else {
    restore(recipe);
  }
}

function startDrops() {
  let depth = 0;
  const dragging = (on) => document.body.classList.toggle("dragging", on);
  addEventListener("dragenter", (event) => { event.preventDefault(); dragging(++depth > 0); });
  addEventListener("dragleave", () => dragging(--depth > 0));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", async (event) => {
    event.preventDefault();
    depth = 0;
    dragging(false);
    try {
      await take(await droppedFiles(event.dataTransfer));
    } catch (error) {
      complain(error);
    }
  });
  addEventListener("paste", (event) => take([...event.clipboardData.files]).catch(complain));
}

async function showQueue() {
  try {
    const { waiting } = await getJson("/healthz");
    $("queue").textContent = waiting ? `${waiting} waiting` : "";
  } catch { $("queue").textContent = "no connection"; }
  setTimeout(showQueue, 3000);
}

async function start() {
  const info = await getJson("/api/models");
  $("token-form").hidden = true;
  startGallery({
    again: (shot) => { goTo("make"); again(shot); },
    edit: (shot) => { goTo("edit"); openPicture(shot.blob, shot.name); },
    recognise: (shot) => { goTo("recognise"); addPicture(shot.blob, shot.name); },
  });
  startMake(info);
  startEdit(info);
  startRecognise(info);
  startTrain(info);
  showTab(info.models.some((one) => one.makes) ? "make" : "recognise");
  startDrops();
  showQueue();
  document.documentElement.dataset.ready = "yes";
}

function askToken() {
  for (const tab of tabs) $(tab.getAttribute("aria-controls")).hidden = true;
  $("token-form").hidden = false;
  $("token-form").onsubmit = (event) => {
    event.preventDefault();
    setToken($("token").value);
    begin();
  };
  $("token").focus();
}

function begin() {
  start().catch((error) => {
    if (error.status === 401) askToken();
    complain(error);
  });
}

startTabs();
startTheme();
begin();
