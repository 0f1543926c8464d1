// The side panel: legends, what is under the cursor, the iterations and the run under way.

import { drawChart } from "./chart.js";

const MOST_NEIGHBOURS = 7;
const byId = (id) => document.getElementById(id);

export function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  if (text !== "") element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function swatch(colour, ...texts) {
  const line = make("span", "", { class: "swatch" });
  const square = make("i");
  square.style.background = colour;
  line.append(square, ...texts.map((text) => make("span", text)));
  return line;
}

// Where the bar is short, numbers that would cover the one to their left are left out.
function thinOut(ticks) {
  let free = -Infinity;
  for (const tick of ticks) {
    const { left, right } = tick.getBoundingClientRect();
    tick.hidden = left < free;
    if (!tick.hidden) free = right + 3;
  }
}

// Legends are the same as in the pictures on disk.
export function showLegend(box, { title, bar, ticks, swatches }) {
  box.replaceChildren(make("strong", title));
  if (bar.length) {
    const holder = make("div", "", { class: "bar" });
    const canvas = make("canvas", "", { width: bar.length, height: 1 });
    const context = canvas.getContext("2d");
    bar.forEach((colour, k) => {
      context.fillStyle = colour;
      context.fillRect(k, 0, 1, 1);
    });
    holder.append(canvas);
    for (const [place, text] of [...ticks].sort(([one], [other]) => one - other)) {
      const tick = make("span", text);
      tick.style.left = `${100 * place}%`;
      holder.append(tick);
    }
    box.append(holder);
    thinOut([...holder.querySelectorAll("span")]);
  }
  for (const [name, colour] of swatches) box.append(swatch(colour, name));
}

export const number = (value, digits) => value === null || value === undefined
  ? "unknown"
  : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

function signed(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
}

// Rows of [name, value, id, exact value]; the exact one is for programs that read the page.
function rows(fact, state) {
  const [alpha, beta, gamma] = fact.plane;
  const found = [
    ["pixel (u, v)", `${fact.u}, ${fact.v}`, "pixel", `${fact.u},${fact.v}`],
    ["disparity", `${number(fact.disparity, 3)} px`, "disparity", fact.disparity],
  ];
  if (state.calibrated) {
    const depth = fact.depth === null ? "none" : `${number(fact.depth, 3)} m`;
    found.push(["depth", depth, "depth", fact.depth]);
  }
  found.push(["matched", fact.matched === null ? "no match" : `${number(fact.matched, 3)} px`, "matched", fact.matched]);
  if (fact.truth !== null) {
    const error = Math.abs(fact.disparity - fact.truth);
    found.push(["ground truth", `${number(fact.truth, 3)} px`, "truth", fact.truth]);
    found.push(["error", `${number(error, 3)} px`, "error", error]);
  }
  if (fact.confidence !== null) {
    found.push(["confidence", `${number(100 * fact.confidence, 1)} %`, "confidence", fact.confidence]);
  }
  if (fact.deviation !== null) {
    found.push(["deviation if right", `${number(fact.deviation, 2)} px`, "deviation", fact.deviation]);
  }
  found.push(
    ["flags", fact.flags, "flags", fact.flags],
    ["seen by the right view", fact.occluded ? "no" : "yes", "occluded", fact.occluded],
    ["segment", `${fact.segment}, of ${number(fact.size, 0)} px`, "segment", fact.segment],
    ["plane α, β", `${signed(alpha)}, ${signed(beta)}`, "slopes", `${alpha},${beta}`],
    ["plane γ", `${number(gamma, 3)} px`, "gamma", gamma],
    ["about", fact.centre.map((value) => value.toFixed(1)).join(", "), "centre", fact.centre.join(",")],
  );
  if (fact.margin !== null) found.push(["margin of the segment", number(fact.margin, 1), "margin", fact.margin]);
  return found;
}

// What the compared map has at the same pixel, and how far it is from the result.
function otherRows(fact, other, state) {
  if (!other) return [];
  const { title, fact: there } = other;
  const found = [[title, there.disparity === null ? "unknown" : `${number(there.disparity, 3)} px`,
    "other-disparity", there.disparity]];
  if (state.calibrated) {
    const depth = there.depth === null ? "none" : `${number(there.depth, 3)} m`;
    found.push(["its depth", depth, "other-depth", there.depth]);
  }
  if (there.disparity !== null) {
    const apart = there.disparity - fact.disparity;
    found.push(["differs by", `${apart < 0 ? "−" : "+"}${number(Math.abs(apart), 3)} px`, "apart", apart]);
  }
  if (fact.truth !== null && there.disparity !== null) {
    const error = Math.abs(there.disparity - fact.truth);
    found.push(["its error", `${number(error, 3)} px`, "other-error", error]);
  }
  return found;
}

