// Small charts as SVG: curves over numbers, upright lines with a word, and a dot.

const SPACE = "http://www.w3.org/2000/svg";
const LEFT = 46;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;

function draw(tag, attributes, text = "") {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== "") element.textContent = text;
  return element;
}

// Round numbers between two ends, 1, 2 or 5 times a power of ten apart.
export function niceTicks(low, high, most) {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(most - 1, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(k * step || 0); // not −0
  return ticks;
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });

// A curve is broken where a value is unknown.
function path(points, across, down) {
  let text = "";
  let isOpen = false;
  for (const [x, y] of points) {
    if (y === null || !Number.isFinite(y)) {
      isOpen = false;
      continue;
    }
    text += `${isOpen ? "L" : "M"}${across(x).toFixed(1)} ${down(y).toFixed(1)}`;
    isOpen = true;
  }
  return text;
}

function ends(values) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  if (!known.length) return [0, 1];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = high > low ? 0.06 * (high - low) : Math.max(1, 0.05 * Math.abs(high));
  return [low - room, high + room];
}

// `series` are { name, points }, the points [x, y]; `marks` are { x, text }; `dot` is a point.
// Return functions that turn values into places, and back.
export function drawChart(svg, { series, marks = [], dot = null, unit = "", dots = false, whole = false }) {
  const width = svg.clientWidth || 300;
  const height = svg.clientHeight || 110;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const xs = series.flatMap(({ points }) => points.map(([x]) => x));
  const [first, last] = [Math.min(...xs), Math.max(...xs, Math.min(...xs) + 1e-9)];
  const [low, high] = ends(series.flatMap(({ points }) => points.map(([, y]) => y)));
  const room = width - LEFT - RIGHT;
  const across = (x) => LEFT + ((x - first) / (last - first || 1)) * room;
  const down = (y) => height - BOTTOM - ((y - low) / (high - low)) * (height - TOP - BOTTOM);
  const parts = [];
  for (const y of niceTicks(low, high, 4)) {
    parts.push(draw("path", { class: "grid", d: `M${LEFT} ${down(y)}H${width - RIGHT}` }));
    parts.push(draw("text", { class: "tick", x: LEFT - 5, y: down(y) + 3.5, "text-anchor": "end" }, short.format(y)));
  }
  for (const x of niceTicks(first, last, 6).filter((each) => !whole || Number.isInteger(each))) {
    const words = `${short.format(x)}`;
    parts.push(draw("text", { class: "tick", x: across(x), y: height - 6, "text-anchor": "middle" }, words));
  }
  if (unit) parts.push(draw("text", { class: "tick", x: LEFT + 3, y: TOP + 4 }, unit));
  for (const { x, text } of marks) {
    parts.push(draw("path", { class: "change", d: `M${across(x)} ${TOP}V${height - BOTTOM}` }));
    const isLate = across(x) > width / 2;
    const place = { x: across(x) + (isLate ? -4 : 4), y: TOP + 9, "text-anchor": isLate ? "end" : "start" };
    if (text) parts.push(draw("text", { class: "change-text", ...place }, text));
  }
  // The first curve lies on top.
  [...series.entries()].reverse().forEach(([k, { name, points }]) => {
    const line = draw("path", { class: `curve curve-${k}`, d: path(points, across, down) });
    line.append(draw("title", {}, name));
    parts.push(line);
    if (!dots) return;
    for (const [x, y] of points) {
      if (y !== null && Number.isFinite(y)) {
        parts.push(draw("circle", { class: `dot dot-${k}`, cx: across(x), cy: down(y), r: 2.2 }));
      }
    }
  });
  if (dot && dot[1] !== null) {
    parts.push(draw("circle", { class: "here", cx: across(dot[0]), cy: down(dot[1]), r: 4.5 }));
  }
  svg.replaceChildren(...parts);
  return { valueAt: (place) => first + ((place - LEFT) / room) * (last - first) };
}
