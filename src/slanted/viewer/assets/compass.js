// The compass: the axes as they are seen now. A click on an end looks at the scene from there.

import * as THREE from "three";

const SVG = "http://www.w3.org/2000/svg";
const REACH = 34; // of an axis, in percent of the compass
// The axes are those of results: X right, Y down, Z forward. On the screen Y is up and Z backward.
const ENDS = [
  { name: "X", way: [1, 0, 0], side: "right", text: "From the right (R)" },
  { name: "−X", way: [-1, 0, 0], side: "left", text: "From the left (L)" },
  { name: "Y", way: [0, -1, 0], side: "below", text: "From below (U)" },
  { name: "−Y", way: [0, 1, 0], side: "above", text: "From above (A)" },
  { name: "Z", way: [0, 0, -1], side: "behind", text: "From behind (B)" },
  { name: "−Z", way: [0, 0, 1], side: "camera", text: "As the camera (C)" },
];

export class Compass {
  // onChoose(side) gets the side of SpaceView.lookFrom that was clicked, or "camera".
  constructor(box, space, onChoose) {
    this.box = box;
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("viewBox", "-50 -50 100 100");
    picture.setAttribute("aria-hidden", "true");
    box.append(picture);
    this.ends = ENDS.map((end) => {
      const line = document.createElementNS(SVG, "line");
      const axis = end.name.slice(-1).toLowerCase();
      line.setAttribute("class", axis);
      if (end.name.length === 1) picture.append(line);
      const button = document.createElement("button");
      Object.assign(button, { type: "button", title: end.text, textContent: end.name });
      button.className = `${axis}${end.name.length > 1 ? " back" : ""}`;
      button.dataset.side = end.side;
      button.setAttribute("aria-label", end.text);
      button.addEventListener("click", () => onChoose(end.side));
      box.append(button);
      return { way: new THREE.Vector3(...end.way), line, button };
    });
    space.drawn.push(() => this.turn(space));
  }

  turn(space) {
    const turned = space.camera.quaternion.clone().invert();
    for (const { way, line, button } of this.ends) {
      const { x, y, z } = way.clone().applyQuaternion(turned);
      line.setAttribute("x2", REACH * x);
      line.setAttribute("y2", -REACH * y);
      button.style.left = `${50 + REACH * x}%`;
      button.style.top = `${50 - REACH * y}%`;
      button.style.zIndex = Math.round(10 + 10 * z);
      button.style.opacity = 0.72 + 0.28 * z;
    }
    const degrees = (angle) => ((angle * 180) / Math.PI).toFixed(2);
    this.box.dataset.azimuth = degrees(space.controls.getAzimuthalAngle());
    this.box.dataset.polar = degrees(space.controls.getPolarAngle());
  }
}
