// What went wrong, by the action that failed: a message stays until that action succeeds.

import { Lost, Refused } from "./api.js";

const troubles = new Map();

export function trouble(source, text) {
  if (text) troubles.set(source, text);
  else troubles.delete(source);
  const box = document.getElementById("trouble");
  box.hidden = !troubles.size;
  box.textContent = [...new Set(troubles.values())].join(" ");
}

export function complain(source, error) {
  if (error.name === "AbortError") return;
  // Another tab's run replaced the frame: the next request for the state brings the new one.
  if (error instanceof Refused && error.status === 404) return;
  if (error instanceof Lost) {
    trouble("server", error.message);
    return;
  }
  if (!(error instanceof Refused)) console.error(error);
  trouble(source, error.message);
}

// An action may fail, because the server may be gone; the page reports it and continues.
export function guarded(action) {
  return async (...values) => {
    try {
      await action(...values);
      trouble(action, "");
    } catch (error) {
      complain(action, error);
    }
  };
}
