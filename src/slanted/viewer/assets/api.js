// The page's requests to the server.

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// The server did not answer, or not completely: it may have been stopped.
export class Lost extends Error {
  constructor() {
    super("The server does not answer; it may have ended.");
  }
}

// Return what `read` makes of the response. Browsers report lost connections by a TypeError, like
// errors in scripts; here only fetching can throw it.
async function answer(path, options, read) {
  try {
    const response = await fetch(path, options);
    if (response.ok) return await read(response);
    const { status, statusText } = response;
    const said = await response.text();
    let text = `${status} ${statusText}`;
    try {
      text = JSON.parse(said).problem ?? text;
    } catch {
      text = said || text; // Requests without the token are refused in plain text.
    }
    throw new Refused(status, text);
  } catch (error) {
    throw error instanceof TypeError ? new Lost() : error;
  }
}

const asJson = (response) => response.json();
const asBuffer = (response) => response.arrayBuffer();
const asBlob = (response) => response.blob();

function post(path, body) {
  const headers = { "content-type": "application/json" };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body) }, asJson);
}

// Of a batch, the server shows one pair at the root and all of them below /pairs. What is asked of
// a frame goes to the pair that the frame is of, even if another one has been chosen since.
let pair = "";
const DEFAULT = "viridis"; // the colour map
const homes = new Map();
const runOf = (key) => key.split("-")[0];
const frame = (key) => `${homes.get(runOf(key)) ?? ""}/api/frames/${key}`;

export function usePair(number) {
  pair = `/pairs/${number}`;
}

export async function state() {
  const asked = pair;
  const found = await answer(`${asked}/api/state`, {}, asJson);
  if (asked !== pair) throw new DOMException("another pair was chosen", "AbortError");
  for (const { key } of found.frames) homes.set(runOf(key), asked);
  return found;
}

export const pairs = () => answer("/api/pairs", {}, asJson);
export const thumbnailAddress = (key, kind, number) => `/api/thumbnails/${key}/${kind}/${number}`;
export const scales = () => answer("/api/scales", {}, asJson);
export const valueMap = (key, name) => answer(`${frame(key)}/maps/${name}`, {}, asBlob);
export const describe = (key, colours = DEFAULT) => answer(`${frame(key)}?colours=${colours}`, {}, asJson);
export const other = (name, colours = DEFAULT) =>
  answer(`${pair}/api/others/${name}?colours=${colours}`, {}, asJson);
export const pixel = (key, u, v) => answer(`${frame(key)}/pixels/${u}/${v}`, {}, asJson);
export const run = (changes) => post(`${pair}/api/run?replace=true`, changes);
export const cancel = (number) => post(`${pair}/api/cancel?run=${number}`, {});

// `least` is the confidence, in percent, below which pixels are hidden.
const above = (least) => `confidence=${least}`;
// Which layers depend on it, and on the chosen colours.
const HIDING = ["disparity", "depth"];
const COLOURED = ["disparity", "depth", "truth", "matched", "deviation"];
function ofLayer(layer, least, colours) {
  const wanted = [];
  if (HIDING.includes(layer) && least) wanted.push(above(least));
  if (COLOURED.includes(layer) && colours !== DEFAULT) wanted.push(`colours=${colours}`);
  return wanted.length ? `?${wanted.join("&")}` : "";
}

export const texture = (key, layer, least, colours = DEFAULT) =>
  answer(`${frame(key)}/textures/${layer}${ofLayer(layer, least, colours)}`, {}, asBlob);
export const metrics = (key, least, region = null) => {
  const part = region ? `&region=${region.join(",")}` : "";
  return answer(`${frame(key)}/metrics?${above(least)}${part}`, {}, asJson);
};
export const profile = (key, [start, end]) =>
  answer(`${frame(key)}/profile?from=${start.join(",")}&to=${end.join(",")}`, {}, asJson);
export const exportAddress = (key, name, least) => `${frame(key)}/exports/${name}?${above(least)}`;
export const tileAddress = (key, layer, level, column, row, least, colours = DEFAULT) =>
  `${frame(key)}/tiles/${layer}/${level}/${column}/${row}${ofLayer(layer, least, colours)}`;

// A mesh: numbers of vertices and triangles, positions, texture coordinates, triangles.
export async function mesh(key, triangles, least, signal) {
  const address = `${frame(key)}/mesh?triangles=${triangles}&${above(least)}`;
  const data = await answer(address, { signal }, asBuffer);
  const [vertices, faces] = new Uint32Array(data, 0, 2);
  const positions = new Float32Array(data, 8, vertices * 3);
  const places = new Float32Array(data, 8 + vertices * 12, vertices * 2);
  const indices = new Uint32Array(data, 8 + vertices * 20, faces * 3);
  return { positions, places, indices };
}

// A cloud: number of points, positions, texture coordinates.
export async function cloud(key, points, least, signal) {
  const address = `${frame(key)}/cloud?points=${points}&${above(least)}`;
  const data = await answer(address, { signal }, asBuffer);
  const [count] = new Uint32Array(data, 0, 1);
  const positions = new Float32Array(data, 4, count * 3);
  const places = new Float32Array(data, 4 + count * 12, count * 2);
  return { positions, places };
}

// The newest frame of a live session after one, if there is any: how the session is doing, and
// the parts of the frame by name, pictures as blobs.
export async function live(after, points) {
  const data = await answer(`/api/live?after=${after}&points=${points}`, {}, asBuffer);
  const [length] = new Uint32Array(data, 0, 1);
  const state = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  const parts = {};
  let start = 4 + length;
  for (const [name, size] of state.parts) {
    const bytes = data.slice(start, start + size);
    parts[name] = name === "cloud" ? bytes : new Blob([bytes], { type: "image/jpeg" });
    start += size;
  }
  return { state, parts };
}
