// The picture: tiles of a layer, which can be moved and zoomed, and what is drawn over them.

import { tileAddress } from "./api.js";
import { drawCursor, drawLine, drawMark, drawOutline, drawRegion } from "./marks.js";

const MOST_TILES = 300;
const LARGEST_ZOOM = 40;

export class PictureView {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.tiles = new Map();
    this.view = null;
    this.opacity = 1;
    this.outline = [];
    this.mark = null; // the pixel that is held
    this.cursor = null; // the keyboard's cursor
    this.region = null; // x, y, width, height
    this.line = null; // two pixels
    this.along = null; // a pixel of the line that the profile points at
    this.labelColours = [];
    this.other = null; // what is shown right of the swipe: its key and the names of its layers
    this.swipe = 0.5; // where the border is, as a share of the width
    this.waiting = false;
    new ResizeObserver(() => this.resized()).observe(canvas);
  }

  // Pixels less sure than `least`, in percent, are hidden; `colours` names the colour map.
  show(key, layer, { width, height, tile }, least, colours) {
    const isNew = width !== this.width || height !== this.height;
    Object.assign(this, { key, layer, width, height, side: tile, least, colours });
    if (isNew) this.fit();
    this.draw();
  }

  // On the right image the held pixel is where the disparity puts it.
  highlight(outline, mark, disparity = 0) {
    Object.assign(this, { outline, mark, disparity });
    this.draw();
  }

  set(values) {
    Object.assign(this, values);
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

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
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

  move(dx, dy) {
    this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy, fitted: false };
    this.draw();
  }

  // The pixel under the pointer, which may lie outside the picture.
  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return [
      Math.floor((event.clientX - box.left - this.view.x) / this.view.scale),
      Math.floor((event.clientY - box.top - this.view.y) / this.view.scale),
    ];
  }

  isInside([u, v]) {
    return u >= 0 && v >= 0 && u < this.width && v < this.height;
  }

  inside([u, v]) {
    return [Math.min(Math.max(u, 0), this.width - 1), Math.min(Math.max(v, 0), this.height - 1)];
  }

  // Moves the picture so that a pixel is seen.
  reveal([u, v]) {
    const { scale, x, y } = this.view;
    const [across, down] = [x + (u + 0.5) * scale, y + (v + 0.5) * scale];
    const shift = (place, room) => (place < 10 ? 10 - place : place > room - 10 ? room - 10 - place : 0);
    const [dx, dy] = [shift(across, this.canvas.clientWidth), shift(down, this.canvas.clientHeight)];
    if (dx || dy) this.move(dx, dy);
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
    const border = Math.round(canvas.width * this.swipe);
    if (this.other) {
      this.drawSide(this.key, 0, border);
      if (this.other.layers.includes(this.layer)) {
        this.drawSide(this.other.key, border, canvas.width - border);
      }
    } else {
      this.drawSide(this.key, 0, canvas.width);
    }
    const { scale, x, y } = this.view;
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    this.drawMarks(scale);
  }

  drawMarks(scale) {
    const { context, layer } = this;
    if (layer !== "right") drawOutline(context, scale, this.outline, this.labelColours);
    if (this.region && layer !== "right") drawRegion(context, scale, this.region);
    if (this.line && layer !== "right") drawLine(context, scale, this.line, this.along);
    if (this.mark) {
      const [u, v] = this.mark;
      drawMark(context, scale, layer === "right" ? [u - (this.disparity ?? 0), v] : [u, v]);
    }
    if (this.cursor) drawCursor(context, scale, this.cursor);
  }

  // One of the two sides, clipped to its part of the canvas.
  drawSide(key, start, width) {
    const { context } = this;
    const ratio = window.devicePixelRatio || 1;
    context.save();
    context.beginPath();
    context.rect(start, 0, width, this.canvas.height);
    context.clip();
    const { scale, x, y } = this.view;
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    context.imageSmoothingEnabled = scale * ratio < 2;
    const topLevel = Math.max(0, Math.ceil(Math.log2(Math.max(this.width, this.height) / this.side)));
    const level = Math.min(topLevel, Math.max(0, Math.floor(Math.log2(1 / (scale * ratio)))));
    if (this.opacity < 1 && this.layer !== "image") {
      this.drawLevels(key, "image", topLevel, level);
      context.globalAlpha = this.opacity;
    }
    this.drawLevels(key, this.layer, topLevel, level);
    context.restore();
  }

  // The coarsest level first: it is available at once and fills what finer tiles leave open.
  drawLevels(key, layer, topLevel, level) {
    const blends = this.context.globalAlpha < 1;
    const isThere = () => this.allThere(key, layer, level);
    if (level !== topLevel && !(blends && isThere())) this.drawLevel(key, layer, topLevel);
    if (level === topLevel || !blends || isThere()) this.drawLevel(key, layer, level);
    else for (const place of this.visible(level)) this.tile(key, layer, level, ...place);
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

  allThere(key, layer, level) {
    return this.visible(level).every((place) => this.tile(key, layer, level, ...place).ready);
  }


  drawLevel(key, layer, level) {
    const side = this.side << level;
    for (const [column, row] of this.visible(level)) {
      const tile = this.tile(key, layer, level, column, row);
      if (!tile.ready) continue;
      const across = Math.min(side, this.width - column * side);
      const down = Math.min(side, this.height - row * side);
      this.context.drawImage(tile.image, column * side, row * side, across, down);
    }
  }

  tile(key, layer, level, column, row) {
    const address = tileAddress(key, layer, level, column, row, this.least, this.colours);
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
}
