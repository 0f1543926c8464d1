// Errors of the image and of a rectangle, and values along a line.

import * as api from "./api.js";
import { drawChart } from "./chart.js";
import { make, number } from "./panel.js";

const byId = (id) => document.getElementById(id);
// Rows of the table of errors: the name of the metric, its unit, decimals.
const METRICS = [
  ["D1", "%", 2], ["out-1px", "%", 2], ["out-2px", "%", 2], ["out-3px", "%", 2], ["epe", "px", 3],
  ["rms", "px", 3], ["density", "%", 1],
];
const WHAT = {
  "D1": "more than 3 px and 5 % off", "epe": "mean absolute error", "rms": "root of the mean squared error",
  "density": "share of ground-truth pixels that have an estimate",
};
const meaning = (name) => WHAT[name] ?? `more than ${name.slice(4, 5)} px off`;

// Asks for the errors of the frame and of what it is compared with, in the image and in the region.
export class Errors {
  constructor() {
    this.asked = 0;
    this.kept = new Map(); // answers about whole images, by frame and threshold
  }

  async ask(key, least, region) {
    if (region) return api.metrics(key, least, region);
    const name = `${key} ${least}`;
    if (!this.kept.has(name)) this.kept.set(name, await api.metrics(key, least));
    return this.kept.get(name);
  }

  // `sides` are [{ title, key }], the result first.
  async show(sides, least, region, hasTruth) {
    this.asked += 1;
    const mine = this.asked;
    byId("scoring").hidden = !hasTruth;
    byId("measuring").hidden = !region;
    const parts = [...(hasTruth ? [null] : []), ...(region ? [region] : [])];
    const wanted = parts.flatMap((part) => sides.map((each, side) => ({ ...each, side, region: part })));
    const found = await Promise.all(wanted.map(async (each) => ({
      ...each, told: await this.ask(each.key, least, each.region),
    })));
    if (mine !== this.asked) return;
    if (hasTruth) showTable(found, sides.length > 1);
    if (region) showRegion(found.find((each) => each.region).told);
    byId("scoring").dataset.region = region ? region.join(",") : "";
    byId("scoring").dataset.least = least;
    byId("scoring").dataset.keys = sides.map(({ key }) => key).join(" ");
  }
}

function showTable(found, compares) {
  const head = make("tr");
  head.append(make("th", "", { scope: "col" }));
  for (const { title, region, side } of found) {
    const cell = make("th", region ? "region" : "image", { scope: "col", title });
    if (compares) cell.append(make("small", "AB"[side]));
    head.append(cell);
  }
  const kept = found.some(({ told }) => told.metrics && "D1-kept" in told.metrics);
  const names = METRICS.map(([name, unit, digits]) => [name, `${name}-all`, unit, digits, meaning(name)]);
  if (kept) names.splice(1, 0, ["D1 kept", "D1-kept", "%", 2, "of pixels above the minimum confidence"]);
  const rows = names.map(([name, key, unit, digits, what]) => {
    const row = make("tr");
    const title = make("th", name, { scope: "row", title: what });
    title.append(make("small", unit));
    row.append(title);
    found.forEach(({ told, region, side }) => {
      const value = told.metrics?.[key] ?? null;
      const text = value === null ? "–" : number(value, digits);
      row.append(make("td", text, { "data-metric": key, "data-value": String(value),
        "data-of": `${region ? "region" : "image"}-${side}` }));
    });
    return row;
  });
  const body = make("tbody");
  body.append(...rows);
  const top = make("thead");
  top.append(head);
  byId("scores").replaceChildren(top, body);
}

