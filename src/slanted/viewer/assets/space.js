// The 3D view: the mesh and the cloud, both painted with the same picture.

import * as THREE from "three";
import { OrbitControls } from "./vendor/three/OrbitControls.js";

const BORDER = "#ffffff";
const SLOW = 80; // milliseconds
const REST = 350;
const DRAFT_POINTS = 40000;

const CLOUD_VERTEX = `
  uniform float size;
  varying vec2 place;
  void main() {
    place = uv;
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    // A pixel covers more of the scene the farther away it is.
    gl_PointSize = clamp(size * -position.z / max(-seen.z, 1e-6), 1.0, 24.0);
  }`;
const CLOUD_FRAGMENT = `
  uniform sampler2D map;
  uniform bool plain;
  varying vec2 place;
  void main() {
    gl_FragColor = plain ? vec4(0.8, 0.82, 0.85, 1.0) : texture2D(map, place);
  }`;

function geometryOf({ positions, places, indices }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("uv", new THREE.BufferAttribute(places, 2));
  if (indices) geometry.setIndex(new THREE.BufferAttribute(indices, 1));
  return geometry;
}

function ringTexture() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const context = canvas.getContext("2d");
  for (const [colour, width] of [["#000000", 14], ["#ffffff", 7]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.arc(32, 32, 22, 0, 2 * Math.PI);
    context.stroke();
  }
  return new THREE.CanvasTexture(canvas);
}

