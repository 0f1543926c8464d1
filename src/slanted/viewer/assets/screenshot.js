// The picture as it is seen, with its legend below it, as a PNG to save.

const LINE = 34;
const BAR = 240;

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function drawBar(context, { bar, ticks }, x, y) {
  bar.forEach((colour, k) => {
    context.fillStyle = colour;
    const from = x + Math.floor((k * BAR) / bar.length);
    context.fillRect(from, y, Math.ceil(BAR / bar.length) + 1, 9);
  });
  context.fillStyle = style("--faint");
  context.font = "11px sans-serif";
  context.textAlign = "center";
  for (const [place, text] of ticks) context.fillText(text, x + place * BAR, y + 21);
  context.textAlign = "left";
}

// Draws the legend below the picture.
function drawLegend(context, legend, ratio, top) {
  context.setTransform(ratio, 0, 0, ratio, 0, top);
  context.font = "bold 13px sans-serif";
  context.fillStyle = style("--ink");
  let x = 12;
  context.fillText(legend.title, x, 21);
  x += context.measureText(legend.title).width + 18;
  if (legend.bar.length) {
    drawBar(context, legend, x, 5);
    x += BAR + 22;
  }
  context.font = "12px sans-serif";
  for (const [name, colour] of legend.swatches) {
    context.fillStyle = colour;
    context.fillRect(x, 10, 12, 12);
    context.strokeStyle = style("--faint");
    context.strokeRect(x, 10, 12, 12);
    context.fillStyle = style("--ink");
    context.fillText(name, x + 18, 21);
    x += 36 + context.measureText(name).width;
  }
}

function drawSides(context, sides, ratio, border) {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "13px sans-serif";
  const x = border / ratio;
  context.fillStyle = style("--accent");
  context.fillRect(x - 1, 0, 2, context.canvas.height);
  sides.forEach((text, k) => {
    const width = context.measureText(text).width;
    const start = k ? x + 8 : x - 8 - width;
    context.fillStyle = style("--veil");
    context.fillRect(start - 4, 6, width + 8, 20);
    context.fillStyle = style("--ink");
    context.fillText(text, start, 20);
  });
}

// `sides` are the names of both sides if there are two.
export function paintScreenshot(picture, legend, sides) {
  const source = picture.canvas;
  const ratio = source.width / source.clientWidth;
  const canvas = document.createElement("canvas");
  canvas.width = source.width;
  canvas.height = source.height + Math.round(LINE * ratio);
  const context = canvas.getContext("2d");
  context.fillStyle = style("--well");
  context.fillRect(0, 0, canvas.width, source.height);
  context.fillStyle = style("--panel");
  context.fillRect(0, source.height, canvas.width, canvas.height);
  context.drawImage(source, 0, 0);
  if (sides) drawSides(context, sides, ratio, source.width * picture.swipe);
  drawLegend(context, legend, ratio, source.height);
  return canvas;
}

export async function saveScreenshot(canvas, name) {
  const blob = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
