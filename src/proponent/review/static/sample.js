// How one sample is shown: a picture, else a curve, else the values of a row.

import { drawn, element } from "./dom.js";
import { cell } from "./numbers.js";

const COARSE = 128; // pixels under which a picture is enlarged with sharp edges

/** Make a small view of a sample, for tiles. */
export function smallSample(item, lazy = false) {
  if (item.thumb) return pictureOf(item.thumb, "", item, lazy);
  if (item.values?.length) return curveOf(item.values);
  const columns = Object.entries(item.details ?? {}).slice(0, 8);
  if (!columns.length) return nothingOf(item);
  const lines = columns.map(([name, value]) =>
    element("span", {}, element("b", { text: `${name} ` }), cell(value)),
  );
  return element("div", { class: "sample cells" }, ...lines);
}

/** Make a large view of a sample. The small picture stands in until the large one is there. */
export function largeSample(item) {
  if (item.full ?? item.thumb) {
    const large = pictureOf(item.thumb ?? item.full, item.caption, item, false);
    if (item.full && item.full !== item.thumb) {
      const whole = new Image();
      whole.addEventListener("load", () => (large.src = item.full));
      whole.src = item.full;
    }
    return large;
  }
  if (item.values?.length) return curveOf(item.values, item.caption);
  if (!Object.keys(item.details ?? {}).length) return nothingOf(item);
  const row = element("div", {
    class: "sample row",
    tabindex: "0",
    role: "group",
    "aria-label": item.caption,
  });
  row.append(valuesTable(item.details));
  return row;
}

/** Show a name on one line: where room is short, its folder gives way first. */
export function showName(place, caption) {
  const cut = caption.lastIndexOf("/") + 1;
  place.title = caption;
  place.replaceChildren(
    ...(cut ? [element("span", { class: "folder", text: caption.slice(0, cut) })] : []),
    element("bdi", { text: caption.slice(cut) || caption }),
  );
}

/** Make a table of names and values. */
export function valuesTable(values) {
  const table = element("table", { class: "values" }, element("tbody"));
  for (const [name, value] of Object.entries(values)) {
    const kind = typeof value === "number" ? "number" : "";
    table.tBodies[0].append(
      element(
        "tr",
        {},
        element("th", { scope: "row", text: name }),
        element("td", { class: kind, text: cell(value) }),
      ),
    );
  }
  return table;
}

function pictureOf(address, alt, item, lazy) {
  const picture = element("img", { class: "sample", alt, decoding: "async", draggable: "false" });
  if (lazy) picture.loading = "lazy";
  picture.addEventListener("load", () =>
    picture.classList.toggle("coarse", picture.naturalWidth < COARSE && picture.naturalHeight < COARSE),
  );
  picture.addEventListener(
    "error",
    () => picture.isConnected && picture.replaceWith(nothingOf(item, "no picture")),
  );
  picture.src = address;
  return picture;
}

function curveOf(values, label = "") {
  const numbers = values.filter(Number.isFinite);
  const low = numbers.reduce((least, value) => Math.min(least, value), Infinity);
  const range = numbers.reduce((most, value) => Math.max(most, value), -Infinity) - low || 1;
  const at = (value) => (96 - (92 * (value - low)) / range).toFixed(2);
  const step = 100 / Math.max(1, values.length - 1);
  let path = "";
  let pen = "M";
  values.forEach((value, k) => {
    if (!Number.isFinite(value)) pen = "M";
    else {
      path += `${pen}${(k * step).toFixed(2)} ${at(value)}`;
      pen = "L";
    }
  });
  const curve = drawn("svg", { class: "sample curve", viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  if (label)
    for (const [name, value] of [
      ["role", "img"],
      ["aria-label", `curve of ${values.length} values, ${label}`],
    ])
      curve.setAttribute(name, value);
  else curve.setAttribute("aria-hidden", "true");
  if (low < 0 && low + range > 0) curve.append(drawn("line", { x1: 0, x2: 100, y1: at(0), y2: at(0) }));
  curve.append(drawn("path", { d: path }));
  return curve;
}

function nothingOf(item, reason = "") {
  return element("div", { class: "sample nothing", text: reason || item.caption || item.id });
}
