// The tools of the 3D view: clipping, colours, measuring, pictures of it, and its keys.

import * as api from "./api.js";
import { Compass } from "./compass.js";
import { make, showLegend } from "./panel.js";

const byId = (id) => document.getElementById(id);
const OF_SCALE = { depth: "viridis", disparity: "viridis", confidence: "cividis" };
const MAPS = { confidence: "sure", normals: "slopes" };
const NORMALS = [
  ["faces the camera", "#8080ff"], ["floor", "#80ff80"], ["faces right", "#ff8080"], ["faces left", "#008080"],
];
const ROOM = 1.001; // sliders reach a little beyond the scene, so that rounding hides nothing

const digits = (value) => Number(value.toPrecision(4)).toString();
const logShare = (value, low, high) => Math.log(value / low) / Math.log(high / low);

// Round values within a scale that leave each other room, and their places on it.
function ticksOf(low, high, share) {
  const ticks = [];
  const first = Math.floor(Math.log10(Math.max(low, high / 1e4, 1e-9)));
  for (let power = first; power <= Math.log10(high); power++) {
    for (const step of [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8]) {
      const value = Number((step * 10 ** power).toPrecision(2));
      const place = share(value);
      const isFree = ticks.every(([other]) => Math.abs(other - place) > 0.14);
      if (value > low && value < high && place > 0.05 && place < 0.95 && isFree) ticks.push([place, `${value}`]);
    }
  }
  return ticks;
}

export class SpaceTools {
  // onPick(pixel) is called for a pixel that is picked by a key; say(source, text) shows a problem.
  constructor(space, { onPick, say }) {
    this.space = space;
    this.onPick = onPick;
    this.say = say;
    this.clip = { near: null, far: null };
    this.ends = []; // pixels and points of the measured distance
    this.isMeasuring = false;
    this.maps = {}; // keys of the frames that the maps are of
    this.asked = 0;
    this.isOver = false;
    new Compass(byId("compass"), space, (side) => this.look(side));
    space.drawn.push(() => this.placeLabel());
    this.listen();
  }

  // Another frame: its maps are loaded when they are needed.
  show(frame, state) {
    this.frame = frame;
    this.state = state;
    const has = frame.layers.some(({ name }) => name === "confidence");
    byId("clip-confidence").disabled = !has;
    byId("colouring").querySelector("[value=confidence]").disabled = !has;
    if (!has && byId("colouring").value === "confidence") byId("colouring").value = "image";
    this.space.setLeast(0);
    this.showConfidence();
    this.renew();
    if (this.ends.length) this.measureAgain();
  }

  // What depends on the extent of the scene, and on what is shown of it.
  renew() {
    if (!this.frame) return;
    this.showClip();
    this.guard(this.paint());
  }

  async guard(work) {
    try {
      await work;
      this.say("3D", "");
    } catch (error) {
      if (error.name !== "AbortError" && error.status !== 404) this.say("3D", error.message);
    }
  }

  // Colours

  async paint() {
    const kind = byId("colouring").value;
    if (MAPS[kind]) await this.load(kind);
    if (kind === "normals") {
      showLegend(byId("space-legend"), { title: "normals", bar: [], ticks: [], swatches: NORMALS });
      byId("space-legend").dataset.kind = kind;
    }
    byId("space-legend").hidden = !OF_SCALE[kind] && kind !== "normals";
    if (!OF_SCALE[kind]) return;
    if (!this.scales) await this.loadScales();
    const colours = this.scales[byId("scale").value || OF_SCALE[kind]];
    const scale = this.scaleOf(kind);
    this.space.setScale(colours, scale.low, scale.high);
    Object.assign(byId("space-legend").dataset, { kind, low: scale.low, high: scale.high });
    showLegend(byId("space-legend"), { title: scale.title, bar: colours, ticks: scale.ticks, swatches: [] });
  }

