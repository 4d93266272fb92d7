// Two numbers of every sample against each other, with a brush that chooses samples.

import { makeAxis } from "./axis.js";
import { element } from "./dom.js";
import { counted, plain } from "./numbers.js";
import { smallSample } from "./sample.js";

const ROOM = { left: 58, right: 12, top: 12, bottom: 44 };
const NEAR = 12; // pixels from which the pointer means a point
const LEAST = 4; // pixels of a drag that is a brush and no click

/**
 * Draw points and let people brush them, by pointer, by keys on the plot, or by typing bounds.
 *
 * `points`: an array of items, each with the numbers that the axes name. Those without a finite value on an axis are
 * left out, and counted. `options`: `x` and `y`, each `{key, label, unit, scale}`; `axes`, more of them to switch to;
 * `groups`, `[{name, color, is(point)}]` drawn apart, the later on top; `name`; `onBrush(points | null)`, null where
 * everything is chosen; `onPick(point)` for a click on a point.
 *
 * Returns a handle: `setAxes(x, y)`, `brush({x: [low, high], y: [low, high]} | null)`, `update(points)`, `chosen`,
 * `destroy()`.
 */
export function mountScatter(parent, points, options) {
  return new Scatter(parent, points, options);
}

class Scatter {
  constructor(parent, points, options) {
    this.options = { groups: [], axes: [], name: "samples", ...options };
    this.base = element("canvas", { "aria-hidden": "true" });
    this.over = element("canvas", { tabindex: "0", role: "application", "aria-roledescription": "scatter plot with a brush" });
    this.tip = element("div", { class: "scatter-tip", hidden: true });
    this.status = element("p", { class: "scatter-status", role: "status" });
    this.plot = element("div", { class: "scatter-plot" }, this.base, this.over, this.tip);
    this.root = element("div", { class: "scatter" }, this.axisPickers(), this.plot, this.legend(), this.status, this.boundFields());
    parent.append(this.root);
    this.bounds = null;
    this.listen();
    this.points = points;
    this.setAxes(this.options.x, this.options.y);
  }

  /** Show other points. */
  update(points) {
    this.points = points;
    this.setAxes(this.options.x, this.options.y);
  }

  /** Show other numbers; the brush goes, for it would mean something else. */
  setAxes(x, y) {
    Object.assign(this.options, { x, y });
    this.shown = this.points.filter((point) => Number.isFinite(point[x.key]) && Number.isFinite(point[y.key]));
    this.axes = {
      x: makeAxis(this.shown.map((point) => point[x.key]), x.scale),
      y: makeAxis(this.shown.map((point) => point[y.key]), y.scale),
    };
    for (const side of ["x", "y"]) {
      const picker = this.root.querySelector(`select[name="${side}"]`);
      if (picker) picker.value = this.options[side].key;
      this.root.querySelector(`[data-axis="${side}"]`).textContent = titleOf(this.options[side]);
    }
    this.brush(null);
  }

  /** Choose the points within bounds, in the units of the axes; null chooses all. */
  brush(bounds) {
    this.bounds = bounds && { x: [...bounds.x].sort(ascending), y: [...bounds.y].sort(ascending) };
    const { x, y } = this.options;
    const within = (point) =>
      point[x.key] >= this.bounds.x[0] && point[x.key] <= this.bounds.x[1] && point[y.key] >= this.bounds.y[0] && point[y.key] <= this.bounds.y[1];
    this.chosen = this.bounds ? this.shown.filter(within) : null;
    this.say();
    this.draw();
    this.options.onBrush?.(this.chosen);
  }

  destroy() {
    this.watch.disconnect();
    this.theme.removeEventListener("change", this.redraw);
    this.root.remove();
  }

