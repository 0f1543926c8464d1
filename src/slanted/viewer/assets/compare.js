// A second map beside the result, and the border between the two, which can be moved.

import * as api from "./api.js";
import { make } from "./panel.js";

const byId = (id) => document.getElementById(id);
const STEP = 0.02;

export class Comparison {
  // onChange is called when there is another map, or none.
  constructor(picture, onChange) {
    this.picture = picture;
    this.onChange = onChange;
    this.other = null;
    this.colours = "viridis";
    this.listen();
  }

  // What can be compared with, in the menu; called again when it changed.
  offer(others) {
    const menu = byId("compare");
    const known = [...menu.options].map(({ value }) => value).join();
    byId("comparing").hidden = !others.length;
    if (known === ["", ...others.map(({ name }) => name)].join()) return;
    const options = others.map(({ name, title }) => make("option", title, { value: name }));
    menu.replaceChildren(make("option", "nothing", { value: "" }), ...options);
  }

  async choose(name) {
    byId("compare").value = name;
    byId("compare").disabled = true;
    byId("comparing").dataset.state = name ? "waiting" : "";
    try {
      this.other = name ? await api.other(name, this.colours) : null;
    } catch (error) {
      this.other = null;
      byId("compare").value = "";
      throw error;
    } finally {
      byId("compare").disabled = false;
      byId("comparing").dataset.state = this.other ? "shown" : "";
      this.show();
      this.onChange();
    }
  }

  end() {
    this.other = null;
    byId("compare").value = "";
    byId("comparing").dataset.state = "";
    this.show();
  }

  // The key b goes through all that can be compared with.
  next() {
    const menu = byId("compare");
    if (menu.disabled || menu.options.length < 2) return null;
    return menu.options[(menu.selectedIndex + 1) % menu.options.length].value;
  }

  show() {
    const { other } = this;
    const layers = other ? other.layers.map(({ name }) => name) : [];
    this.picture.set({ other: other && { key: other.key, layers } });
    for (const id of ["swipe", "side-a", "side-b"]) byId(id).hidden = !other;
    if (other) this.place(this.picture.swipe);
  }

  // The names of the two sides, and what the other one lacks.
  name(title, layer, layerTitle) {
    if (!this.other) return;
    const has = this.other.layers.some(({ name }) => name === layer);
    byId("side-a").textContent = `A · ${title}`;
    byId("side-b").textContent = `B · ${this.other.title}${has ? "" : ` has no ${layerTitle}`}`;
  }

  place(share) {
    const swipe = Math.min(Math.max(share, 0), 1);
    this.picture.set({ swipe });
    byId("swipe").style.left = `${100 * swipe}%`;
    byId("swipe").setAttribute("aria-valuenow", Math.round(100 * swipe));
    byId("side-a").style.right = `${100 * (1 - swipe)}%`;
    byId("side-b").style.left = `${100 * swipe}%`;
  }

  listen() {
    const handle = byId("swipe");
    let held = false;
    handle.addEventListener("pointerdown", (event) => {
      held = true;
      handle.setPointerCapture(event.pointerId);
    });
    handle.addEventListener("pointermove", (event) => {
      if (!held) return;
      const box = this.picture.canvas.getBoundingClientRect();
      this.place((event.clientX - box.left) / box.width);
    });
    for (const name of ["pointerup", "pointercancel"]) handle.addEventListener(name, () => { held = false; });
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -STEP, ArrowRight: STEP, PageDown: -5 * STEP, PageUp: 5 * STEP };
      const ends = { Home: 0, End: 1 };
      if (event.key in steps) this.place(this.picture.swipe + steps[event.key]);
      else if (event.key in ends) this.place(ends[event.key]);
      else return;
      event.preventDefault();
    });
  }
}