  // The ends of the colour map and its ticks; near things have the high end.
  scaleOf(kind) {
    if (kind === "confidence") {
      return { low: 0, high: 1, title: "confidence", ticks: [0.25, 0.5, 0.75].map((value) => [value, `${value}`]) };
    }
    const [near, far] = this.space.shownDepths();
    const { fx, baseline, doffs } = this.space.cameras;
    if (kind === "disparity") {
      const [from, to] = [far, near].map((depth) => (fx * baseline) / depth - doffs);
      const share = (value) => (value - from) / (to - from);
      return { low: from, high: to, title: "disparity, px", ticks: ticksOf(from, to, share) };
    }
    const share = (depth) => logShare(depth, far, near);
    return { low: far, high: near, title: `depth, ${this.state.unit}`, ticks: ticksOf(near, far, share) };
  }

  async loadScales() {
    this.scales = (await api.scales()).scales;
    byId("scale").append(...Object.keys(this.scales).map((name) => make("option", name, { value: name })));
  }

  // Confidence or normals of the frame, once.
  async load(name) {
    const { key } = this.frame;
    if (this.maps[name] === key) return;
    const blob = await api.valueMap(key, name);
    const bitmap = await createImageBitmap(blob, { imageOrientation: "flipY", colorSpaceConversion: "none" });
    if (key !== this.frame.key) {
      bitmap.close();
      return;
    }
    this.maps[name] = key;
    this.space.setMap(MAPS[name], bitmap);
  }

  // Clipping

  reach() {
    const { near, far } = this.space.extent();
    return [near / ROOM, far * ROOM];
  }

  setClip(name, depth) {
    const other = name === "near" ? this.clip.far : this.clip.near;
    const isWrong = depth !== null && other !== null && (name === "near" ? depth > other : depth < other);
    this.clip[name] = isWrong ? other : depth;
    this.space.setClip(this.clip.near, this.clip.far);
    this.renew();
  }

  // Sliders are logarithmic: of a street, most is near.
  showClip() {
    const [low, high] = this.reach();
    for (const [name, whole] of [["near", low], ["far", high]]) {
      const depth = this.clip[name];
      const share = depth === null ? Number(name === "far") : logShare(depth, low, high);
      byId(`clip-${name}`).value = Math.min(Math.max(share, 0), 1);
      const exact = byId(`clip-${name}-exact`);
      exact.placeholder = digits(whole);
      if (document.activeElement !== exact) exact.value = depth === null ? "" : digits(depth);
      exact.title = `in ${this.state.unit === "m" ? "metres" : this.state.unit}; empty for all`;
    }
    const isClipped = this.clip.near !== null || this.clip.far !== null;
    byId("viewing").classList.toggle("active", isClipped);
    const { count, all, what } = isClipped ? this.space.countClipped() : {};
    byId("clipped").hidden = !isClipped;
    byId("clipped").textContent = isClipped ? `${count.toLocaleString("en")} of ${all.toLocaleString("en")} ${what} within the clip` : "";
  }

  // One threshold of confidence for the page; here it shows at once what it would leave out.
  showConfidence() {
    byId("clip-confidence").value = byId("least").value;
    byId("clip-confidence-shown").textContent = `≥ ${byId("least").value} %`;
  }

  async previewConfidence() {
    this.showConfidence();
    if (byId("clip-confidence").disabled) return;
    await this.load("confidence");
    this.space.setLeast(Number(byId("least").value) / 100);
  }

  // Looking

  look(side) {
    if (side === "camera") this.space.asCamera();
    else this.space.lookFrom(side);
    byId("free").checked = this.space.isFree;
  }

  setFree(isFree) {
    this.space.setFree(isFree);
    byId("free").checked = isFree;
  }

  setPointSize(power) {
    const factor = 2 ** power;
    byId("point-size").value = power;
    byId("point-size-shown").textContent = `${factor.toFixed(1)} ×`;
    this.space.setPointSize(factor);
  }

  reset() {
    this.clip = { near: null, far: null };
    this.space.setClip(null, null);
    this.setFree(false);
    this.setPointSize(0);
    this.space.turned();
    this.renew();
  }

  // Measuring

  setMeasuring(isOn) {
    this.isMeasuring = isOn;
    byId("measure").setAttribute("aria-pressed", isOn);
    byId("space-pane").classList.toggle("measuring", isOn);
    byId("aim").hidden = !isOn;
    if (!isOn) this.ends = [];
    this.showMeasured();
  }

