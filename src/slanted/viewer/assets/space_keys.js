// The keys of the 3D view and of the strip, for the page's list of keys: [keys, what they do].

// While the cursor or the focus is in the 3D view.
export const KEYS = [
  ["c", "look as the camera"],
  ["t", "look turned, as at the start"],
  ["a  l  r", "look from above, from the left, from the right"],
  ["b  u", "look from behind, from below; frees the orbit"],
  ["o", "orbit all round, or in front of the scene only"],
  ["Home", "reset the view and the clip"],
  ["←  →  ↑  ↓", "turn; with Shift, move"],
  ["+  −", "zoom"],
  ["Enter", "pick the point in the middle of the view"],
  ["m", "measure a distance; Escape ends it"],
  ["v", "clip and size"],
  ["p", "save a picture of the view (PNG)"],
];

export const STRIP_KEYS = [
  ["j  k", "next and previous pair of the batch"],
  ["←  →  Home  End", "in the strip: go to a pair, which is shown when you stop"],
];