// The numbers of a pixel as text, a line each, for other programs.
export function factText(fact, other, state) {
  const all = [...rows(fact, state), ...otherRows(fact, other, state)];
  return all.map(([name, text]) => `${name}\t${text}`).join("\n");
}

export function showFact(fact, state, labelColours, isPinned, other = null) {
  byId("nothing").hidden = Boolean(fact);
  byId("facts").hidden = byId("neighbours").hidden = byId("copy").hidden = !fact;
  byId("pinned").textContent = fact && isPinned ? "held" : "";
  if (!fact) return;
  const all = [...rows(fact, state), ...otherRows(fact, other, state)];
  byId("facts").replaceChildren(...all.flatMap(([name, text, id, exact]) => [
    make("dt", name, id === "other-disparity" ? { class: "first" } : {}),
    make("dd", text, { id: `fact-${id}`, "data-value": String(exact) }),
  ]));
  const lines = fact.neighbours.slice(0, MOST_NEIGHBOURS).map(({ segment, label, length, colour }) =>
    swatch(labelColours[colour], `${label}`, `segment ${segment}, ${length} px`));
  const more = fact.neighbours.length - MOST_NEIGHBOURS;
  if (more > 0) lines.push(make("span", `and ${more} shorter`, { class: "faint" }));
  byId("neighbours").replaceChildren(make("h3", "Its boundaries"), ...lines);
}

export function showJob(job, whyNoRun) {
  const isRunning = job.status === "running";
  byId("run").disabled = isRunning || Boolean(whyNoRun);
  byId("cancel").disabled = !isRunning;
  byId("progress").hidden = !isRunning;
  byId("progress").value = job.share;
  const words = { idle: "", running: job.text, done: `done in ${job.text}` };
  byId("job").textContent = words[job.status] ?? job.text;
  byId("job").className = job.status === "failed" ? "faint failed" : "faint";
  byId("job").dataset.status = job.status;
  byId("job").dataset.run = job.number;
  byId("why-no-run").hidden = !whyNoRun;
  byId("why-no-run").textContent = whyNoRun;
}

export function showSteps(frames, key) {
  const place = Math.max(0, frames.findIndex((frame) => frame.key === key));
  const slider = byId("step");
  slider.max = frames.length - 1;
  slider.value = place;
  slider.disabled = frames.length < 2;
  byId("step-back").disabled = place === 0;
  byId("step-on").disabled = place >= frames.length - 1;
  const { title, segments, energy } = frames[place];
  const parts = [title, `${segments} segments`];
  if (energy !== null) parts.push(`energy ${number(energy, 0)}`);
  if (frames.length < 2) parts.push("a run records its iterations");
  byId("step-title").textContent = parts.join(" · ");
}

// The energy by iteration, and in words why it may rise: other segments are another energy.
export function showEnergy(course, frame) {
  byId("energy-story").hidden = course.length < 2;
  if (course.length < 2) return;
  const changes = course.filter(({ changed }) => changed);
  const here = course.find(({ iteration }) => iteration === frame.iteration);
  // Curves end where segments changed: what follows is another energy.
  const curve = (name) => course.flatMap((moment) => [
    ...(moment.changed ? [[moment.iteration, null]] : []), [moment.iteration, moment[name]],
  ]);
  drawChart(byId("energy"), {
    series: [
      { name: "energy", points: curve("energy") },
      { name: "lower bound", points: curve("bound") },
    ],
    marks: changes.map(({ iteration }, k) => ({ x: iteration - 0.5, text: k ? "" : "segments changed" })),
    dot: here ? [here.iteration, here.energy] : null,
    dots: true,
    whole: true,
  });
  const told = changes.map(({ iteration, segments, energy }) => {
    const before = course.find((each) => each.iteration === iteration - 1);
    if (!before) return `Before iteration ${iteration} the segments changed.`;
    const counts = before.segments === segments
      ? `${number(segments, 0)} moved` : `${number(before.segments, 0)} became ${number(segments, 0)}`;
    const way = energy > before.energy ? "rises" : "falls";
    return `Before iteration ${iteration} the segments changed (${counts}): the energy ${way}, but is that of `
      + "other segments.";
  });
  byId("energy-text").textContent = told.length
    ? `${told.join(" ")} Only energies between two changes can be compared.`
    : "Energy after each iteration, and the lower bound among its particles.";
}
