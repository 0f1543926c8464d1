// Connects the parts: what is shown follows the server's state and the user's input.

import * as api from "./api.js";
import { Hands } from "./hands.js";
import { KEYS, listenToKeys, showHelp } from "./keys.js";
import { PictureView } from "./picture.js";
import { make, showEnergy, showFact, showJob, showLegend, showSteps } from "./panel.js";
import { Sliders } from "./sliders.js";
import { SpaceView } from "./space.js";
import { KEYS as SPACE_KEYS, STRIP_KEYS } from "./space_keys.js";
import { SpaceTools } from "./space_tools.js";
import { Strip } from "./strip.js";
import { Study } from "./study.js";
import { complain, guarded, trouble } from "./troubles.js";

const POLL_RUNNING = 250;
const POLL_IDLE = 1500;
const HOVER_REST = 120;
const SLIDE_REST = 250;
const DRAFT_TRIANGLES = 80000;
const byId = (id) => document.getElementById(id);

let state = null;
let frame = null;
let layer = "disparity";
let pinned = null;
let fact = null;
let asked = 0;
let timer = 0;
let highlighting = 0;
let sliding = 0;
let painting = 0;
let loading = new AbortController();
let isLoading = false;
let least = 0; // the confidence, in percent, below which pixels are hidden
let shown = null; // the last frame that was loaded completely, in 3D as well
let colours = "viridis";
let otherFact = null; // what the compared map has at the pixel, with its title

const sliders = new Sliders(byId("sliders"), byId("weights"), letGo, enter);
const picture = new PictureView(byId("picture"));
const hands = new Hands(picture, { onPoint: point, onPick: pick });
const space = makeSpace();
const tools = space && new SpaceTools(space, { onPick: pick, say: trouble });
const strip = new Strip({ onChoose: showPair });

function makeSpace() {
  try {
    return new SpaceView(byId("space"), { onPick: pick });
  } catch (error) {
    byId("counts").textContent = `3D needs WebGL, which this browser does not have (${error.message})`;
    return null;
  }
}

async function showFrame(key) {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  shown = null;
  isLoading = true;
  try {
    await loadFrame(key, signal);
    if (signal.aborted) return;
    shown = key;
    trouble("frame", "");
  } finally {
    if (signal === loading.signal) isLoading = false;
  }
}

async function loadFrame(key, signal) {
  const found = await api.describe(key, colours);
  if (signal.aborted) return;
  frame = found;
  showLayers();
  showSteps(state.frames, key);
  showEnergy(state.energy, frame);
  showPicture();
  study.measure();
  study.drawProfile();
  if (pinned) await tell(pinned);
  if (!space) return;
  const [draft] = await Promise.all([api.mesh(key, DRAFT_TRIANGLES, least, signal), showTexture()]);
  if (signal.aborted) return;
  space.setDraft(draft);
  showIn3D();
  tools.show(frame, state);
  const whole = await api.mesh(key, state.most_triangles, least, signal);
  if (signal.aborted) return;
  space.setMesh(whole);
  await showCloud();
  tools.renew();
  if (signal.aborted) return;
  byId("space-pane").dataset.key = key;
  byId("space-pane").dataset.least = least;
}

async function showCloud() {
  if (!space || !byId("show-cloud").checked) {
    countTriangles();
    return;
  }
  const key = frame.key;
  const wanted = Number(byId("points").value);
  // A few points are shown at once; the others follow.
  for (const points of wanted > 100000 ? [100000, wanted] : [wanted]) {
    const { signal } = loading;
    const cloud = await api.cloud(key, points, least, signal);
    if (key !== frame.key || signal.aborted) return;
    space.setCloud(cloud);
  }
  countTriangles();
}

function countTriangles() {
  if (!space) return;
  const triangles = space.triangles();
  const points = byId("show-cloud").checked ? `, ${(space.cloudCount ?? 0).toLocaleString("en")} points` : "";
  byId("counts").textContent = `${triangles.toLocaleString("en")} triangles${points}`;
}

async function showTexture() {
  const painted = byId("colouring").value === "layer" ? layer : "image";
  if (!space) return;
  painting += 1;
  const mine = painting;
  const { key } = frame;
  const blob = await api.texture(key, painted, least, colours);
  const bitmap = await createImageBitmap(blob, { imageOrientation: "flipY", colorSpaceConversion: "none" });
  // The newest requested texture wins, in whatever order responses arrive.
  if (mine === painting) space.setTexture(bitmap, `${key}/${painted}`);
  else bitmap.close();
}

function showIn3D() {
  const paint = byId("colouring").value;
  space?.setShown({ mesh: byId("show-mesh").checked, cloud: byId("show-cloud").checked, paint });
  tools?.renew();
}

