// The keys of the page: what they do, and the sheet that lists them.

import { make } from "./panel.js";

const byId = (id) => document.getElementById(id);

export const KEYS = [
  { key: "1 … 9", text: "choose a layer" },
  { key: "[  ]", text: "the layer before, the next one" },
  { key: "m", text: "drag moves the picture" },
  { key: "r", text: "drag draws a region (or hold Shift)" },
  { key: "l", text: "drag draws a line (or hold Alt)" },
  { key: "arrows", text: "on the picture: move a cursor, with Shift by 10 pixels" },
  { key: "Enter", text: "on the picture: hold the pixel, or set an end of the region or line" },
  { key: "+  −  0", text: "zoom in, zoom out, fit" },
  { key: "c", text: "copy the numbers under the cursor" },
  { key: "s", text: "save the picture as PNG" },
  { key: "b", text: "compare with the next map, or with none" },
  { key: ",  .", text: "the iteration before, the next one" },
  { key: "t", text: "dark or light" },
  { key: "Esc", text: "release the pixel, then region and line" },
  { key: "?", text: "this sheet" },
];

// `groups` are [title, keys], and keys are { key, text } or [key, text].
export function showHelp(groups) {
  const sheet = byId("help");
  if (sheet.open) {
    sheet.close();
    return;
  }
  byId("help-keys").replaceChildren(...groups.filter(([, keys]) => keys.length).flatMap(([title, keys]) => {
    const list = make("dl");
    for (const each of keys) {
      const [key, text] = Array.isArray(each) ? each : [each.key, each.text];
      const name = make("dt");
      name.append(...key.split("  ").map((each) => make("kbd", each)));
      list.append(name, make("dd", text));
    }
    return [make("h3", title), list];
  }));
  sheet.showModal();
}

// Calls the action of a key, unless the key is meant for a field or for the browser.
export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input[type=number], input[type=text], select")) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return; // those are the browser's own
    if (event.defaultPrevented || (byId("help").open && event.key !== "?")) return;
    const isDigit = /^[1-9]$/.test(event.key);
    // The 3D view has letters of its own, when it has the focus.
    const isOurs = isDigit || ["?", "Escape"].includes(event.key) || !event.target.matches("#space");
    if (!isOurs) return;
    const action = isDigit ? () => actions.layer(Number(event.key)) : actions[event.key];
    if (action) action(event);
  });
}
