// The ink of a scatter: its axes, its points, its brush.

/** Pixels around the plot, for the axes. */
export const ROOM = { left: 58, right: 12, top: 12, bottom: 44 };

const MANY = 5000; // points from which they are small
const SOME = 800;

/** What an axis is called, with its unit. */
export function titleOf(axis) {
  return axis.unit ? `${axis.label} (${axis.unit})` : axis.label;
}

/**
 * Draw axes and points.
 *
 * `plot`: `{width, height, x, y, axes, across(value), up(value), places, layers, layerOf, isChosen(k) | null}`:
 * the pixels, what the axes show, their scales, where values stand, and the points with the layers they are in.
 */
export function drawPlot(canvas, plot, colors) {
  const pen = penOf(canvas, plot);
  pen.font = `12px ${colors.sans}`;
  pen.lineWidth = 1;
  pen.strokeStyle = colors.line;
  pen.fillStyle = colors.muted;
  drawAcross(pen, plot);
  drawUp(pen, plot);
  for (const wanted of plot.isChosen ? [false, true] : [true]) {
    plot.layers.forEach((layer, k) => drawLayer(pen, plot, colors.resolve(layer.color), k, wanted));
  }
}

/** Draw the brush, or nothing. */
export function drawBrush(canvas, plot, colors, corners) {
  const pen = penOf(canvas, plot);
  if (!corners) return;
  const [left, top, right, bottom] = corners;
  pen.globalAlpha = 0.12;
  pen.fillStyle = colors.accent;
  pen.fillRect(left, top, right - left, bottom - top);
  pen.globalAlpha = 1;
  pen.strokeStyle = colors.accent;
  pen.lineWidth = 1.5;
  pen.strokeRect(left, top, right - left, bottom - top);
}

/** The colours of the page around an element, light or dark. */
export function colorsOf(node) {
  const style = getComputedStyle(node);
  const resolve = (color) => (color.startsWith("--") ? style.getPropertyValue(color).trim() : color);
  const named = ["line", "muted", "accent", "sans"].map((name) => [name, resolve(`--${name}`)]);
  return { resolve, ...Object.fromEntries(named) };
}

function drawAcross(pen, { width, height, x, axes, across }) {
  const room = width - ROOM.left - ROOM.right;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const { value, text } of axes.x.ticks(Math.max(2, Math.floor(room / 80)))) {
    const place = Math.round(across(value)) + 0.5;
    drawLine(pen, [place, ROOM.top], [place, height - ROOM.bottom]);
    pen.fillText(text, place, height - ROOM.bottom + 5);
  }
  drawTitle(pen, x, axes.x, ROOM.left + room / 2, height - 18, room);
}

function drawUp(pen, { width, height, y, axes, up }) {
  const room = height - ROOM.top - ROOM.bottom;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const { value, text } of axes.y.ticks(Math.max(2, Math.floor(room / 50)))) {
    const place = Math.round(up(value)) + 0.5;
    drawLine(pen, [ROOM.left, place], [width - ROOM.right, place]);
    pen.fillText(text, ROOM.left - 6, place);
  }
  pen.save();
  pen.translate(10, ROOM.top + room / 2);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "center";
  drawTitle(pen, y, axes.y, 0, 0, room);
  pen.restore();
}

function drawTitle(pen, axis, scale, x, y, room) {
  const warp = { linear: "", log: ", logarithmic", asinh: ", logarithmic away from 0" }[scale.scale];
  const whole = titleOf(axis) + warp;
  pen.fillText(pen.measureText(whole).width > room ? titleOf(axis) : whole, x, y, room);
}

function drawLayer(pen, { places, layerOf, isChosen }, color, layer, wanted) {
  const size = (places.length > MANY ? 1.6 : places.length > SOME ? 2.2 : 3) + (layer ? 0.8 : 0);
  pen.fillStyle = color;
  pen.globalAlpha = wanted ? (layer ? 0.95 : 0.6) : 0.15;
  pen.beginPath();
  places.forEach(([x, y], k) => {
    if (layerOf[k] !== layer || (isChosen && isChosen(k) !== wanted)) return;
    pen.moveTo(x + size, y);
    pen.arc(x, y, size, 0, 2 * Math.PI);
  });
  pen.fill();
  pen.globalAlpha = 1;
}

function drawLine(pen, from, to) {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}

function penOf(canvas, { width, height }) {
  const density = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const pen = canvas.getContext("2d");
  pen.scale(density, density);
  return pen;
}
