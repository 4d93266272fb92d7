// Numbers as people read them; `plain` is the twin of `proponent.report._numbers.plain`.

/** Write a count, with commas. */
export function count(value) {
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1);
}

/** Write a number with three significant digits. */
export function plain(value) {
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "none" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(Number(value.toPrecision(3)));
  let text;
  if (size >= 1e5 || size < 1e-3) text = size.toExponential(2).replace("e+", "e");
  else text = size.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
  return (value < 0 ? "−" : "") + text;
}

/** Write a value of the data: whole numbers whole, others with three digits, words as they are. */
export function cell(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "number" && !Number.isInteger(value)
    ? plain(value)
    : String(value).replace(/^-(?=\d)/, "−");
}

/** Write a share as a percentage. */
export function percent(share) {
  if (typeof share !== "number" || !Number.isFinite(share)) return "–";
  const value = 100 * share;
  return `${value > 0 && value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** Write a count with the word for what is counted. */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}