function showRegion(told) {
  const [x, y, width, height] = told.region;
  byId("region-place").textContent = `${x}, ${y} · ${width} × ${height}`;
  const rows = [["pixels", number(told.pixels, 0), "pixels", told.pixels]];
  if (told.known) rows.push(["with ground truth", number(told.known, 0), "known", told.known]);
  const { low, median, high } = told.disparity;
  if (median !== undefined) {
    rows.push(["disparity", `${number(low, 1)} to ${number(high, 1)} px`, "disparity", `${low},${high}`]);
    rows.push(["its median", `${number(median, 1)} px`, "median", median]);
  }
  for (const [name, share] of Object.entries(told.flags)) {
    if (share > 0) rows.push([name, `${number(share, 1)} %`, name.replaceAll(" ", "-"), share]);
  }
  byId("region-facts").replaceChildren(...rows.flatMap(([name, text, id, value]) => [
    make("dt", name), make("dd", text, { id: `region-${id}`, "data-value": String(value) }),
  ]));
}

// Values along a line: a chart, and the pixel that the pointer on it is at.
export class ProfileView {
  constructor(onPlace) {
    this.sides = [];
    this.told = [];
    this.asked = 0;
    const chart = byId("profile");
    const tell = (place) => this.tell(place, onPlace);
    chart.addEventListener("pointermove", (event) => {
      tell(event.clientX - chart.getBoundingClientRect().left);
    });
    chart.addEventListener("pointerleave", () => { this.say(); onPlace(null); });
    byId("profile-what").addEventListener("change", () => this.draw());
  }

  async show(sides, line, calibrated) {
    this.asked += 1;
    const mine = this.asked;
    byId("profiling").hidden = !line;
    if (!line) return;
    const told = await Promise.all(sides.map(({ key }) => api.profile(key, line)));
    if (mine !== this.asked) return;
    Object.assign(this, { sides, told, line });
    byId("profile-what").querySelector("[value=depth]").disabled = !calibrated;
    if (!calibrated) byId("profile-what").value = "disparity";
    this.draw();
  }

  draw() {
    if (!this.told.length) return;
    const what = byId("profile-what").value;
    const [own] = this.told;
    const curve = (name, told, key) => ({ name, points: told.along.map((at, k) => [at, told[key][k]]) });
    const series = this.told.map((told, k) => curve(k ? this.sides[k].title : what, told, what));
    if (what === "disparity" && own.truth) series.push(curve("ground truth", own, "truth"));
    if (what === "disparity" && own.matched && this.told.length < 2) series.push(curve("matches", own, "matched"));
    this.scale = drawChart(byId("profile"), { series, unit: what === "depth" ? "m" : "px" });
    byId("profile-names").replaceChildren(...series.map(({ name }, k) =>
      make("span", name, { class: `name name-${k}` })));
    byId("profile").dataset.line = this.line.flat().join(",");
    byId("profile").dataset.what = what;
    this.say();
  }

  say(text = "") {
    if (!this.told.length) return;
    const [own] = this.told;
    const length = `${number(own.along.at(-1), 1)} px long`;
    const apart = own.distance === undefined || own.distance === null
      ? "" : ` · its ends are ${number(own.distance, 3)} m apart`;
    byId("profile-text").textContent = text || length + apart;
    byId("profile-text").dataset.distance = own.distance ?? "";
  }

  tell(place, onPlace) {
    if (!this.told.length) return;
    const [own] = this.told;
    const wanted = this.scale.valueAt(place);
    let k = own.along.findIndex((at) => at >= wanted);
    if (k < 0) k = own.along.length - 1;
    const what = byId("profile-what").value;
    const unit = what === "depth" ? "m" : "px";
    const values = this.told.map((told) => `${number(told[what][k], 3)} ${unit}`).join(" | ");
    this.say(`(${own.u[k]}, ${own.v[k]}): ${values}`);
    onPlace([own.u[k], own.v[k]]);
  }

  // All numbers as a table with tabs, for other programs.
  text() {
    const [own] = this.told;
    const names = Object.keys(own).filter((name) => Array.isArray(own[name]));
    const lines = own.u.map((_, k) => names.map((name) => own[name][k] ?? "").join("\t"));
    return [names.join("\t"), ...lines].join("\n");
  }
}
