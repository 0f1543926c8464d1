// What is drawn over the scene: the outline of a segment, a held pixel, and a measured distance.

import * as THREE from "three";
import { ringTexture } from "./space_materials.js";

const BORDER = "#ffffff";
const MEASURED = "#ffd166";

function dots(colour) {
  const material = new THREE.PointsMaterial({
    map: ringTexture(colour), size: 22, sizeAttenuation: false, depthTest: false, transparent: true,
  });
  return new THREE.Points(new THREE.BufferGeometry(), material);
}

function setPoints(thing, points) {
  thing.geometry.dispose();
  thing.geometry = new THREE.BufferGeometry();
  thing.geometry.setAttribute("position", new THREE.Float32BufferAttribute(points.flat(), 3));
}

export class Marks {
  // positionOf(u, v, disparity) returns a point in space, or null.
  constructor(positionOf) {
    this.positionOf = positionOf;
    this.labelColours = [];
    const lines = new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true });
    this.outline = new THREE.LineSegments(new THREE.BufferGeometry(), lines);
    this.marker = dots(BORDER);
    const yellow = new THREE.LineBasicMaterial({ color: MEASURED, depthTest: false, transparent: true });
    this.line = new THREE.Line(new THREE.BufferGeometry(), yellow);
    this.ends = dots(MEASURED);
    this.things = [this.outline, this.line, this.marker, this.ends];
    this.things.forEach((thing, k) => { thing.renderOrder = 2 + k; });
  }

  // The outline is drawn on the plane of the segment, whose corners are those of pixels.
  highlight(fact) {
    this.outline.visible = this.marker.visible = Boolean(fact);
    if (!fact) return;
    const points = [];
    const colours = [];
    for (const [x0, y0, x1, y1, kind] of fact.outline) {
      const ends = [this.onPlane(fact, x0 - 0.5, y0 - 0.5), this.onPlane(fact, x1 - 0.5, y1 - 0.5)];
      if (!ends[0] || !ends[1]) continue;
      const colour = new THREE.Color(this.labelColours[kind] ?? BORDER);
      points.push(...ends);
      for (let end = 0; end < 2; end++) colours.push(colour.r, colour.g, colour.b);
    }
    setPoints(this.outline, points);
    this.outline.geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
    const here = this.positionOf(fact.u, fact.v, fact.disparity);
    if (here) setPoints(this.marker, [here]);
    else this.marker.visible = false;
  }

  onPlane(fact, u, v) {
    const [a, b, c] = fact.plane;
    return this.positionOf(u, v, a * (u - fact.centre[0]) + b * (v - fact.centre[1]) + c);
  }

  // Nothing, one point, or two with a line between them.
  measure(points) {
    this.ends.visible = points.length > 0;
    this.line.visible = points.length === 2;
    if (points.length) setPoints(this.ends, points);
    if (points.length === 2) setPoints(this.line, points);
  }

  // Take everything out of the scene until `show` is called.
  hidden() {
    const seen = this.things.filter(({ visible }) => visible);
    for (const thing of seen) thing.visible = false;
    return { show: () => { for (const thing of seen) thing.visible = true; } };
  }
}
