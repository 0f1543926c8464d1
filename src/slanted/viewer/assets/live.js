// The live page: asks for the newest frame, shows all of it at once, and asks for the next.

import { live as newest, Lost, Refused } from "./api.js";
import { showLegend } from "./panel.js";
import { SpaceView } from "./space.js";

const LAYERS = ["image", "disparity", "confidence"];
const NO_FRAME = 999999999999; // no frame has a number above this, so none is sent
const RETRY = 1000; // milliseconds
const byId = (id) => document.getElementById(id);

let shown = 0; // the number of the frame on the screen
let paused = false;
let last = null; // the parts of the frame on the screen
let legends = "";

const space = makeSpace();

function makeSpace() {
  try {
    const view = new SpaceView(byId("space"), { onPick: () => {} });
    view.setShown({ mesh: false, cloud: true, paint: "image" });
    view.controls.listenToKeyEvents(byId("space"));
    return view;
  } catch (error) {
    byId("counts").textContent = `3D needs WebGL, which this browser does not have (${error.message})`;
    return null;
  }
}

const say = (id, text) => {
  // Text that is set again is read out again by screen readers.
  if (byId(id).textContent !== text) byId(id).textContent = text;
};

function tell(id, text) {
  byId(id).hidden = !text;
  say(id, text);
}

function showNumbers(state) {
  const rate = state.rate ? `${state.rate.toFixed(1)} / s` : "–";
  say("rate", rate);
  const frames = state.rate ? ` · ${state.latency_frames.toFixed(1)} frames` : "";
  say("latency", state.frames ? `${Math.round(1000 * state.latency)} ms${frames}` : "–");
  say("frames", state.frames.toLocaleString("en"));
  const failed = state.failed ? `, ${state.failed.toLocaleString("en")} failed` : "";
  say("dropped", state.dropped.toLocaleString("en") + failed);
  say("name", state.name);
  document.title = `${state.name} · slanted`;
  tell("trouble", state.troubles.join(" "));
  tell("notice", noticeOf(state));
}

function noticeOf(state) {
  if (state.ended) return `The run has ended after ${state.frames.toLocaleString("en")} frames.`;
  if (paused) return "Paused; Space goes on.";
  return state.frames ? "" : "Waiting for the first pair …";
}

async function showFrame(frame, parts) {
  const pictures = LAYERS.filter((name) => parts[name]);
  const bitmaps = await Promise.all(pictures.map((name) => createImageBitmap(parts[name])));
  pictures.forEach((name, k) => draw(byId(name), bitmaps[k]));
  for (const name of LAYERS) byId(name).parentElement.hidden = !parts[name];
  byId("pictures").classList.toggle("two", pictures.length === 2);
  showLegends(frame.legends);
  last = { frame, parts };
  if (space) {
    space.setCameras(frame.cameras, frame.width, frame.height);
    await paint();
    space.setCloud(cloudOf(parts.cloud));
    const count = space.cloudCount.toLocaleString("en");
    say("counts", `${count} points, in ${frame.unit === "m" ? "metres" : frame.unit}`);
  }
  byId("space-pane").dataset.points = space?.cloudCount ?? 0;
  shown = frame.number;
  document.body.dataset.frame = shown;
}

function draw(canvas, bitmap) {
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
  }
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  bitmap.close();
}

function showLegends(found) {
  const text = JSON.stringify(found);
  if (text === legends) return;
  legends = text;
  for (const name of LAYERS) if (found[name]) showLegend(byId(`${name}-legend`), found[name]);
}

// The cloud is painted with one of the pictures.
async function paint() {
  const wanted = byId("colouring").value;
  const name = last.parts[wanted] ? wanted : "image";
  const options = { imageOrientation: "flipY", colorSpaceConversion: "none" };
  space.setTexture(await createImageBitmap(last.parts[name], options), `${last.frame.number}/${name}`);
}

function cloudOf(data) {
  const [count] = new Uint32Array(data, 0, 1);
  const positions = new Float32Array(data, 4, count * 3);
  const places = new Float32Array(data, 4 + count * 12, count * 2);
  return { positions, places };
}

// Everything of a frame comes in one answer, so requests never outrun the page or the server.
async function follow() {
  for (;;) {
    try {
      const { state, parts } = await newest(paused ? NO_FRAME : shown, Number(byId("points").value));
      if (state.frame) await showFrame(state.frame, parts);
      showNumbers(state);
      if (state.ended && (!state.frame || state.frame.number === state.frames)) break;
    } catch (error) {
      if (!(error instanceof Lost || error instanceof Refused)) console.error(error);
      tell("trouble", error.message);
      await new Promise((go) => { setTimeout(go, RETRY); });
    }
    document.body.dataset.ready = "true";
  }
  document.body.dataset.ended = "true";
}

function pause() {
  paused = !paused;
  byId("pause").textContent = paused ? "Go on" : "Pause";
  byId("pause").setAttribute("aria-pressed", paused);
}

byId("pause").addEventListener("click", pause);
byId("colouring").addEventListener("change", () => { if (space && last) paint(); });
byId("turned").addEventListener("click", () => space?.turned());
byId("camera").addEventListener("click", () => space?.asCamera());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return; // those are the browser's own
  if (event.target.matches("button, select")) return;
  const keys = { " ": pause, t: () => space?.turned(), c: () => space?.asCamera() };
  LAYERS.forEach((name, k) => {
    keys[k + 1] = () => {
      byId("colouring").value = name;
      if (space && last) paint();
    };
  });
  const action = keys[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
});

follow();