  // Whether a picked pixel is an end of the distance; a third one begins a new distance.
  takes(pixel) {
    if (!this.isMeasuring) return false;
    if (pixel) this.guard(this.take(pixel));
    return true;
  }

  async take(pixel) {
    this.asked += 1;
    const mine = this.asked;
    const end = await this.endAt(pixel);
    if (mine !== this.asked || !this.isMeasuring) return;
    if (end) this.ends = this.ends.length === 2 ? [end] : [...this.ends, end];
    this.showMeasured(end ? "" : "no depth there");
  }

  // The point of the result at a pixel, and how far it moves with a disparity that is off.
  async endAt([u, v]) {
    const fact = await api.pixel(this.frame.key, u, v);
    const isSky = fact.flags.includes("sky");
    const point = isSky ? null : this.space.position(u, v, fact.disparity);
    if (!point) return null;
    const off = (fact.deviation ?? NaN) / (fact.disparity + this.space.cameras.doffs);
    return { pixel: [u, v], point, off };
  }

  // The same pixels in another frame.
  async measureAgain() {
    const { width, height } = this.state;
    const pixels = this.ends.map(({ pixel }) => pixel).filter(([u, v]) => u < width && v < height);
    const key = this.frame.key;
    await this.guard((async () => {
      const found = await Promise.all(pixels.map((pixel) => this.endAt(pixel)));
      if (key !== this.frame.key) return;
      this.ends = found.filter(Boolean);
      this.showMeasured();
    })());
  }

  showMeasured(problem = "") {
    const [one, other] = this.ends;
    this.space.measure(this.ends.map(({ point }) => point));
    const label = byId("measured");
    label.hidden = !this.isMeasuring;
    delete label.dataset.value;
    let text = one ? "pick the other end" : "pick two points, here or in the picture";
    if (one && other) {
      const ways = one.point.map((value, k) => other.point[k] - value);
      const distance = Math.hypot(...ways);
      // A disparity that is off moves a point along its ray, by its share of the disparity.
      const along = ({ point, off }) => (distance ? (ways.reduce((sum, way, k) => sum + way * point[k], 0) / distance) * off : 0);
      const spread = Math.hypot(along(one), along(other));
      const give = Number.isFinite(spread) ? ` ± ${spread.toPrecision(2)}` : "";
      const axes = [ways[0], -ways[1], -ways[2]].map((way, k) => `${"xyz"[k]} ${way.toFixed(3)}`).join(", ");
      text = `${distance.toPrecision(4)}${give} ${this.state.unit}  (${axes})`;
      label.dataset.value = distance;
      label.dataset.ends = JSON.stringify(this.ends.map(({ pixel }) => pixel));
    }
    label.textContent = problem || text;
    this.placeLabel();
  }

  // The distance stands beside its line, and what to do at the bottom.
  placeLabel() {
    const label = byId("measured");
    if (label.hidden) return;
    const ends = this.ends.length === 2 ? this.ends.map(({ point }) => this.space.onScreen(point)) : [];
    const isBeside = ends.length === 2 && ends.every(Boolean);
    label.classList.toggle("beside", isBeside);
    const { clientWidth, clientHeight } = this.space.canvas;
    const inside = (value, room, margin) => Math.min(Math.max(value, margin), room - margin);
    label.style.left = isBeside ? `${inside((ends[0][0] + ends[1][0]) / 2, clientWidth, label.offsetWidth / 2)}px` : "";
    label.style.top = isBeside ? `${inside((ends[0][1] + ends[1][1]) / 2, clientHeight, 20)}px` : "";
  }

  // Pictures

