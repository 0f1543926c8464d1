// How the mesh and the cloud are drawn: colours, clipping and shading, shared by both.

import * as THREE from "three";

// What a surface is painted with; PICK paints the number of the pixel that is seen.
export const PAINT = { picture: 0, shape: 1, depth: 2, disparity: 3, confidence: 4, normals: 5, PICK: 9 };
// Shapes without colours: light on a dark page, dark on a light one.
export const CLAY = { dark: [0.80, 0.82, 0.85], light: [0.64, 0.67, 0.71] };
export const NOWHERE = 65535;

// The pixel of a point follows from its position. Interpolated coordinates would be wrong inside
// large triangles, because what is even in the image is not even in space.
const PLACE = `
  uniform vec4 lens;      // fx, fy, cx, cy
  uniform vec2 extent;    // width and height of the image
  uniform sampler2D sure; // confidence of each pixel
  vec2 pixelOf(vec3 point) {
    return lens.xy * vec2(point.x, -point.y) / max(-point.z, 1e-9) + lens.zw + 0.5;
  }
  vec2 placeOf(vec3 point) {
    vec2 place = pixelOf(point) / extent;
    return vec2(place.x, 1.0 - place.y);
  }`;

const VALUES = `
  uniform vec2 clip;      // nearest and farthest depth that is shown
  uniform float least;    // confidence below which nothing is shown
  bool isHidden(vec3 point, vec2 place) {
    float depth = -point.z;
    // Confidences are sent in steps of 1 / 255; less than one of them is for rounding.
    return depth < clip.x || depth > clip.y || texture2D(sure, place).r < least - 0.003;
  }`;

const COLOURS = `
  uniform sampler2D map;
  uniform sampler2D slopes; // normals as colours
  uniform sampler2D scale;  // a colour map
  uniform vec2 range;       // values at the ends of the colour map
  uniform float product;    // focal length times baseline: disparity is product / depth - doffs
  uniform float doffs;
  uniform vec3 clay;        // of shapes without colours
  uniform int paint;
  vec4 onScale(float share) {
    return vec4(texture2D(scale, vec2((clamp(share, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb, 1.0);
  }
  // Light comes from the viewer and a little from above, on both sides of a surface alike.
  vec4 shaded(vec3 seen, vec3 normal) {
    vec3 facing = dot(normal, seen) > 0.0 ? -normal : normal;
    float light = 0.42 + 0.40 * abs(dot(facing, normalize(seen))) + 0.18 * facing.y;
    return vec4(clay * light, 1.0);
  }
  vec4 colourOf(vec3 point, vec2 place) {
    float depth = -point.z;
    if (paint == ${PAINT.depth}) return onScale(log(depth / range.x) / log(range.y / range.x));
    if (paint == ${PAINT.disparity}) {
      return onScale((product / depth - doffs - range.x) / (range.y - range.x));
    }
    if (paint == ${PAINT.confidence}) return onScale(texture2D(sure, place).r);
    if (paint == ${PAINT.normals}) return texture2D(slopes, place);
    if (paint == ${PAINT.PICK}) {
      vec2 pixel = clamp(floor(pixelOf(point)), vec2(0.0), extent - 1.0);
      return vec4(mod(pixel, 256.0), floor(pixel / 256.0)) / 255.0;
    }
    return texture2D(map, place);
  }`;

const MESH_VERTEX = `
  varying vec3 point;
  varying vec3 seen;
  void main() {
    point = position;
    vec4 place = modelViewMatrix * vec4(position, 1.0);
    seen = place.xyz;
    gl_Position = projectionMatrix * place;
  }`;

const MESH_FRAGMENT = `
  ${PLACE} ${VALUES} ${COLOURS}
  varying vec3 point;
  varying vec3 seen;
  void main() {
    vec2 place = placeOf(point);
    // The direction of a face, as triangles have none of their own.
    vec3 normal = normalize(cross(dFdx(seen), dFdy(seen)));
    if (isHidden(point, place)) discard;
    gl_FragColor = paint == ${PAINT.shape} ? shaded(seen, normal) : colourOf(point, place);
  }`;

const CLOUD_VERTEX = `
  ${PLACE} ${VALUES}
  uniform float size;
  varying vec3 point;
  void main() {
    point = position;
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    // A pixel covers more of the scene the farther away it is.
    gl_PointSize = clamp(size * -position.z / max(-seen.z, 1e-6), 1.0, 64.0);
    if (isHidden(position, placeOf(position))) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  }`;

const CLOUD_FRAGMENT = `
  ${PLACE} ${COLOURS}
  varying vec3 point;
  void main() {
    gl_FragColor = paint == ${PAINT.shape} ? vec4(clay, 1.0) : colourOf(point, placeOf(point));
  }`;

function oneColour(...rgba) {
  const texture = new THREE.DataTexture(new Uint8Array(rgba), 1, 1);
  texture.needsUpdate = true;
  return texture;
}

// Values that the mesh and the cloud share.
export function makeUniforms() {
  const values = {
    lens: new THREE.Vector4(1, 1, 0, 0), extent: new THREE.Vector2(1, 1),
    clip: new THREE.Vector2(0, 1e30), least: 0, sure: oneColour(255, 255, 255, 255),
    map: oneColour(128, 128, 128, 255), slopes: oneColour(128, 128, 255, 255),
    scale: oneColour(255, 255, 255, 255), range: new THREE.Vector2(1, 2),
    product: 1, doffs: 0, clay: new THREE.Vector3(...CLAY.dark), paint: PAINT.picture, size: 1,
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

export function makeMaterials(uniforms) {
  const mesh = new THREE.ShaderMaterial({
    vertexShader: MESH_VERTEX, fragmentShader: MESH_FRAGMENT, uniforms, side: THREE.DoubleSide,
  });
  const cloud = new THREE.ShaderMaterial({
    vertexShader: CLOUD_VERTEX, fragmentShader: CLOUD_FRAGMENT, uniforms,
  });
  return { mesh, cloud };
}

// A picture as a texture. The bitmap is upside down, as graphics cards expect.
export function textureOf(bitmap, { exact = false, anisotropy = 1 } = {}) {
  const texture = new THREE.Texture(bitmap);
  texture.flipY = false;
  texture.colorSpace = THREE.NoColorSpace;
  texture.anisotropy = anisotropy;
  if (exact) {
    texture.magFilter = texture.minFilter = THREE.NearestFilter;
    texture.generateMipmaps = false;
  }
  texture.needsUpdate = true;
  return texture;
}

// 256 colours, as "#rrggbb", from the low end to the high one.
export function scaleTexture(colours) {
  const data = new Uint8Array(colours.flatMap((text) => {
    const number = parseInt(text.slice(1), 16);
    return [number >> 16, (number >> 8) & 255, number & 255, 255];
  }));
  const texture = new THREE.DataTexture(data, colours.length, 1);
  texture.needsUpdate = true;
  return texture;
}

export function ringTexture(inner = "#ffffff") {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const context = canvas.getContext("2d");
  for (const [colour, width] of [["#000000", 14], [inner, 7]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.arc(32, 32, 22, 0, 2 * Math.PI);
    context.stroke();
  }
  return new THREE.CanvasTexture(canvas);
}
