// How one step of a picture is drawn: x_t, its reliable part, and its tokens as colours.

const kGrey = "rgb(128 128 128)";

// `palette` is the hex text of the codes' colours.
export function colorOf(palette, code) {
  return `#${palette.slice(6 * code, 6 * code + 6) || "888888"}`;
}

function eachCell(canvas, grid, visit) {
  for (let i = 0; i < grid.width * grid.height; ++i) {
    const x = i % grid.width, y = Math.floor(i / grid.width);
    const left = Math.floor((x * canvas.width) / grid.width), top = Math.floor((y * canvas.height) / grid.height);
    const right = Math.floor(((x + 1) * canvas.width) / grid.width), bottom = Math.floor(((y + 1) * canvas.height) / grid.height);
    visit(i, left, top, right - left, bottom - top);
  }
}

export function fitCanvas(canvas, width, height) {
  const scale = Math.max(1, Math.round(256 / Math.max(width, height)));
  if (canvas.width !== width * scale) canvas.width = width * scale;
  if (canvas.height !== height * scale) canvas.height = height * scale;
}

export function drawPixels(canvas, frame) {
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  if (frame.image) context.drawImage(frame.image, 0, 0, canvas.width, canvas.height);
}

export function drawReliable(canvas, frame, grid) {
  drawPixels(canvas, frame);
  const context = canvas.getContext("2d");
  context.fillStyle = kGrey;
  eachCell(canvas, grid, (i, x, y, w, h) => {
    if (frame.reliable[i] !== "1") context.fillRect(x, y, w, h);
  });
}

export function drawTokens(canvas, frame, grid, palette) {
  const context = canvas.getContext("2d");
  eachCell(canvas, grid, (i, x, y, w, h) => {
    context.fillStyle = frame.reliable[i] === "1" ? colorOf(palette, frame.tokens[i]) : kGrey;
    context.fillRect(x, y, w, h);
  });
}
