// The 3D view: the mesh and the cloud, both painted alike, and the way they are looked at.

import * as THREE from "three";
import { OrbitControls } from "./vendor/three/OrbitControls.js";
import { Marks } from "./space_marks.js";
import {
  CLAY, NOWHERE, PAINT, makeMaterials, makeUniforms, scaleTexture, textureOf,
} from "./space_materials.js";

export { KEYS } from "./space_keys.js";

const SLOW = 80; // milliseconds
const REST = 350;
const DRAFT_POINTS = 40000;
const EVERYTHING = 1e30; // farther than anything
const REACH = 4; // pixels around the cursor in which a point is found
const LOWEST = (115 * Math.PI) / 180; // how far below the horizon a bounded orbit goes
const TURN = Math.PI / 36; // of an arrow key
const NEAREST_POINTS = 5000; // points that tell how far the scene reaches
// Directions from which the scene can be looked at; those with `free` are behind or below it.
const SIDES = {
  left: { from: [-1, 0, 0] }, right: { from: [1, 0, 0] }, above: { from: [0, 1, 1e-4] },
  below: { from: [0, -1, 1e-4], free: true }, behind: { from: [0, 0, -1], free: true },
};

function geometryOf({ positions, indices }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  if (indices) geometry.setIndex(new THREE.BufferAttribute(indices, 1));
  return geometry;
}