function showLayers() {
  const names = frame.layers.map(({ name }) => name);
  if (!names.includes(layer)) layer = "disparity";
  const hadFocus = byId("layers").contains(document.activeElement);
  byId("layers").replaceChildren(...frame.layers.map(({ name, title }, k) => layerButton(name, title, k)));
  const chosen = byId("layers").querySelector("[aria-selected=true]");
  chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (hadFocus) chosen.focus();
  const labels = frame.layers.find(({ name }) => name === "labels").legend.swatches;
  picture.labelColours = labels.map(([, colour]) => colour);
  if (space) space.labelColours = picture.labelColours;
  showLeast(names.includes("confidence"));
  showLegend(byId("legend"), frame.layers.find(({ name }) => name === layer).legend);
  showExport();
}

// One stop of the Tab key for all layers; arrow keys go through them.
function layerButton(name, title, k) {
  const isChosen = name === layer;
  const button = make("button", title, {
    type: "button", role: "tab", "aria-selected": isChosen, tabindex: isChosen ? 0 : -1, "data-layer": name,
    ...(k < 9 ? { title: `key ${k + 1}` } : {}),
  });
  button.addEventListener("click", () => choose(name));
  return button;
}

function showPicture() {
  picture.show(frame.key, layer, state, least, colours);
  byId("picture").setAttribute("aria-label", `The layer ${layerTitle()}; arrow keys move a cursor`);
  study.name();
}

const layerTitle = () => frame.layers.find(({ name }) => name === layer).title;

async function choose(name) {
  layer = name;
  showLayers();
  showPicture();
  if (byId("colouring").value === "layer") await guarded(renew(showTexture))();
}

function showLeast(hasConfidence) {
  byId("trusting").hidden = !hasConfidence;
  byId("least").value = least;
  byId("least-shown").textContent = `${least} %`;
}

function showExport() {
  const menu = byId("export-name");
  if (menu.options.length !== state.exports.length) {
    menu.replaceChildren(...state.exports.map((name) => make("option", name, { value: name })));
    menu.value = "mesh.glb";
  }
  byId("export").href = api.exportAddress(frame.key, menu.value, least);
}

// Another pair of the batch. What is shown stays until the first part of the other one is here.
function showPair(number) {
  api.usePair(number);
  loading.abort();
  isLoading = false;
  pinned = null;
  forget();
  sliders.reset();
  if (state) state = { ...state, serial: -1 };
  pollIn(0);
}

// Under the cursor: the newest request wins, in whatever order responses arrive.
function point(pixel) {
  if (pinned) return;
  if (pixel) guarded(tell)(pixel);
  else forget();
}

function pick(pixel) {
  if (tools?.takes(pixel)) return; // as an end of a measured distance
  pinned = pixel;
  if (pixel) guarded(tell)(pixel);
  else forget();
}

function forget() {
  asked += 1;
  fact = otherFact = null;
  showFact(null);
  picture.highlight([], null);
  highlightIn3D(HOVER_REST);
}

async function tell([u, v]) {
  asked += 1;
  const mine = asked;
  const { other } = study.comparison;
  const [found, there] = await Promise.all(
    [frame, ...(other ? [other] : [])].map(({ key }) => api.pixel(key, u, v)));
  if (mine !== asked) return;
  fact = found;
  otherFact = there ? { title: other.title, fact: there } : null;
  showFact(fact, state, picture.labelColours, Boolean(pinned), otherFact);
  picture.highlight(fact.outline, pinned, fact.disparity);
  highlightIn3D(pinned ? 0 : HOVER_REST);
}

// A large scene takes long to draw: while the cursor moves over the picture, 3D waits.
function highlightIn3D(milliseconds) {
  clearTimeout(highlighting);
  highlighting = setTimeout(() => space?.highlight(fact), milliseconds);
}

// Panes are placed beside or above each other, whichever shows the picture larger.
function arrange() {
  if (!state) return;
  byId("picture-pane").style.setProperty("--aspect", `${state.width} / ${state.height}`);
  const main = document.querySelector("main");
  const side = document.querySelector("aside");
  const beside = side.offsetTop < main.offsetTop + 10;
  const width = main.clientWidth - (beside ? side.clientWidth : 0);
  const height = beside ? main.clientHeight : window.innerHeight * 0.46;
  const rows = beside ? 0.5 : 1;
  const apart = Math.min(width / 2 / state.width, height / state.height);
  const stacked = Math.min(width / state.width, (height * rows) / state.height);
  main.classList.toggle("stacked", stacked > apart * 1.05);
}

