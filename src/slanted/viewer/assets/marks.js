// What is drawn over the picture: the outline of a segment, the held pixel, a rectangle, a line.

const BORDER = "#ffffff";
const DARK = "#000000";
const BRIGHT = "#ffd23f";

// Everything is drawn twice, so that it is seen on any background.
function twice(context, scale, widths, colours, trace) {
  for (const k of [0, 1]) {
    context.lineWidth = widths[k] / scale;
    context.strokeStyle = colours[k];
    context.beginPath();
    trace();
    context.stroke();
  }
}

export function drawOutline(context, scale, outline, colours) {
  context.lineCap = "round";
  for (const [under, width] of [[true, 4.5], [false, 2.5]]) {
    context.lineWidth = width / scale;
    for (const [x0, y0, x1, y1, kind] of outline) {
      context.strokeStyle = under ? DARK : colours[kind] ?? BORDER;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
    }
  }
}

export function drawMark(context, scale, [column, row]) {
  const [u, v] = [column + 0.5, row + 0.5];
  twice(context, scale, [4, 1.75], [DARK, BORDER], () => {
    context.arc(u, v, 7 / scale, 0, 2 * Math.PI);
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(u + (dx * 7) / scale, v + (dy * 7) / scale);
      context.lineTo(u + (dx * 12) / scale, v + (dy * 12) / scale);
    }
  });
}

// The keyboard's cursor: a plain cross.
export function drawCursor(context, scale, [column, row]) {
  const [u, v] = [column + 0.5, row + 0.5];
  twice(context, scale, [4, 1.75], [DARK, BRIGHT], () => {
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(u + (dx * 3) / scale, v + (dy * 3) / scale);
      context.lineTo(u + (dx * 10) / scale, v + (dy * 10) / scale);
    }
  });
}

export function drawRegion(context, scale, [x, y, width, height]) {
  twice(context, scale, [4, 1.75], [DARK, BRIGHT], () => context.rect(x, y, width, height));
}

export function drawLine(context, scale, [[u0, v0], [u1, v1]], place) {
  twice(context, scale, [4, 1.75], [DARK, BRIGHT], () => {
    context.moveTo(u0 + 0.5, v0 + 0.5);
    context.lineTo(u1 + 0.5, v1 + 0.5);
  });
  const ends = [[u0, v0], [u1, v1], ...(place ? [place] : [])];
  ends.forEach(([u, v], k) => {
    context.beginPath();
    context.arc(u + 0.5, v + 0.5, (k === 2 ? 5.5 : 4) / scale, 0, 2 * Math.PI);
    context.fillStyle = k === 2 ? BORDER : BRIGHT;
    context.strokeStyle = DARK;
    context.lineWidth = 1.25 / scale;
    context.fill();
    context.stroke();
  });
}
