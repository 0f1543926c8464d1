// The sliders of the settings, each with a box for the exact number.

import { make } from "./panel.js";

// The paper's symbol, small: w_seg is a w with an index.
function symbolOf(symbol) {
  const [letter, index] = symbol.split("_");
  const small = make("small", letter);
  if (index) small.append(make("sub", index));
  return small;
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
  add({ path, name, symbol, low, high, whole, power, value, doc }) {
    const row = make("div", "", { class: "slider", title: doc });
    const id = `slider-${path.replaceAll(".", "-")}`;
    const range = make("input", "", { id, type: "range", min: 0, max: 1, step: "any" });
    const exact = make("input", "", {
      id: `${id}-exact`, type: "number", min: low, max: high, step: whole ? 1 : "any",
      "aria-label": `${name}, exactly`, title: `${low} to ${high}; Enter runs`,
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
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (exact.value !== "" && exact.reportValidity()) this.onEnter();
    });
    const label = make("label", name, { for: id });
    if (symbol) label.append(" ", symbolOf(symbol));
    row.append(label, range, exact);
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
