// An axis of a plot: where a value stands, and which values are worth a tick.

import { plain } from "./numbers.js";

const HEAVY = 15; // a range this many times its middle half is no longer read on a linear axis

/**
 * Make an axis for values. `scale`: "linear", "log", "asinh" (signed logarithm, linear around 0) or "auto",
 * which takes what the spread of the values asks for.
 *
 * Returns `{low, high, scale, place(value) -> 0…1, value(place), ticks(count) -> [{value, text}]}`.
 */
export function makeAxis(values, scale = "auto") {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) sorted.push(0, 1);
  const chosen =
    scale === "auto" ? fittingScale(sorted) : scale === "log" && sorted[0] <= 0 ? "asinh" : scale;
  const bend =
    Math.abs(
      quantile(
        sorted.map(Math.abs).sort((a, b) => a - b),
        0.5,
      ),
    ) || 1;
  const { forward, back } = {
    linear: { forward: (v) => v, back: (u) => u },
    log: { forward: Math.log10, back: (u) => 10 ** u },
    asinh: { forward: (v) => Math.asinh(v / bend), back: (u) => bend * Math.sinh(u) },
  }[chosen];
  let [start, end] = [forward(sorted[0]), forward(sorted[sorted.length - 1])];
  if (start === end) [start, end] = [start - 0.5, end + 0.5];
  const margin = 0.03 * (end - start);
  [start, end] = [start - margin, end + margin];
  return {
    low: back(start),
    high: back(end),
    scale: chosen,
    place: (value) => (forward(value) - start) / (end - start),
    value: (place) => back(start + place * (end - start)),
    ticks: (count) =>
      ticksOf(chosen, back(start), back(end), count, (v) => (forward(v) - start) / (end - start)),
  };
}

function fittingScale(sorted) {
  const middle = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  const range = sorted[sorted.length - 1] - sorted[0];
  if (!middle || range / middle < HEAVY) return "linear";
  return sorted[0] > 0 ? "log" : "asinh";
}

function quantile(sorted, share) {
  return sorted[Math.round(share * (sorted.length - 1))];
}

function ticksOf(scale, low, high, count, place) {
  let values = evenTicks(low, high, count);
  if (scale !== "linear") {
    const powers = tensBetween(low, high);
    if (powers.length >= 3) values = powers;
    else if (scale === "log")
      values = powers
        .flatMap((power) => [power, 2 * power, 5 * power])
        .concat(powers.map((power) => power / 2));
  }
  const kept = [];
  const byWeight = (a, b) => Math.abs(b) - Math.abs(a);
  const inside = [...new Set(values)].filter((value) => value >= low && value <= high);
  for (const value of scale === "asinh"
    ? inside.sort((a, b) => (a === 0 ? -1 : b === 0 ? 1 : byWeight(a, b)))
    : inside) {
    if (kept.every((other) => Math.abs(place(other) - place(value)) > 0.6 / count)) kept.push(value);
  }
  return kept.sort((a, b) => a - b).map((value) => ({ value, text: tickText(value) }));
}

function evenTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const values = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1)
    values.push(Number((k * step).toPrecision(12)));
  return values;
}

function tensBetween(low, high) {
  const values = low <= 0 && high >= 0 ? [0] : [];
  const largest = Math.max(Math.abs(low), Math.abs(high));
  for (let power = Math.floor(Math.log10(largest)); power > Math.log10(largest) - 12; power -= 1) {
    const value = Number(`1e${power}`);
    values.push(value, -value);
  }
  return values.filter((value) => value >= low && value <= high);
}

function tickText(value) {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-3 && size < 1e5))
    return (value < 0 ? "−" : "") + size.toLocaleString("en", { maximumFractionDigits: 6 });
  return plain(value).replace(/\.?0+e/, "e");
}