  axisPickers() {
    const row = element("div", { class: "scatter-axes" });
    if (this.options.axes.length < 2) return row;
    for (const [side, words] of [["x", "across"], ["y", "up"]]) {
      const picker = element("select", { name: side });
      for (const axis of this.options.axes) picker.append(element("option", { value: axis.key, text: axis.label }));
      const pick = (key) => this.options.axes.find((axis) => axis.key === key);
      picker.addEventListener("change", () => {
        const chosen = pick(picker.value);
        this.setAxes(side === "x" ? chosen : this.options.x, side === "y" ? chosen : this.options.y);
      });
      row.append(element("label", {}, words, picker));
    }
    return row;
  }

  legend() {
    const list = element("ul", { class: "scatter-legend" });
    list.hidden = !this.options.groups.length;
    for (const { name, color } of this.options.groups) list.append(element("li", {}, element("i", { style: { background: color.startsWith("--") ? `var(${color})` : color } }), name));
    return list;
  }

  boundFields() {
    const fields = element("details", {}, element("summary", { text: "Choose by numbers" }));
    this.fields = {};
    for (const side of ["x", "y"]) {
      const row = element("div", { class: "scatter-bounds", role: "group" }, element("span", { "data-axis": side }));
      row.setAttribute("aria-label", side === "x" ? "bounds of the axis across" : "bounds of the axis up");
      for (const end of ["from", "to"]) {
        const field = element("input", { type: "number", step: "any", on: { change: () => this.brushTyped() } });
        this.fields[`${side} ${end}`] = field;
        row.append(element("label", {}, end, field));
      }
      fields.append(row);
    }
    this.clearing = element("button", { type: "button", text: "Choose all", on: { click: () => this.brush(null) } });
    fields.append(this.clearing);
    return fields;
  }

  brushTyped() {
    const read = (name, otherwise) => (this.fields[name].value === "" ? otherwise : Number(this.fields[name].value));
    if (Object.values(this.fields).every((field) => field.value === "")) return this.brush(null);
    return this.brush({ x: [read("x from", -Infinity), read("x to", Infinity)], y: [read("y from", -Infinity), read("y to", Infinity)] });
  }

  say() {
    const left = this.points.length - this.shown.length;
    const missing = left ? ` ${counted(left, "sample")} without these numbers.` : "";
    const all = counted(this.shown.length, "sample");
    this.status.textContent = (this.chosen ? `${this.chosen.length.toLocaleString("en")} of ${all} chosen.` : `${all}. Drag over the plot to choose some.`) + missing;
    this.clearing.disabled = !this.bounds;
    for (const side of ["x", "y"])
      for (const [k, end] of ["from", "to"].entries()) {
        const value = this.bounds?.[side][k];
        this.fields[`${side} ${end}`].value = Number.isFinite(value) ? Number(value.toPrecision(4)) : "";
      }
    const { x, y } = this.options;
    this.over.setAttribute(
      "aria-label",
      `${this.options.name}: ${titleOf(y)} up against ${titleOf(x)} across. Enter starts a brush, arrows move it, with Shift they size it, Escape clears it.`,
    );
  }

