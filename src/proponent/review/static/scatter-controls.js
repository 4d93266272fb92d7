// What stands around a scatter: which numbers it shows, its legend, and bounds to be typed.

import { element } from "./dom.js";
import { titleOf } from "./scatter-drawing.js";

const SIDES = ["x", "y"];
const ENDS = ["from", "to"];

/** Make selects for the axes; `onPick(side, axis)` hears of a choice. Handle: `root`, `show(axes)`. */
export function axisPickers(axes, onPick) {
  const root = element("div", { class: "scatter-axes" });
  const pickers = {};
  if (axes.length > 1)
    for (const [side, words] of [
      ["x", "across"],
      ["y", "up"],
    ]) {
      const options = axes.map((axis) => element("option", { value: axis.key, text: axis.label }));
      const pick = () =>
        onPick(
          side,
          axes.find((axis) => axis.key === pickers[side].value),
        );
      pickers[side] = element("select", { on: { change: pick } }, ...options);
      root.append(element("label", {}, words, pickers[side]));
    }
  return {
    root,
    show(chosen) {
      for (const [side, picker] of Object.entries(pickers)) picker.value = chosen[side].key;
    },
  };
}

/** Make a legend of groups. */
export function legendOf(groups) {
  const list = element("ul", { class: "scatter-legend" });
  list.hidden = !groups.length;
  for (const { name, color } of groups) {
    const background = color.startsWith("--") ? `var(${color})` : color;
    list.append(element("li", {}, element("i", { style: { background } }), name));
  }
  return list;
}

/** Make fields for bounds; `onBounds(bounds | null)` hears what was typed. Handle: `root`, `show(axes, bounds)`. */
export function boundFields(onBounds) {
  const fields = new Map();
  const titles = {};
  const root = element("details", {}, element("summary", { text: "Choose by numbers" }));
  const typed = (side, end) => {
    const { value } = fields.get(`${side} ${end}`);
    return value === "" ? (end === "from" ? -Infinity : Infinity) : Number(value);
  };
  const read = () => {
    const isEmpty = [...fields.values()].every((field) => field.value === "");
    onBounds(
      isEmpty ? null : Object.fromEntries(SIDES.map((side) => [side, ENDS.map((end) => typed(side, end))])),
    );
  };
  for (const side of SIDES) {
    titles[side] = element("span");
    const name = `bounds of the axis ${side === "x" ? "across" : "up"}`;
    const row = element("div", { class: "scatter-bounds", role: "group", "aria-label": name }, titles[side]);
    for (const end of ENDS) {
      const field = element("input", { type: "number", step: "any", on: { change: read } });
      fields.set(`${side} ${end}`, field);
      row.append(element("label", {}, end, field));
    }
    root.append(row);
  }
  const all = element("button", { type: "button", text: "Choose all", on: { click: () => onBounds(null) } });
  root.append(all);
  return {
    root,
    show(axes, bounds) {
      all.disabled = !bounds;
      for (const side of SIDES) {
        titles[side].textContent = titleOf(axes[side]);
        ENDS.forEach((end, k) => {
          const value = bounds?.[side][k];
          fields.get(`${side} ${end}`).value = Number.isFinite(value) ? Number(value.toPrecision(4)) : "";
        });
      }
    },
  };
}
