// Pointer and keyboard on the picture: moving it, pointing, and drawing a rectangle or a line.

const CLICK = 4; // pixels that a click may move
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function regionOf([u0, v0], [u1, v1]) {
  return [Math.min(u0, u1), Math.min(v0, v1), Math.abs(u1 - u0) + 1, Math.abs(v1 - v0) + 1];
}

export class Hands {
  // onPoint and onPick get the pixel under the cursor, or null outside the picture; onRegion gets a
  // rectangle and onLine two pixels.
  constructor(view, calls) {
    this.view = view;
    this.calls = calls;
    this.tool = "move";
    this.grip = null; // the pointer that is down
    this.anchor = null; // where the keyboard began to draw
    this.listen();
  }

  // The right image has pixels of its own: nothing is known of them.
  pixelAt(event) {
    const { view } = this;
    if (!view.width || view.layer === "right") return null;
    const place = view.placeOf(event);
    return view.isInside(place) ? place : null;
  }

  listen() {
    const { canvas } = this.view;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => { this.grip = null; });
    canvas.addEventListener("pointerleave", () => { if (!this.grip) this.calls.onPoint(null); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (!this.view.width) return;
      const box = canvas.getBoundingClientRect();
      this.view.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.view.fit());
    canvas.addEventListener("keydown", (event) => this.type(event));
    canvas.addEventListener("blur", () => this.view.set({ cursor: null }));
  }

  press(event) {
    if (!this.view.width || this.view.layer === null) return;
    this.view.canvas.setPointerCapture(event.pointerId);
    this.view.set({ cursor: null });
    this.anchor = null;
    const wanted = event.shiftKey ? "region" : event.altKey ? "line" : this.tool;
    const tool = this.view.layer === "right" ? "move" : wanted;
    const start = this.view.inside(this.view.placeOf(event));
    this.grip = { x: event.clientX, y: event.clientY, moved: false, tool, start };
  }

  drag(event) {
    const { grip, view } = this;
    if (!grip) {
      this.calls.onPoint(this.pixelAt(event));
      return;
    }
    const dx = event.clientX - grip.x;
    const dy = event.clientY - grip.y;
    if (!grip.moved && Math.hypot(dx, dy) < CLICK) return;
    grip.moved = true;
    if (grip.tool === "move") {
      Object.assign(grip, { x: event.clientX, y: event.clientY });
      view.move(dx, dy);
    } else {
      this.sketch(grip.tool, grip.start, view.inside(view.placeOf(event)));
    }
  }

  release(event) {
    const { grip } = this;
    this.grip = null;
    if (!grip) return;
    if (!grip.moved) this.calls.onPick(this.pixelAt(event));
    else if (grip.tool !== "move") this.finish(grip.tool, grip.start, this.view.inside(this.view.placeOf(event)));
  }

  sketch(tool, start, end) {
    this.view.set(tool === "region" ? { region: regionOf(start, end) } : { line: [start, end], along: null });
  }

  finish(tool, start, end) {
    this.sketch(tool, start, end);
    if (tool === "region") this.calls.onRegion(regionOf(start, end));
    else this.calls.onLine([start, end]);
  }

  // Arrow keys move a cursor; Enter holds its pixel, or sets the ends of what is drawn.
  type(event) {
    const { view } = this;
    if (!view.width || view.layer === "right" || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in STEPS) {
      event.preventDefault();
      const far = event.shiftKey ? 10 : 1;
      const [du, dv] = STEPS[event.key];
      const from = view.cursor ?? view.mark ?? [Math.floor(view.width / 2), Math.floor(view.height / 2)];
      const to = view.cursor ? view.inside([from[0] + far * du, from[1] + far * dv]) : from;
      view.set({ cursor: to });
      view.reveal(to);
      this.calls.onPoint(to);
      if (this.anchor) this.sketch(this.tool, this.anchor, to);
    } else if (event.key === "Enter" && view.cursor) {
      event.preventDefault();
      this.enter(view.cursor);
    }
  }

  enter(pixel) {
    if (this.tool === "move") {
      this.calls.onPick(pixel);
    } else if (this.anchor) {
      this.finish(this.tool, this.anchor, pixel);
      this.anchor = null;
    } else {
      this.anchor = pixel;
      this.sketch(this.tool, pixel, pixel);
    }
  }
}
