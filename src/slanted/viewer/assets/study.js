// Studying the picture: region, line, comparison, copies and screenshots.

import { Comparison } from "./compare.js";
import { Errors, ProfileView } from "./measure.js";
import { factText, make } from "./panel.js";
import { paintScreenshot, saveScreenshot } from "./screenshot.js";
import { guarded } from "./troubles.js";

const byId = (id) => document.getElementById(id);

export class Study {
  // now() tells what is shown; choose(name) shows a layer, forget() releases the pixel, and retell()
  // asks for its numbers again.
  constructor({ picture, hands, now, choose, forget, retell }) {
    Object.assign(this, { picture, hands, now, choose, forget, retell });
    this.region = this.line = null;
    this.comparison = new Comparison(picture, () => this.compared());
    this.errors = new Errors();
    this.profile = new ProfileView((along) => picture.set({ along }));
    this.measure = guarded(() => {
      const { state, least } = this.now();
      return this.errors.show(this.sides(), least, this.region, state.has_truth);
    });
    this.drawProfile = guarded(() => this.profile.show(this.sides(), this.line, this.now().state.calibrated));
    this.compare = guarded((name) => this.comparison.choose(name));
    this.copy = guarded(async (text, what) => {
      await navigator.clipboard.writeText(text);
      byId("said").textContent = `${what} copied`;
    });
    this.screenshot = guarded(() => this.save());
    Object.assign(hands.calls, {
      onRegion: (region) => this.setRegion(region), onLine: (line) => this.setLine(line),
    });
    this.listen();
  }

  listen() {
    const onClick = (id, action) => byId(id).addEventListener("click", action);
    byId("compare").addEventListener("change", (event) => this.compare(event.target.value));
    onClick("copy", () => this.copyFact());
    onClick("screenshot", this.screenshot);
    onClick("profile-copy", () => this.copy(this.profile.text(), "profile"));
    onClick("region-clear", () => this.setRegion(null));
    onClick("profile-clear", () => this.setLine(null));
    for (const button of document.querySelectorAll("button[data-tool]")) {
      button.addEventListener("click", () => this.useTool(button.dataset.tool));
    }
    byId("layers").addEventListener("keydown", (event) => {
      const places = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!places) return;
      event.preventDefault();
      this.goThroughLayers(places);
    });
  }

  keys() {
    const { picture } = this;
    return {
      "[": () => this.goThroughLayers(-1),
      "]": () => this.goThroughLayers(1),
      "m": () => this.useTool("move"),
      "r": () => this.useTool("region"),
      "l": () => this.useTool("line"),
      "+": () => picture.zoom(1.25),
      "-": () => picture.zoom(0.8),
      "0": () => picture.fit(),
      "c": () => this.copyFact(),
      "s": this.screenshot,
      "b": () => {
        const name = this.comparison.next();
        if (name !== null) this.compare(name);
      },
      "Escape": () => this.release(),
    };
  }

  // What the menus offer. Another pair has other maps to compare with, and perhaps another size.
  offer({ others, colours, width, height }) {
    this.comparison.offer(others);
    const { other } = this.comparison;
    if (other && !others.some(({ key }) => key === other.key)) this.comparison.end();
    if (this.size !== `${width} ${height}`) {
      this.region = this.line = null;
      this.picture.set({ region: null, line: null });
      this.size = `${width} ${height}`;
    }
    if (byId("colours").options.length) return;
    byId("colours").replaceChildren(...colours.map((name) => make("option", name, { value: name })));
  }

  // The frame and what it is compared with.
  sides() {
    const { state, frame } = this.now();
    const { other } = this.comparison;
    return [{ title: state.name, key: frame.key }, ...(other ? [{ title: other.title, key: other.key }] : [])];
  }

  chosen() {
    const { frame, layer } = this.now();
    return frame.layers.find(({ name }) => name === layer);
  }

  name() {
    this.comparison.name(this.now().state.name, this.chosen().name, this.chosen().title);
  }

  setRegion(region) {
    this.region = region;
    this.picture.set({ region });
    this.measure();
  }

  setLine(line) {
    this.line = line;
    this.picture.set({ line, along: null });
    this.drawProfile();
  }

  compared() {
    this.name();
    this.measure();
    this.drawProfile();
    this.retell();
  }

  useTool(name) {
    this.hands.tool = name;
    this.hands.anchor = null;
    for (const button of document.querySelectorAll("button[data-tool]")) {
      button.setAttribute("aria-pressed", button.dataset.tool === name);
    }
    byId("picture").dataset.tool = name;
  }

  copyFact() {
    const { fact, otherFact, state } = this.now();
    if (fact) this.copy(factText(fact, otherFact, state), "numbers");
  }

  save() {
    const { state, layer } = this.now();
    const names = this.comparison.other ? [byId("side-a").textContent, byId("side-b").textContent] : null;
    const canvas = paintScreenshot(this.picture, this.chosen().legend, names);
    return saveScreenshot(canvas, `${state.name.replace(/[^\w.-]+/g, "-")}-${layer}.png`);
  }

  goThroughLayers(places) {
    const { frame, layer } = this.now();
    const names = frame.layers.map(({ name }) => name);
    this.choose(names[(names.indexOf(layer) + places + names.length) % names.length]);
  }

  // The pixel first, then the region and the line.
  release() {
    const { pinned, fact } = this.now();
    if (pinned || fact || this.hands.anchor) {
      this.hands.anchor = null;
      this.forget();
    } else {
      this.setRegion(null);
      this.setLine(null);
    }
  }
}
