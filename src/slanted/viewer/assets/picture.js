// The picture: tiles of a layer, which can be moved and zoomed, and the outline of a segment.

import { tileAddress } from "./api.js";

const MOST_TILES = 300;
const LARGEST_ZOOM = 40;
const BORDER = "#ffffff";

export class PictureView {
  // onPoint(u, v) and onPick(u, v) get the pixel under the cursor, or null outside the picture.
  constructor(canvas, { onPoint, onPick }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.tiles = new Map();
    this.view = null;
    this.opacity = 1;
    this.outline = [];
    this.mark = null;
    this.labelColours = [];
    this.waiting = false;
    new ResizeObserver(() => this.resized()).observe(canvas);
    this.listen(onPoint, onPick);
  }

  // `least` is the confidence, in percent, below which pixels are hidden.
  show(key, layer, { width, height, tile }, least) {
    const isNew = width !== this.width || height !== this.height;
    Object.assign(this, { key, layer, width, height, side: tile, least });
    if (isNew) this.fit();
    this.draw();
  }

  highlight(outline, mark) {
    this.outline = outline;
    this.mark = mark;
    this.draw();
  }

  fit() {
    const { clientWidth, clientHeight } = this.canvas;
    const scale = Math.min(clientWidth / this.width, clientHeight / this.height);
    this.view = {
      scale,
      x: (clientWidth - this.width * scale) / 2,
      y: (clientHeight - this.height * scale) / 2,
      fitted: true,
    };
    this.draw();
  }

  resized() {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (!this.width) return;
    if (this.view.fitted) this.fit();
    this.draw();
  }

  zoom(factor, x, y) {
    const least = Math.min(this.canvas.clientWidth / this.width, this.canvas.clientHeight / this.height);
    const scale = Math.min(Math.max(this.view.scale * factor, least * 0.5), LARGEST_ZOOM);
    const change = scale / this.view.scale;
    this.view = {
      scale,
      x: x - (x - this.view.x) * change,
      y: y - (y - this.view.y) * change,
      fitted: false,
    };
    this.draw();
  }

  pixelAt(event) {
    if (!this.width) return null;
    const box = this.canvas.getBoundingClientRect();
    const u = Math.floor((event.clientX - box.left - this.view.x) / this.view.scale);
    const v = Math.floor((event.clientY - box.top - this.view.y) / this.view.scale);
    return u >= 0 && v >= 0 && u < this.width && v < this.height ? [u, v] : null;
  }

  listen(onPoint, onPick) {
    const canvas = this.canvas;
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      grip = { x: event.clientX, y: event.clientY, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (grip) {
        const dx = event.clientX - grip.x;
        const dy = event.clientY - grip.y;
        if (!grip.moved && Math.hypot(dx, dy) < 4) return;
        Object.assign(grip, { x: event.clientX, y: event.clientY, moved: true });
        this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy, fitted: false };
        this.draw();
      } else {
        onPoint(this.pixelAt(event));
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (grip && !grip.moved) onPick(this.pixelAt(event));
      grip = null;
    });
    canvas.addEventListener("pointercancel", () => { grip = null; });
    canvas.addEventListener("pointerleave", () => { if (!grip) onPoint(null); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (!this.width) return;
      const box = canvas.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.fit());
  }

  // Many events request a redraw at once; one is made before the next screen refresh.
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { context, canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (!this.width || !this.view) return;
    const { scale, x, y } = this.view;
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    context.imageSmoothingEnabled = scale * ratio < 2;
    const topLevel = Math.max(0, Math.ceil(Math.log2(Math.max(this.width, this.height) / this.side)));
    const level = Math.min(topLevel, Math.max(0, Math.floor(Math.log2(1 / (scale * ratio)))));
    if (this.opacity < 1 && this.layer !== "image") {
      this.drawLevels("image", topLevel, level);
      context.globalAlpha = this.opacity;
    }
    this.drawLevels(this.layer, topLevel, level);
    context.globalAlpha = 1;
    this.drawOutline(scale);
  }

  // The coarsest level first: it is available at once and fills what finer tiles leave open.
  drawLevels(layer, topLevel, level) {
    const blends = this.context.globalAlpha < 1;
    if (level !== topLevel && !(blends && this.allThere(layer, level))) this.drawLevel(layer, topLevel);
    if (level === topLevel || !blends || this.allThere(layer, level)) this.drawLevel(layer, level);
    else for (const place of this.visible(level)) this.tile(layer, level, ...place);
  }

  // Positions of the visible tiles of a level.
  visible(level) {
    const side = this.side << level;
    const { scale, x, y } = this.view;
    const first = (offset) => Math.max(0, Math.floor(-offset / scale / side));
    const last = (offset, room, size) =>
      Math.min(Math.ceil(size / side), Math.ceil((room - offset) / scale / side));
    const places = [];
    for (let row = first(y); row < last(y, this.canvas.clientHeight, this.height); row++) {
      for (let column = first(x); column < last(x, this.canvas.clientWidth, this.width); column++) {
        places.push([column, row]);
      }
    }
    return places;
  }

  allThere(layer, level) {
    return this.visible(level).every((place) => this.tile(layer, level, ...place).ready);
  }

  drawLevel(layer, level) {
    const side = this.side << level;
    for (const [column, row] of this.visible(level)) {
      const tile = this.tile(layer, level, column, row);
      if (!tile.ready) continue;
      const across = Math.min(side, this.width - column * side);
      const down = Math.min(side, this.height - row * side);
      this.context.drawImage(tile.image, column * side, row * side, across, down);
    }
  }

  tile(layer, level, column, row) {
    const address = tileAddress(this.key, layer, level, column, row, this.least);
    let tile = this.tiles.get(address);
    if (!tile) {
      tile = { image: new Image(), ready: false };
      tile.image.onload = () => {
        tile.ready = true;
        this.draw();
      };
      tile.image.src = address;
    }
    this.tiles.delete(address);
    this.tiles.set(address, tile);
    if (this.tiles.size > MOST_TILES) this.tiles.delete(this.tiles.keys().next().value);
    return tile;
  }

  drawOutline(scale) {
    const { context } = this;
    for (const [under, width] of [[true, 4.5], [false, 2.5]]) {
      context.lineWidth = width / scale;
      context.lineCap = "round";
      for (const [x0, y0, x1, y1, kind] of this.outline) {
        context.strokeStyle = under ? "#000000" : this.labelColours[kind] ?? BORDER;
        context.beginPath();
        context.moveTo(x0, y0);
        context.lineTo(x1, y1);
        context.stroke();
      }
    }
    if (!this.mark) return;
    const [u, v] = [this.mark[0] + 0.5, this.mark[1] + 0.5];
    for (const [colour, width] of [["#000000", 4], ["#ffffff", 1.75]]) {
      context.strokeStyle = colour;
      context.lineWidth = width / scale;
      context.beginPath();
      context.arc(u, v, 7 / scale, 0, 2 * Math.PI);
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        context.moveTo(u + (dx * 7) / scale, v + (dy * 7) / scale);
        context.lineTo(u + (dx * 12) / scale, v + (dy * 12) / scale);
      }
      context.stroke();
    }
  }
}