export class SpaceView {
  // onPick(u, v) gets the pixel that a click hits, or null.
  constructor(canvas, { onPick }) {
    THREE.ColorManagement.enabled = false;
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(50, 1, 0.01, 1000);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.rotateSpeed = 0.5;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.draw());
    this.uniforms = makeUniforms();
    this.pointSize = 1;
    this.onPick = onPick;
    this.drawn = []; // called with the view after it was drawn
    this.waiting = this.placed = this.isSlow = false;
    this.onePixel = new Uint8Array(4);
    this.addObjects();
    this.setFree(false);
    this.follow();
    this.listen();
    new ResizeObserver(() => this.resized()).observe(canvas);
  }

  addObjects() {
    const materials = makeMaterials(this.uniforms);
    this.drafted = this.whole = new THREE.BufferGeometry();
    this.mesh = new THREE.Mesh(this.whole, materials.mesh);
    this.cloud = new THREE.Points(new THREE.BufferGeometry(), materials.cloud);
    this.marks = new Marks((...pixel) => this.position(...pixel));
    for (const thing of [this.mesh, this.cloud, ...this.marks.things]) {
      thing.frustumCulled = false;
      thing.visible = false;
      this.scene.add(thing);
    }
  }

  // The background is that of the page, which may be dark or light.
  follow() {
    const paint = () => {
      const colour = getComputedStyle(this.canvas).getPropertyValue("--well").trim();
      this.renderer.setClearColor(new THREE.Color(colour || "#0e1013"));
      this.uniforms.clay.value.set(...(CLAY[document.documentElement.dataset.theme] ?? CLAY.dark));
      this.draw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    paint();
  }

  set labelColours(colours) {
    this.marks.labelColours = colours;
  }

  // Another pair of the same cameras is looked at from the same place.
  setCameras(cameras, width, height) {
    const known = JSON.stringify([cameras, width, height]);
    if (this.known !== undefined && this.known !== known) this.placed = false;
    this.known = known;
    this.cameras = cameras;
    this.size = [width, height];
    this.uniforms.lens.value.set(cameras.fx, cameras.fy, cameras.cx, cameras.cy);
    this.uniforms.extent.value.set(width, height);
    this.uniforms.product.value = cameras.fx * cameras.baseline;
    this.uniforms.doffs.value = cameras.doffs;
  }

  // A draft appears at once, and is shown during movement where drawing everything is slow.
  setDraft(data) {
    if (this.whole !== this.drafted) this.whole.dispose();
    this.drafted.dispose();
    this.drafted = this.whole = geometryOf(data);
    if (!this.placed) this.turned();
    this.draw();
  }

  setMesh(data) {
    if (this.whole !== this.drafted) this.whole.dispose();
    this.whole = geometryOf(data);
    this.draw();
  }

  setCloud(data) {
    this.cloud.geometry.dispose();
    this.cloud.geometry = geometryOf(data);
    this.cloudCount = data.positions.length / 3;
    if (!this.placed && this.cloudCount) this.turned();
    this.draw();
  }

  triangles() {
    return (this.whole.index?.count ?? 0) / 3;
  }

  // The bitmap is upside down, as graphics cards expect.
  setTexture(bitmap, name) {
    this.replace("map", bitmap, { anisotropy: this.renderer.capabilities.getMaxAnisotropy() });
    this.canvas.dataset.texture = name;
    this.draw();
  }

  // A map of values: "sure", the confidence, or "slopes", the normals.
  setMap(name, bitmap) {
    this.replace(name, bitmap, { exact: true });
    this.draw();
  }

  replace(name, bitmap, options) {
    const slot = this.uniforms[name];
    slot.value.dispose();
    if (slot.value.image instanceof ImageBitmap) slot.value.image.close();
    slot.value = textureOf(bitmap, options);
  }

  setShown({ mesh, cloud, paint }) {
    this.mesh.visible = mesh;
    this.cloud.visible = cloud;
    this.uniforms.paint.value = PAINT[paint] ?? PAINT.picture;
    this.draw();
  }

  // A colour map of 256 colours, and the values at its ends.
  setScale(colours, low, high) {
    this.uniforms.scale.value.dispose();
    this.uniforms.scale.value = scaleTexture(colours);
    this.uniforms.range.value.set(low, high);
    this.draw();
  }

  // Only what lies between two depths is shown, and only what is at least that sure.
  setClip(near, far) {
    this.uniforms.clip.value.set(near ?? 0, far ?? EVERYTHING);
    this.draw();
  }

  setLeast(share) {
    this.uniforms.least.value = share;
    this.draw();
  }

  setPointSize(factor) {
    this.pointSize = factor;
    this.draw();
  }

  // Numbers of points, or of triangles, between the depths of the clip, and of all.
  countClipped() {
    const { x: near, y: far } = this.uniforms.clip.value;
    const isIn = (positions, k) => -positions.getZ(k) >= near && -positions.getZ(k) <= far;
    const ofCloud = this.cloud.visible;
    const positions = (ofCloud ? this.cloud.geometry : this.whole).getAttribute("position");
    const corners = ofCloud ? null : this.whole.index;
    const all = ofCloud ? positions?.count ?? 0 : this.triangles();
    let count = 0;
    for (let k = 0; k < all; k++) {
      const inside = corners
        ? isIn(positions, corners.getX(3 * k)) && isIn(positions, corners.getX(3 * k + 1))
          && isIn(positions, corners.getX(3 * k + 2))
        : isIn(positions, k);
      count += inside;
    }
    return { count, all, what: ofCloud ? "points" : "triangles" };
  }

  highlight(fact) {
    this.marks.highlight(fact);
    this.draw();
  }

  // `ends` are one or two points; see Marks.
  measure(ends) {
    this.marks.measure(ends);
    this.draw();
  }

  position(u, v, disparity) {
    const { fx, fy, cx, cy, baseline, doffs, least } = this.cameras;
    if (disparity + doffs < least) return null;
    const depth = (fx * baseline) / (disparity + doffs);
    return [((u - cx) / fx) * depth, (-(v - cy) / fy) * depth, -depth];
  }

  // Depths of the scene: the nearest, a middle one, the farthest, and those of all but a few.
  extent() {
    const positions = (this.whole.index?.count ? this.whole : this.cloud.geometry).getAttribute("position");
    if (!positions?.count) return { near: 0.1, low: 0.5, middle: 1, high: 5, far: 10 };
    const depths = [];
    const step = Math.max(1, Math.floor(positions.count / NEAREST_POINTS));
    for (let k = 0; k < positions.count; k += step) depths.push(-positions.getZ(k));
    depths.sort((a, b) => a - b);
    const at = (share) => depths[Math.round(share * (depths.length - 1))];
    return { near: at(0), low: at(0.02), middle: at(0.5), high: at(0.98), far: at(1) };
  }

  asCamera() {
    this.look([0, 0, 0], this.extent().middle);
  }

  turned() {
    const { middle } = this.extent();
    // Wide pictures show streets: objects at the sides would be in the way, the sky is not.
    const [width, height] = this.size;
    const [across, up, back] = width > 2 * height ? [0.16, 0.3, 0.5] : [0.45, 0.16, 0.52];
    this.look([across * middle, up * middle, back * middle], middle);
  }

  look(from, middle) {
    const { far, near } = this.extent();
    const [width, height] = this.size;
    const { cx, cy, fx, fy } = this.cameras;
    const x = (((width - 1) / 2 - cx) / fx) * middle;
    const y = (-((height - 1) / 2 - cy) / fy) * middle;
    this.camera.near = Math.max(near * 0.02, 1e-4);
    this.camera.far = far * 20;
    this.controls.minDistance = near * 0.05;
    this.controls.maxDistance = far * 4;
    this.camera.position.set(...from);
    this.controls.target.set(x, y, -middle);
    this.placed = true;
    this.resized();
    this.controls.update();
    this.draw();
  }

  // Look at everything but a few far and near points from one of SIDES.
  lookFrom(side) {
    const { from, free } = SIDES[side];
    if (free) this.setFree(true);
    const [near, far] = this.shownDepths();
    const [width, height] = this.size;
    const { cx, cy, fx, fy } = this.cameras;
    const [wide, tall, deep] = [(width / fx) * far, (height / fy) * far, far - near];
    const across = side === "left" || side === "right" ? deep : wide;
    const up = side === "above" || side === "below" ? deep : tall;
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const distance = (0.52 * Math.max(up, across / this.camera.aspect)) / half;
    const middle = (near + far) / 2;
    const x = (((width - 1) / 2 - cx) / fx) * middle;
    const y = (-((height - 1) / 2 - cy) / fy) * middle;
    this.controls.maxDistance = Math.max(this.controls.maxDistance, 2 * distance);
    this.controls.target.set(x, y, -middle);
    this.camera.position.set(...from).normalize().multiplyScalar(distance).add(this.controls.target);
    this.controls.update();
    this.draw();
  }

  // The depths between which all but a few points lie, within the clip.
  shownDepths() {
    const { low, high } = this.extent();
    const { x, y } = this.uniforms.clip.value;
    const near = Math.max(low, x);
    return [near, Math.max(Math.min(high, y), near * 1.001)];
  }

  // The view stays in front of the scene, where the cameras were, unless the orbit is free.
  setFree(isFree) {
    this.isFree = isFree;
    this.controls.minAzimuthAngle = isFree ? -Infinity : -Math.PI / 2;
    this.controls.maxAzimuthAngle = isFree ? Infinity : Math.PI / 2;
    this.controls.maxPolarAngle = isFree ? Math.PI : LOWEST;
    this.controls.update();
    this.draw();
  }

  // Arrow keys: by steps to the right and up, as turns or, with `moves`, as movements.
  step(across, up, moves) {
    const { controls, camera } = this;
    if (moves) {
      const far = camera.position.distanceTo(controls.target) * TURN;
      const shift = new THREE.Vector3(across * far, up * far, 0).applyQuaternion(camera.quaternion);
      camera.position.add(shift);
      controls.target.add(shift);
    } else {
      const offset = new THREE.Spherical().setFromVector3(camera.position.clone().sub(controls.target));
      offset.theta += across * TURN;
      offset.phi = Math.min(Math.max(offset.phi - up * TURN, 1e-4), controls.maxPolarAngle);
      camera.position.setFromSpherical(offset).add(controls.target);
    }
    controls.update();
    this.draw();
  }

  zoom(factor) {
    const { controls, camera } = this;
    camera.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
    controls.update();
    this.draw();
  }

  // Make a point the centre of rotation.
  centreOn(point) {
    const shift = new THREE.Vector3(...point).sub(this.controls.target);
    this.camera.position.add(shift);
    this.controls.target.add(shift);
    this.controls.update();
    this.draw();
  }

  resized() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setPixelRatio(window.devicePixelRatio || 1);
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / clientHeight;
    if (this.cameras) {
      // The whole image must fit, whether the pane is wide or tall.
      const [width, height] = this.size;
      const upright = Math.max(height / this.cameras.fy, width / this.cameras.fx / this.camera.aspect);
      this.camera.fov = (2 * Math.atan(upright / 2) * 180) / Math.PI;
    }
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  // Points are as large as the pixels they represent, at every distance; the first ones of a
  // cloud, which comes in random order, are a thinner cloud.
  thinCloud(most) {
    if (!this.cameras || !this.cloudCount) return;
    const count = Math.min(this.cloudCount, most);
    this.cloud.geometry.setDrawRange(0, count);
    const [width, height] = this.size;
    const spacing = Math.sqrt((width * height) / count) / this.cameras.fx;
    const pixels = this.canvas.clientHeight * (window.devicePixelRatio || 1);
    const focal = pixels / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
    this.uniforms.size.value = 1.25 * this.pointSize * spacing * focal;
  }

  listen() {
    let start = null;
    this.canvas.addEventListener("pointerdown", (event) => { start = [event.clientX, event.clientY]; });
    this.canvas.addEventListener("pointerup", (event) => {
      const isClick = start && Math.hypot(event.clientX - start[0], event.clientY - start[1]) < 4;
      start = null;
      if (isClick && event.button === 0) this.onPick(this.pixelAt(event));
    });
  }

  pixelAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.pixelSeen(event.clientX - box.left, event.clientY - box.top);
  }

  // The pixel that is seen at a place of the canvas, or the nearest one within reach, or null. What
  // is clipped cannot be hit, because the same program draws the numbers of pixels.
  pixelSeen(x, y) {
    const side = 2 * REACH + 1;
    const { clientWidth, clientHeight } = this.canvas;
    this.target ??= new THREE.WebGLRenderTarget(side, side);
    const painted = this.uniforms.paint.value;
    const marks = this.marks.hidden();
    const clear = this.renderer.getClearColor(new THREE.Color());
    this.mesh.geometry = this.whole;
    this.thinCloud(Infinity);
    this.uniforms.paint.value = PAINT.PICK;
    this.camera.setViewOffset(clientWidth, clientHeight, Math.round(x) - REACH, Math.round(y) - REACH, side, side);
    this.renderer.setRenderTarget(this.target);
    this.renderer.setClearColor(0xffffff, 1);
    this.renderer.render(this.scene, this.camera);
    const found = new Uint8Array(4 * side * side);
    this.renderer.readRenderTargetPixels(this.target, 0, 0, side, side, found);
    this.renderer.setRenderTarget(null);
    this.renderer.setClearColor(clear, 1);
    this.camera.clearViewOffset();
    this.uniforms.paint.value = painted;
    marks.show();
    return nearest(found, side);
  }

  // A picture of the view as it is, without what the page lays over it.
  picture() {
    this.drawNow(false);
    const copy = document.createElement("canvas");
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    copy.getContext("2d").drawImage(this.canvas, 0, 0);
    return copy;
  }

  // Where a point appears on the canvas, in pixels of the page; null if it is behind the viewer.
  onScreen(point) {
    const place = new THREE.Vector3(...point).project(this.camera);
    if (place.z > 1) return null;
    return [((place.x + 1) / 2) * this.canvas.clientWidth, ((1 - place.y) / 2) * this.canvas.clientHeight];
  }

  // Where drawing everything is slow, as without a graphics card, a draft is drawn at once and all
  // when nothing has changed for a moment.
  draw() {
    clearTimeout(this.resting);
    if (this.isSlow) this.resting = setTimeout(() => this.schedule(false), REST);
    this.schedule(this.isSlow);
  }

  schedule(asDraft) {
    this.asDraft = asDraft;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawNow(this.asDraft);
    });
  }

  drawNow(asDraft) {
    this.mesh.geometry = asDraft ? this.drafted : this.whole;
    this.thinCloud(asDraft ? DRAFT_POINTS : Infinity);
    const start = performance.now();
    this.renderer.render(this.scene, this.camera);
    this.canvas.dataset.geometries = this.renderer.info.memory.geometries;
    for (const tell of this.drawn) tell(this);
    if (asDraft || this.whole === this.drafted) return;
    const context = this.renderer.getContext();
    context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, this.onePixel); // waits
    this.isSlow = performance.now() - start > SLOW;
  }
}

// Pixels are painted as bytes: the low ones of column and row, then the high ones.
function nearest(found, side) {
  let best = null;
  let least = Infinity;
  for (let k = 0; k < side * side; k++) {
    const [uLow, vLow, uHigh, vHigh] = found.subarray(4 * k, 4 * k + 4);
    const [u, v] = [uLow + 256 * uHigh, vLow + 256 * vHigh];
    const off = Math.hypot((k % side) - REACH, Math.floor(k / side) - REACH);
    if (u === NOWHERE || off >= least) continue;
    least = off;
    best = [u, v];
  }
  return best;
}