async function update() {
  const found = await api.state();
  const isFirst = state === null;
  const isNew = isFirst || found.serial !== state.serial;
  state = found;
  trouble("server", "");
  if (isNew) {
    byId("name").textContent = `${state.name} · ${state.width} × ${state.height}`;
    document.title = `${state.name} · slanted`;
    arrange();
    space?.setCameras(state.cameras, state.width, state.height);
    sliders.show(state.sliders);
    study.offer(state);
    showJob(state.job, state.why_no_run);
  }
  const keys = state.frames.map(({ key }) => key);
  const isGone = frame && !keys.includes(frame.key);
  if (isFirst && !state.has_image) byId("colouring").value = "layer";
  if (isFirst) least = state.least;
  if (!frame || isGone) {
    await showFrame(keys.at(-1));
  } else {
    if (isNew) {
      showSteps(state.frames, frame.key);
      showEnergy(state.energy, frame);
    }
    // What did not load completely, as when the server was slow, is requested again.
    if (shown !== frame.key && !isLoading) await showFrame(frame.key);
  }
  document.body.dataset.ready = "true";
}

async function poll() {
  try {
    await update();
  } catch (error) {
    complain("frame", error);
  }
  pollIn(state?.job.status === "running" ? POLL_RUNNING : POLL_IDLE);
}

function pollIn(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(poll, milliseconds);
}

// If a part of the frame does not load, the frame counts as not shown.
function renew(part) {
  return async () => {
    try {
      await part();
    } catch (error) {
      shown = null;
      throw error;
    }
  };
}

const stepTo = guarded(async (place) => {
  const chosen = state.frames[Math.min(Math.max(place, 0), state.frames.length - 1)];
  if (chosen.key !== frame.key) await showFrame(chosen.key);
});

byId("step").addEventListener("input", (event) => stepTo(Number(event.target.value)));
// The slider moves at once, so that a second step starts where the first one leads.
function step(places) {
  byId("step").value = Number(byId("step").value) + places;
  stepTo(Number(byId("step").value));
}
byId("step-back").addEventListener("click", () => step(-1));
byId("step-on").addEventListener("click", () => step(1));
const run = guarded(async () => {
  state = { ...(await api.run(sliders.changes())), serial: -1 };
  showJob(state.job, state.why_no_run);
  pollIn(POLL_RUNNING);
});

// Arrow keys release a slider at every step; one run is enough.
function letGo() {
  if (!byId("live").checked || state.why_no_run) return;
  clearTimeout(sliding);
  sliding = setTimeout(run, SLIDE_REST);
}

// Whoever types a number and presses Enter means it, whatever the sliders do when released.
function enter() {
  if (state.why_no_run) return;
  clearTimeout(sliding);
  run();
}

byId("least").addEventListener("input", (event) => {
  byId("least-shown").textContent = `${event.target.value} %`;
});
byId("least").addEventListener("change", guarded(async (event) => {
  least = Number(event.target.value);
  await showFrame(frame.key);
}));
byId("run").addEventListener("click", run);
byId("cancel").addEventListener("click", guarded(() => api.cancel(state.job.number)));
byId("reset").addEventListener("click", () => sliders.reset());
byId("fit").addEventListener("click", () => picture.fit());
byId("opacity").addEventListener("input", (event) => {
  picture.opacity = Number(event.target.value);
  picture.draw();
});
byId("show-mesh").addEventListener("change", showIn3D);
byId("show-cloud").addEventListener("change", guarded(async () => {
  showIn3D();
  await renew(showCloud)();
}));
byId("points").addEventListener("change", guarded(renew(showCloud)));
byId("colouring").addEventListener("change", guarded(async () => {
  showIn3D();
  await renew(showTexture)();
}));
byId("export-name").addEventListener("change", showExport);

const study = new Study({
  picture,
  hands,
  now: () => ({ state, frame, layer, least, colours, pinned, fact, otherFact }),
  choose,
  forget: () => { pinned = null; forget(); },
  retell: () => { if (pinned) guarded(tell)(pinned); },
});
byId("colours").addEventListener("change", guarded(async (event) => {
  colours = study.comparison.colours = event.target.value;
  frame = { ...frame, ...(await api.describe(frame.key, colours)) };
  showLayers();
  showPicture();
  if (byId("colouring").value === "layer") await renew(showTexture)();
}));
const help = () => showHelp([
  ["Picture and panel", KEYS], ["3D, when it has the focus", SPACE_KEYS], ["Pairs of a batch", STRIP_KEYS],
]);
byId("help-open").addEventListener("click", help);
byId("help-close").addEventListener("click", () => byId("help").close());
byId("theme").addEventListener("click", () => window.toggleTheme());
listenToKeys({
  ...study.keys(),
  layer: (number) => { if (frame && number <= frame.layers.length) choose(frame.layers[number - 1].name); },
  ",": () => step(-1),
  ".": () => step(1),
  "t": () => window.toggleTheme(),
  "?": help,
});

window.addEventListener("resize", () => {
  arrange();
  if (frame) showEnergy(state.energy, frame);
  study.profile.draw();
});

strip.start().catch((error) => complain("strip", error)).then(poll);