export class SpaceView {
  // onPick(u, v) gets the pixel that a click in the mesh hits, or null.
  constructor(canvas, { onPick }) {
    THREE.ColorManagement.enabled = false;
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.renderer.setClearColor(0x0e1013);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(50, 1, 0.01, 1000);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.draw());
    this.labelColours = [];
    this.waiting = false;
    this.placed = false;
    this.isSlow = false;
    this.onePixel = new Uint8Array(4);
    this.addObjects();
    this.listen(onPick);
    new ResizeObserver(() => this.resized()).observe(canvas);
  }

  addObjects() {
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.set(0.5, 0.8, 0.6);
    this.scene.add(sun, new THREE.AmbientLight(0xffffff, 0.75));
    this.textured = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide });
    this.shaped = new THREE.MeshLambertMaterial({
      color: 0xc9ced6, side: THREE.DoubleSide, flatShading: true,
    });
    this.drafted = this.whole = new THREE.BufferGeometry();
    this.mesh = new THREE.Mesh(this.whole, this.textured);
    this.cloudMaterial = new THREE.ShaderMaterial({
      vertexShader: CLOUD_VERTEX,
      fragmentShader: CLOUD_FRAGMENT,
      uniforms: { map: { value: null }, size: { value: 1 }, plain: { value: false } },
    });
    this.cloud = new THREE.Points(new THREE.BufferGeometry(), this.cloudMaterial);
    const lines = new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true });
    this.outline = new THREE.LineSegments(new THREE.BufferGeometry(), lines);
    this.outline.renderOrder = 2;
    const dot = new THREE.PointsMaterial({
      map: ringTexture(), size: 22, sizeAttenuation: false, depthTest: false, transparent: true,
    });
    this.marker = new THREE.Points(new THREE.BufferGeometry(), dot);
    this.marker.renderOrder = 3;
    for (const thing of [this.mesh, this.cloud, this.outline, this.marker]) {
      thing.frustumCulled = false;
      thing.visible = false;
      this.scene.add(thing);
    }
  }

  setCameras(cameras, width, height) {
    this.cameras = cameras;
    this.size = [width, height];
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
    const texture = new THREE.Texture(bitmap);
    texture.flipY = false;
    texture.colorSpace = THREE.NoColorSpace;
    texture.anisotropy = this.renderer.capabilities.getMaxAnisotropy();
    texture.needsUpdate = true;
    const old = this.textured.map;
    this.textured.map = texture;
    this.textured.needsUpdate = true;
    this.cloudMaterial.uniforms.map.value = texture;
    old?.dispose();
    old?.image.close();
    this.canvas.dataset.texture = name;
    this.draw();
  }

  setShown({ mesh, cloud, plain }) {
    this.mesh.visible = mesh;
    this.cloud.visible = cloud;
    this.mesh.material = plain ? this.shaped : this.textured;
    this.cloudMaterial.uniforms.plain.value = plain;
    this.draw();
  }

  // The outline is drawn on the plane of the segment, whose corners are those of pixels.
  highlight(fact) {
    this.outline.visible = Boolean(fact);
    this.marker.visible = Boolean(fact);
    if (fact) {
      const points = [];
      const colours = [];
      for (const [x0, y0, x1, y1, kind] of fact.outline) {
        const ends = [this.onPlane(fact, x0 - 0.5, y0 - 0.5), this.onPlane(fact, x1 - 0.5, y1 - 0.5)];
        if (!ends[0] || !ends[1]) continue;
        const colour = new THREE.Color(this.labelColours[kind] ?? BORDER);
        points.push(...ends[0], ...ends[1]);
        for (let end = 0; end < 2; end++) colours.push(colour.r, colour.g, colour.b);
      }
      this.outline.geometry.dispose();
      this.outline.geometry = new THREE.BufferGeometry();
      this.outline.geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
      this.outline.geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
      const here = this.position(fact.u, fact.v, fact.disparity);
      if (here) this.marker.geometry.setAttribute("position", new THREE.Float32BufferAttribute(here, 3));
      else this.marker.visible = false;
    }
    this.draw();
  }

  onPlane(fact, u, v) {
    const [a, b, c] = fact.plane;
    return this.position(u, v, a * (u - fact.centre[0]) + b * (v - fact.centre[1]) + c);
  }

  position(u, v, disparity) {
    const { fx, fy, cx, cy, baseline, doffs, least } = this.cameras;
    if (disparity + doffs < least) return null;
    const depth = (fx * baseline) / (disparity + doffs);
    return [((u - cx) / fx) * depth, (-(v - cy) / fy) * depth, -depth];
  }

  // A depth in the middle of what is shown, and the extent of everything.
  extent() {
    const positions = (this.whole.index ? this.whole : this.cloud.geometry).getAttribute("position");
    if (!positions?.count) return { middle: 1, far: 10 };
    const depths = [];
    const step = Math.max(1, Math.floor(positions.count / 5000));
    for (let k = 0; k < positions.count; k += step) depths.push(-positions.getZ(k));
    depths.sort((a, b) => a - b);
    return { middle: depths[depths.length >> 1], far: depths[depths.length - 1], near: depths[0] };
  }

  asCamera() {
    const { middle } = this.extent();
    this.look([0, 0, 0], middle);
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
    this.camera.near = Math.max((near ?? 0.1) * 0.02, 1e-4);
    this.camera.far = far * 20;
    this.camera.position.set(...from);
    this.controls.target.set(x, y, -middle);
    this.placed = true;
    this.resized();
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
    this.cloudMaterial.uniforms.size.value = 1.25 * spacing * focal;
  }

  listen(onPick) {
    let start = null;
    this.canvas.addEventListener("pointerdown", (event) => { start = [event.clientX, event.clientY]; });
    this.canvas.addEventListener("pointerup", (event) => {
      const isClick = start && Math.hypot(event.clientX - start[0], event.clientY - start[1]) < 4;
      start = null;
      if (isClick && event.button === 0) onPick(this.pixelAt(event));
    });
  }

  pixelAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    this.mesh.geometry = this.whole;
    const hit = this.whole.index ? ray.intersectObject(this.mesh)[0] : null;
    if (!hit) return null;
    const [width, height] = this.size;
    const u = Math.min(width - 1, Math.floor(hit.uv.x * width));
    const v = Math.min(height - 1, Math.floor((1 - hit.uv.y) * height));
    return [u, v];
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
    if (asDraft || this.whole === this.drafted) return;
    const context = this.renderer.getContext();
    context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, this.onePixel); // waits
    this.isSlow = performance.now() - start > SLOW;
  }
}