  // The view as PNG, with the measured distance written into it.
  async shot() {
    const picture = this.space.picture();
    const label = byId("measured");
    if (label.dataset.value) {
      const context = picture.getContext("2d");
      const ratio = picture.width / this.space.canvas.clientWidth;
      context.font = `${14 * ratio}px system-ui, sans-serif`;
      context.textAlign = "center";
      context.lineWidth = 4 * ratio;
      const place = [parseFloat(label.style.left) * ratio, parseFloat(label.style.top) * ratio];
      context.strokeText(label.textContent, ...place);
      context.fillStyle = "#ffffff";
      context.fillText(label.textContent, ...place);
    }
    const blob = await new Promise((done) => { picture.toBlob(done, "image/png"); });
    const link = make("a", "", { href: URL.createObjectURL(blob), download: `${this.state.name}-3d.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  // Input

  listen() {
    const on = (id, kind, action) => byId(id).addEventListener(kind, action);
    for (const name of ["near", "far"]) {
      on(`clip-${name}`, "input", ({ target }) => {
        const [low, high] = this.reach();
        const isOff = Number(target.value) === Number(name === "far");
        this.setClip(name, isOff ? null : low * (high / low) ** Number(target.value));
      });
      on(`clip-${name}-exact`, "input", ({ target }) => {
        this.setClip(name, target.value === "" || !(Number(target.value) > 0) ? null : Number(target.value));
      });
      on(`clip-${name}-exact`, "blur", () => this.renew());
    }
    for (const kind of ["input", "change"]) {
      on("clip-confidence", kind, ({ target }) => {
        byId("least").value = target.value;
        byId("least").dispatchEvent(new Event(kind));
      });
    }
    on("least", "input", () => this.guard(this.previewConfidence()));
    on("point-size", "input", ({ target }) => this.setPointSize(Number(target.value)));
    on("scale", "change", () => this.renew());
    on("free", "change", ({ target }) => this.setFree(target.checked));
    on("reset-view", "click", () => this.reset());
    on("measure", "click", () => this.setMeasuring(!this.isMeasuring));
    on("shot", "click", () => this.guard(this.shot()));
    on("turned", "click", () => this.space.turned());
    on("camera", "click", () => this.space.asCamera());
    on("viewing", "toggle", () => { if (byId("viewing").open) this.guard(this.scales ? null : this.loadScales()); });
    on("space", "dblclick", (event) => this.guard(this.centre(event)));
    const pane = byId("space-pane");
    pane.addEventListener("pointerenter", () => { this.isOver = true; });
    pane.addEventListener("pointerleave", () => { this.isOver = false; });
    document.addEventListener("keydown", (event) => this.press(event), { capture: true });
  }

  // A point that is clicked twice becomes the centre of rotation.
  async centre(event) {
    const pixel = this.isMeasuring ? null : this.space.pixelAt(event);
    const end = pixel && await this.endAt(pixel);
    if (end) this.space.centreOn(end.point);
  }

  pickMiddle() {
    const { clientWidth, clientHeight } = this.space.canvas;
    this.onPick(this.space.pixelSeen(clientWidth / 2, clientHeight / 2));
  }

  // Keys belong to the pane with the focus or the cursor; the rest of the page does not get them.
  press(event) {
    const { target, key } = event;
    const isInside = byId("space-pane").contains(target);
    if (!this.frame || !(isInside || (this.isOver && target === document.body))) return;
    if (event.ctrlKey || event.altKey || event.metaKey || target.matches("input[type=number], select")) return;
    if (this.act(key, event.shiftKey, target)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  act(key, shift, target) {
    const { space } = this;
    if (key === "Escape" && this.isMeasuring) return this.done(this.setMeasuring(false));
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const onCanvas = !target.matches("input, button, summary");
    if (onCanvas && arrows[key]) return this.done(space.step(...arrows[key], shift));
    if (onCanvas && key === "Home") return this.done(this.reset());
    if (onCanvas && key === "Enter") return this.done(this.pickMiddle());
    const actions = {
      c: () => space.asCamera(), t: () => space.turned(),
      a: () => this.look("above"), l: () => this.look("left"), r: () => this.look("right"),
      b: () => this.look("behind"), u: () => this.look("below"), o: () => this.setFree(!space.isFree),
      m: () => this.setMeasuring(!this.isMeasuring), p: () => this.guard(this.shot()),
      v: () => { byId("viewing").open = !byId("viewing").open; },
      "+": () => space.zoom(1 / 1.15), "=": () => space.zoom(1 / 1.15), "-": () => space.zoom(1.15),
    };
    const action = actions[key.toLowerCase()];
    return Boolean(action) && this.done(action());
  }

  done() {
    return true;
  }
}
