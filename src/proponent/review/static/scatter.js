// Two numbers of every sample against each other, with a brush that chooses samples.

import { makeAxis } from "./axis.js";
import { element } from "./dom.js";
import { count, counted, plain } from "./numbers.js";
import { smallSample } from "./sample.js";
import { axisPickers, boundFields, legendOf } from "./scatter-controls.js";
import { ROOM, colorsOf, drawBrush, drawPlot, titleOf } from "./scatter-drawing.js";

const NEAR = 12; // pixels from which the pointer means a point
const LEAST = 4; // pixels of a drag that is a brush and no click
const STEP = 0.03; // of the plot, that a key moves the brush

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
    this.points = points;
    this.bounds = null;
    this.base = element("canvas", { "aria-hidden": "true" });
    this.over = element("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "scatter plot with a brush",
    });
    this.tip = element("div", { class: "scatter-tip", hidden: true });
    this.status = element("p", { class: "scatter-status", role: "status" });
    this.plot = element("div", { class: "scatter-plot" }, this.base, this.over, this.tip);
    this.pickers = axisPickers(this.options.axes, (side, axis) => {
      const { x, y } = { ...this.options, [side]: axis };
      this.setAxes(x, y);
    });
    this.fields = boundFields((bounds) => this.brush(bounds));
    const legend = legendOf(this.options.groups);
    const parts = [this.pickers.root, this.plot, legend, this.status, this.fields.root];
    this.root = element("div", { class: "scatter" }, ...parts);
    parent.append(this.root);
    this.listen();
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
    const isThere = (point) => Number.isFinite(point[x.key]) && Number.isFinite(point[y.key]);
    this.shown = this.points.filter(isThere);
    const axisOf = ({ key, scale }) =>
      makeAxis(
        this.shown.map((point) => point[key]),
        scale,
      );
    this.axes = { x: axisOf(x), y: axisOf(y) };
    const layers = [{ color: "--point", is: () => true }, ...this.options.groups];
    const layerOf = this.shown.map((point) => layers.findLastIndex((layer) => layer.is(point)));
    Object.assign(this, { layers, layerOf });
    this.pickers.show({ x, y });
    const keys = "Enter starts a brush, arrows move it, with Shift they size it, Escape clears it.";
    this.over.setAttribute(
      "aria-label",
      `${this.options.name}: ${titleOf(y)} up against ${titleOf(x)} across. ${keys}`,
    );
    this.brush(null);
  }

  /** Choose the points within bounds, in the units of the axes; null chooses all. */
  brush(bounds) {
    const { x, y } = this.options;
    this.bounds = bounds && { x: [...bounds.x].sort(ascending), y: [...bounds.y].sort(ascending) };
    const isWithin = (value, [low, high]) => value >= low && value <= high;
    const isChosen = (point) =>
      isWithin(point[x.key], this.bounds.x) && isWithin(point[y.key], this.bounds.y);
    this.chosen = this.bounds ? this.shown.filter(isChosen) : null;
    this.fields.show({ x, y }, this.bounds);
    this.say();
    this.draw();
    this.options.onBrush?.(this.chosen);
  }

  destroy() {
    this.watch.disconnect();
    this.theme.removeEventListener("change", this.redraw);
    this.root.remove();
  }

  say() {
    const left = this.points.length - this.shown.length;
    const all = counted(this.shown.length, "sample");
    const words = this.chosen
      ? `${count(this.chosen.length)} of ${all} chosen.`
      : `${all}. Drag over the plot to choose some.`;
    this.status.textContent = words + (left ? ` ${counted(left, "sample")} without these numbers.` : "");
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
    const listeners = {
      pointerdown: (event) => event.button === 0 && this.press(event.pointerId, at(event)),
      pointermove: (event) => (this.drag ? this.dragTo(at(event)) : this.hover(at(event))),
      pointerup: (event) => this.release(at(event)),
      pointercancel: () => (this.drag = null),
      pointerleave: () => (this.tip.hidden = true),
      keydown: (event) => this.steer(event),
    };
    for (const [name, listener] of Object.entries(listeners)) this.over.addEventListener(name, listener);
  }

  press(pointer, start) {
    this.over.setPointerCapture(pointer);
    this.drag = { start, held: this.bounds && this.isInside(start) ? this.corners() : null, moved: false };
    this.tip.hidden = true;
  }

  dragTo([x, y]) {
    const { start, held } = this.drag;
    const [dx, dy] = [x - start[0], y - start[1]];
    if (!this.drag.moved && Math.hypot(dx, dy) < LEAST) return;
    this.drag.moved = true;
    this.brushPixels(held ? [held[0] + dx, held[1] + dy, held[2] + dx, held[3] + dy] : [...start, x, y]);
  }

  release(place) {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved) return;
    const point = this.nearest(place);
    if (point && this.options.onPick) this.options.onPick(point);
    else if (!drag.held) this.brush(null);
  }

  steer(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { width, height } = this.area();
    if (event.key === "Escape" && this.bounds) this.brush(null);
    else if (event.key === "Enter" && !this.bounds) {
      this.brushPixels([ROOM.left + 0.75 * width, ROOM.top, ROOM.left + width, ROOM.top + height]);
    } else if (event.key in steps && this.bounds) {
      const [dx, dy] = [steps[event.key][0] * STEP * width, steps[event.key][1] * STEP * height];
      const [left, top, right, bottom] = this.corners();
      const sized = [left, top, Math.max(left + LEAST, right + dx), Math.max(top + LEAST, bottom + dy)];
      this.brushPixels(event.shiftKey ? sized : [left + dx, top + dy, right + dx, bottom + dy]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  brushPixels([left, top, right, bottom]) {
    const { width, height } = this.area();
    const x = (place) => this.axes.x.value(clamp((place - ROOM.left) / width));
    const y = (place) => this.axes.y.value(clamp(1 - (place - ROOM.top) / height));
    this.brush({ x: [x(left), x(right)], y: [y(top), y(bottom)] });
  }

  area() {
    const { clientWidth, clientHeight } = this.plot;
    const [width, height] = [clientWidth - ROOM.left - ROOM.right, clientHeight - ROOM.top - ROOM.bottom];
    return { width: Math.max(1, width), height: Math.max(1, height) };
  }

  across(value, { width } = this.area()) {
    return ROOM.left + clamp(this.axes.x.place(value)) * width;
  }

  up(value, { height } = this.area()) {
    return ROOM.top + (1 - clamp(this.axes.y.place(value))) * height;
  }

  corners() {
    const end = (side, k) => {
      const value = this.bounds[side][k];
      return Number.isFinite(value) ? value : this.axes[side][k ? "high" : "low"];
    };
    return [this.across(end("x", 0)), this.up(end("y", 1)), this.across(end("x", 1)), this.up(end("y", 0))];
  }

  isInside([x, y]) {
    const [left, top, right, bottom] = this.corners();
    return x >= left && x <= right && y >= top && y <= bottom;
  }

  nearest([x, y]) {
    let best = null;
    let least = NEAR ** 2;
    this.places.forEach(([px, py], k) => {
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance < least) [best, least] = [k, distance];
    });
    return best === null ? null : this.shown[best];
  }

  hover(place) {
    const point = this.nearest(place);
    const { x, y } = this.options;
    this.tip.hidden = !point;
    if (!point) return;
    if (this.tipped !== point) {
      this.tipped = point;
      const lines = [
        point.caption ?? point.id,
        ...[x, y].map(({ key, label }) => `${label} ${plain(point[key])}`),
      ];
      this.tip.replaceChildren(smallSample(point), ...lines.map((text) => element("div", { text })));
    }
    const [px, py] = [this.across(point[x.key]), this.up(point[y.key])];
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const isTight = px + NEAR + width > this.plot.clientWidth;
    this.tip.style.left = `${isTight ? Math.max(0, px - NEAR - width) : px + NEAR}px`;
    this.tip.style.top = `${Math.max(0, Math.min(py - height / 2, this.plot.clientHeight - height))}px`;
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (!width) return;
    const { x, y } = this.options;
    const area = this.area();
    this.places = this.shown.map((point) => [this.across(point[x.key], area), this.up(point[y.key], area)]);
    const chosen = this.chosen && new Set(this.chosen);
    const plot = {
      ...{ width, height, x, y },
      ...{ axes: this.axes, places: this.places, layers: this.layers, layerOf: this.layerOf },
      across: (value) => this.across(value, area),
      up: (value) => this.up(value, area),
      isChosen: chosen && ((k) => chosen.has(this.shown[k])),
    };
    const colors = colorsOf(this.root);
    drawPlot(this.base, plot, colors);
    drawBrush(this.over, plot, colors, this.bounds && this.corners());
  }
}

function ascending(a, b) {
  return a - b;
}

function clamp(share) {
  return Math.max(0, Math.min(1, share));
}
