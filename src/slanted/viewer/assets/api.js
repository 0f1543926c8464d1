// What the page asks of the server.

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function answer(path, options = {}) {
  const response = await fetch(path, options);
  if (!response.ok) {
    let text = `${response.status} ${response.statusText}`;
    try {
      text = (await response.json()).problem ?? text;
    } catch {
      // Not JSON: the status has to do.
    }
    throw new Refused(response.status, text);
  }
  return response;
}

function post(path, body) {
  const headers = { "content-type": "application/json" };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body) });
}

const frame = (key) => `/api/frames/${key}`;

export const state = async () => (await answer("/api/state")).json();
export const describe = async (key) => (await answer(frame(key))).json();
export const pixel = async (key, u, v) => (await answer(`${frame(key)}/pixels/${u}/${v}`)).json();
export const run = async (changes) => (await post("/api/run?replace=true", changes)).json();
export const cancel = async () => (await post("/api/cancel", {})).json();
export const textureAddress = (key, layer) => `${frame(key)}/textures/${layer}`;
export const exportAddress = (key, name) => `${frame(key)}/exports/${name}`;
export const tileAddress = (key, layer, level, column, row) =>
  `${frame(key)}/tiles/${layer}/${level}/${column}/${row}`;

// A mesh: numbers of vertices and triangles, positions, texture places, triangles.
export async function mesh(key, triangles, signal) {
  const address = `${frame(key)}/mesh?triangles=${triangles}`;
  const data = await (await answer(address, { signal })).arrayBuffer();
  const [vertices, faces] = new Uint32Array(data, 0, 2);
  const positions = new Float32Array(data, 8, vertices * 3);
  const places = new Float32Array(data, 8 + vertices * 12, vertices * 2);
  const indices = new Uint32Array(data, 8 + vertices * 20, faces * 3);
  return { positions, places, indices };
}

// A cloud: number of points, positions, texture places.
export async function cloud(key, points, signal) {
  const data = await (await answer(`${frame(key)}/cloud?points=${points}`, { signal })).arrayBuffer();
  const [count] = new Uint32Array(data, 0, 1);
  const positions = new Float32Array(data, 4, count * 3);
  const places = new Float32Array(data, 4 + count * 12, count * 2);
  return { positions, places };
}
