// The side panel: what is under the cursor, the iterations, the sliders and the run under way.

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
    for (const [place, text] of ticks) {
      const tick = make("span", text);
      tick.style.left = `${100 * place}%`;
      holder.append(tick);
    }
    box.append(holder);
  }
  for (const [name, colour] of swatches) box.append(swatch(colour, name));
}

const number = (value, digits) => value === null || value === undefined
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

export function showFact(fact, state, labelColours, isPinned) {
  byId("nothing").hidden = Boolean(fact);
  byId("facts").hidden = byId("neighbours").hidden = !fact;
  byId("pinned").textContent = fact && isPinned ? "held" : "";
  if (!fact) return;
  byId("facts").replaceChildren(...rows(fact, state).flatMap(([name, text, id, exact]) => [
    make("dt", name),
    make("dd", text, { id: `fact-${id}`, "data-value": String(exact) }),
  ]));
  const lines = fact.neighbours.slice(0, MOST_NEIGHBOURS).map(({ segment, label, length, colour }) =>
    swatch(labelColours[colour], `${label}`, `segment ${segment}, ${length} px`));
  const more = fact.neighbours.length - MOST_NEIGHBOURS;
  if (more > 0) lines.push(make("span", `and ${more} shorter`, { class: "faint" }));
  byId("neighbours").replaceChildren(make("h2", "Its boundaries"), ...lines);
}

export class Sliders {
  // onLetGo is called when the user releases a slider, onEnter after a number and the Enter key.
  constructor(box, weights, onLetGo, onEnter) {
    this.box = box;
    this.weights = weights;
    this.onLetGo = onLetGo;
    this.onEnter = onEnter;
    this.fields = new Map();
  }

  // What the user has set but not run stays; everything else follows the server.
  show(sliders) {
    for (const slider of sliders) {
      const field = this.fields.get(slider.path) ?? this.add(slider);
      const isUntouched = Number(field.exact.value) === field.value;
      field.value = slider.value;
      if (isUntouched) field.set(slider.value);
      field.mark();
    }
  }

  // A slider runs from 0 to 1; those with a wide range give small values more room.
  add({ path, name, low, high, whole, power, value, doc }) {
    const row = make("div", "", { class: "slider", title: doc });
    const id = `slider-${path.replaceAll(".", "-")}`;
    const range = make("input", "", { id, type: "range", min: 0, max: 1, step: "any" });
    const exact = make("input", "", {
      id: `${id}-exact`, type: "number", min: 0, step: whole ? 1 : "any", "aria-label": `${name}, exactly`,
    });
    const place = (number) => Math.max(0, (number - low) / (high - low)) ** (1 / power);
    const field = { exact, value, whole };
    field.mark = () => row.classList.toggle("changed", Number(exact.value) !== field.value);
    field.set = (number) => {
      exact.value = number;
      range.value = place(number);
      field.mark();
    };
    field.set(value);
    range.addEventListener("input", () => {
      const wanted = low + (high - low) * Number(range.value) ** power;
      exact.value = whole ? Math.round(wanted) : Number(wanted.toPrecision(3));
      field.mark();
    });
    range.addEventListener("change", this.onLetGo);
    exact.addEventListener("input", () => {
      range.value = place(Number(exact.value));
      field.mark();
    });
    exact.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && exact.value !== "") this.onEnter();
    });
    row.append(make("label", name, { for: id }), range, exact);
    (path.startsWith("model.weights.") ? this.weights : this.box).append(row);
    this.fields.set(path, field);
    return field;
  }

  changes() {
    const found = {};
    for (const [path, { exact, value, whole }] of this.fields) {
      const wanted = whole ? Math.round(Number(exact.value)) : Number(exact.value);
      if (exact.value !== "" && wanted !== value) found[path] = wanted;
    }
    return found;
  }

  reset() {
    for (const field of this.fields.values()) field.set(field.value);
  }
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