  listen() {
    this.redraw = () => this.draw();
    this.watch = new ResizeObserver(this.redraw);
    this.watch.observe(this.plot);
    this.theme = matchMedia("(prefers-color-scheme: dark)");
    this.theme.addEventListener("change", this.redraw);
    const at = (event) => {
      const box = this.over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.over.setPointerCapture(event.pointerId);
      const start = at(event);
      this.drag = { start, held: this.bounds && this.isInside(start) ? this.corners() : null, moved: false };
      this.tip.hidden = true;
    });
    this.over.addEventListener("pointermove", (event) => (this.drag ? this.dragTo(at(event)) : this.hover(at(event))));
    this.over.addEventListener("pointerup", (event) => {
      const drag = this.drag;
      this.drag = null;
      if (!drag || drag.moved) return;
      const point = this.nearest(at(event));
      if (point && this.options.onPick) this.options.onPick(point);
      else if (!drag.held) this.brush(null);
    });
    this.over.addEventListener("pointercancel", () => (this.drag = null));
    this.over.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.over.addEventListener("keydown", (event) => this.press(event));
  }

  dragTo([px, py]) {
    const { start, held } = this.drag;
    const [dx, dy] = [px - start[0], py - start[1]];
    if (!this.drag.moved && Math.hypot(dx, dy) < LEAST) return;
    this.drag.moved = true;
    this.brushPixels(held ? [held[0] + dx, held[1] + dy, held[2] + dx, held[3] + dy] : [start[0], start[1], px, py]);
  }

  press(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { width, height } = this.area();
    if (event.key === "Escape" && this.bounds) this.brush(null);
    else if (event.key === "Enter" && !this.bounds) this.brushPixels([ROOM.left + width * 0.75, ROOM.top, ROOM.left + width, ROOM.top + height]);
    else if (event.key in steps && this.bounds) {
      const [dx, dy] = [steps[event.key][0] * 0.03 * width, steps[event.key][1] * 0.03 * height];
      const [left, top, right, bottom] = this.corners();
      this.brushPixels(event.shiftKey ? [left, top, Math.max(left + 4, right + dx), Math.max(top + 4, bottom + dy)] : [left + dx, top + dy, right + dx, bottom + dy]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  brushPixels([left, top, right, bottom]) {
    const { width, height } = this.area();
    const x = (px) => this.axes.x.value(clamp((px - ROOM.left) / width));
    const y = (py) => this.axes.y.value(clamp(1 - (py - ROOM.top) / height));
    this.brush({ x: [x(left), x(right)], y: [y(top), y(bottom)] });
  }

  area() {
    return { width: Math.max(1, this.plot.clientWidth - ROOM.left - ROOM.right), height: Math.max(1, this.plot.clientHeight - ROOM.top - ROOM.bottom) };
  }

  across(value) {
    return ROOM.left + clamp(this.axes.x.place(value)) * this.area().width;
  }

  up(value) {
    return ROOM.top + (1 - clamp(this.axes.y.place(value))) * this.area().height;
  }

  corners() {
    const ends = (side, k) => (Number.isFinite(this.bounds[side][k]) ? this.bounds[side][k] : this.axes[side][k ? "high" : "low"]);
    return [this.across(ends("x", 0)), this.up(ends("y", 1)), this.across(ends("x", 1)), this.up(ends("y", 0))];
  }

  isInside([px, py]) {
    const [left, top, right, bottom] = this.corners();
    return px >= left && px <= right && py >= top && py <= bottom;
  }

  nearest([px, py]) {
    let best = null;
    let least = NEAR ** 2;
    this.places.forEach(([x, y], k) => {
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance < least) [best, least] = [k, distance];
    });
    return best === null ? null : this.shown[best];
  }

  hover(place) {
    const point = this.nearest(place);
    this.tip.hidden = !point;
    if (!point) return;
    if (this.tip.point !== point) {
      this.tip.point = point;
      const { x, y } = this.options;
      const lines = [point.caption ?? point.id, `${x.label} ${plain(point[x.key])}`, `${y.label} ${plain(point[y.key])}`];
      this.tip.replaceChildren(smallSample(point), ...lines.map((text) => element("div", { text })));
    }
    const [px, py] = [this.across(point[this.options.x.key]), this.up(point[this.options.y.key])];
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    this.tip.style.left = `${px + 14 + width > this.plot.clientWidth ? Math.max(0, px - 14 - width) : px + 14}px`;
    this.tip.style.top = `${Math.max(0, Math.min(py - height / 2, this.plot.clientHeight - height))}px`;
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (!width || !this.axes) return;
    const colors = colorsOf(this.root);
    const base = fitted(this.base, width, height);
    this.drawAxes(base, colors, width, height);
    this.places = this.shown.map((point) => [this.across(point[this.options.x.key]), this.up(point[this.options.y.key])]);
    this.drawPoints(base, colors);
    const over = fitted(this.over, width, height);
    if (!this.bounds) return;
    const [left, top, right, bottom] = this.corners();
    over.globalAlpha = 0.12;
    over.fillStyle = colors.accent;
    over.fillRect(left, top, right - left, bottom - top);
    over.globalAlpha = 1;
    over.strokeStyle = colors.accent;
    over.lineWidth = 1.5;
    over.strokeRect(left, top, right - left, bottom - top);
  }

  drawAxes(pen, colors, width, height) {
    const { x, y } = this.options;
    pen.font = `12px ${colors.sans}`;
    pen.lineWidth = 1;
    pen.strokeStyle = colors.line;
    pen.fillStyle = colors.muted;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const { value, text } of this.axes.x.ticks(Math.max(2, Math.floor(this.area().width / 80)))) {
      const px = Math.round(this.across(value)) + 0.5;
      stroke(pen, px, ROOM.top, px, height - ROOM.bottom);
      pen.fillText(text, px, height - ROOM.bottom + 5);
    }
    fillTitle(pen, titleOf(x), warp(this.axes.x), ROOM.left + this.area().width / 2, height - 18, this.area().width);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const { value, text } of this.axes.y.ticks(Math.max(2, Math.floor(this.area().height / 50)))) {
      const py = Math.round(this.up(value)) + 0.5;
      stroke(pen, ROOM.left, py, width - ROOM.right, py);
      pen.fillText(text, ROOM.left - 6, py);
    }
    pen.save();
    pen.translate(10, ROOM.top + this.area().height / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    fillTitle(pen, titleOf(y), warp(this.axes.y), 0, 0, this.area().height);
    pen.restore();
  }

  drawPoints(pen, colors) {
    const radius = this.shown.length > 5000 ? 1.6 : this.shown.length > 800 ? 2.2 : 3;
    const chosen = this.chosen && new Set(this.chosen);
    const layers = [{ color: "--point", is: () => true }, ...this.options.groups];
    const layerOf = this.shown.map((point) => layers.findLastIndex((layer) => layer.is(point)));
    for (const wanted of chosen ? [false, true] : [true]) {
      layers.forEach((layer, k) => {
        pen.fillStyle = colors.resolve(layer.color);
        pen.globalAlpha = wanted ? (k ? 0.95 : 0.6) : 0.15;
        pen.beginPath();
        this.shown.forEach((point, at) => {
          if (layerOf[at] !== k || (chosen && chosen.has(point) !== wanted)) return;
          const [px, py] = this.places[at];
          const size = radius + (k ? 0.8 : 0);
          pen.moveTo(px + size, py);
          pen.arc(px, py, size, 0, 2 * Math.PI);
        });
        pen.fill();
      });
    }
    pen.globalAlpha = 1;
  }
}

function titleOf(axis) {
  return axis.unit ? `${axis.label} (${axis.unit})` : axis.label;
}

function warp(axis) {
  return axis.scale === "linear" ? "" : axis.scale === "log" ? ", logarithmic" : ", logarithmic away from 0";
}

function fillTitle(pen, title, more, x, y, room) {
  pen.fillText(pen.measureText(title + more).width > room ? title : title + more, x, y, room);
}

function ascending(a, b) {
  return a - b;
}

function clamp(share) {
  return Math.max(0, Math.min(1, share));
}

function stroke(pen, ...[x1, y1, x2, y2]) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function fitted(canvas, width, height) {
  const density = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const pen = canvas.getContext("2d");
  pen.scale(density, density);
  return pen;
}

function colorsOf(node) {
  const style = getComputedStyle(node);
  const resolve = (color) => {
    const name = color.startsWith("var(") ? color.slice(4, -1) : color;
    return name.startsWith("--") ? style.getPropertyValue(name).trim() : name;
  };
  return { resolve, ...Object.fromEntries(["line", "muted", "accent", "sans"].map((name) => [name, resolve(`--${name}`)])) };
}
