// What the review came to, and where its decisions go from here.

import { drawn, element } from "./dom.js";
import { expectedWords, knows } from "./learnt.js";
import { count, counted, percent } from "./numbers.js";

const EXPORTS = [
  ["parquet", "Parquet", "a table with cleanlab's columns"],
  ["csv", "CSV", "the same as text"],
  ["labelstudio", "Label Studio", "tasks as JSON, your verdicts as annotations"],
  ["folder", "Image folder", "what you kept, with metadata.jsonl, as a zip file"],
];

/** The exports, for a menu. */
export function exportsOf(kind) {
  return EXPORTS.filter(([name]) => name !== "folder" || kind === "images").map(([name, text, hint]) => ({
    text,
    hint,
    href: `/export/${name}`,
  }));
}

/** Show the summary. Returns `{show(), enter()}`. */
export function mountSummaryView(review) {
  const place = document.getElementById("summary");
  let told = -1;

  async function show() {
    if (told === review.state.seq) return;
    told = review.state.seq;
    const summary = await review.ask("/api/summary");
    if (summary) place.replaceChildren(...partsOf(review, summary));
  }

  return {
    show,
    enter() {
      told = -1;
      show();
    },
    item: null,
    command: () => false,
  };
}

function partsOf(review, summary) {
  const counts = review.counts;
  const decided = review.state.n - counts.left;
  const parts = [element("h2", { text: decided ? "What the review came to" : "Nothing was decided yet" })];
  if (!decided) {
    parts.push(
      element(
        "p",
        {},
        "Decisions from the queue and from the grid are summed up here. ",
        element("a", { href: "#queue", text: "Begin with the queue." }),
      ),
    );
    return parts;
  }
  parts.push(
    element("p", {
      class: "lead",
      text: `${countWords(decided, review.state.n, counts)}${timeWords(summary.seconds)}`,
    }),
  );
  if (summary.arms) parts.push(...armsOf(summary.arms));
  const estimate = summary.estimate ?? review.state.estimate;
  if (counts.left && knows(estimate)) {
    parts.push(element("h2", { text: "What is left" }), element("p", { text: expectedWords(estimate) }));
  }
  parts.push(element("h2", { text: "From here" }));
  const links = element("ul", { class: "exports" });
  for (const { text, hint, href } of exportsOf(review.state.kind))
    links.append(element("li", {}, element("a", { href, download: "", text }), ` ${hint}`));
  parts.push(
    element(
      "p",
      {},
      element("code", { text: "proponent apply RUN --out clean.parquet" }),
      " writes the list of what stays. It deletes nothing. ",
      element("code", { text: "proponent compare" }),
      " then trains with and without the discarded, to see whether it helped.",
    ),
    links,
  );
  return parts;
}

function armsOf({ queue, control }) {
  const parts = [element("h2", { text: "What the ranking was worth" })];
  if (!queue?.looked_at)
    return [
      ...parts,
      element("p", { text: "None of these decisions came from the queue, so there is nothing to compare." }),
    ];
  const rows = [
    ["brought by the queue", queue],
    ["brought by chance", control],
  ].filter(([, arm]) => arm?.looked_at);
  const most = Math.max(0.01, ...rows.map(([, arm]) => arm.high ?? arm.share));
  const body = element("tbody");
  for (const [name, arm] of rows) {
    body.append(
      element(
        "tr",
        {},
        element("th", { scope: "row", text: name }),
        numberCell(`${count(arm.discarded)} of ${count(arm.looked_at)}`),
        numberCell(percent(arm.share)),
        element("td", { class: "bar" }, intervalOf(arm, most)),
        numberCell(`${percent(arm.low)} to ${percent(arm.high)}`),
      ),
    );
  }
  const head = element(
    "tr",
    {},
    ...["", "discarded", "share", "", "95 % interval"].map((text) => element("th", { scope: "col", text })),
  );
  parts.push(
    element(
      "div",
      { class: "scroll" },
      element("table", { class: "arms" }, element("thead", {}, head), body),
    ),
    element("p", { text: verdictOf(queue, control) }),
  );
  return parts;
}

function numberCell(text) {
  return element("td", { class: "number", text });
}

function verdictOf(queue, control) {
  if (!control?.looked_at) return "No sample came by chance yet: there is nothing to hold the queue against.";
  if (queue.low > control.high) {
    const times = control.share ? `: ${(queue.share / control.share).toFixed(1)} times as much` : "";
    return `The queue brings more of what you discard than chance does${times}.`;
  }
  if (queue.high < control.low)
    return "The queue brings less of what you discard than chance does: this ranking points the wrong way here.";
  return `The intervals overlap: ${counted(control.looked_at, "sample")} by chance can't tell yet whether the queue does better.`;
}

function intervalOf({ share, low, high }, most) {
  const at = (value) => (100 * Math.min(1, value / most)).toFixed(2);
  const bar = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  bar.append(
    drawn("rect", { class: "whole", x: 0, y: 3.5, width: 100, height: 3 }),
    drawn("rect", {
      class: "range",
      x: at(low),
      y: 3.5,
      width: Math.max(0.5, at(high) - at(low)),
      height: 3,
    }),
    drawn("rect", { class: "best", x: Math.max(0, at(share) - 0.6), y: 0.5, width: 1.2, height: 9 }),
  );
  return bar;
}

function countWords(decided, total, { discard, keep, unsure }) {
  const parts = `discarded ${count(discard)}, kept ${count(keep)}, unsure about ${count(unsure)}`;
  return `You looked at ${count(decided)} of ${counted(total, "sample")}: ${parts}.`;
}

function timeWords(seconds) {
  if (!seconds?.total) return "";
  const minutes = seconds.total / 60;
  const typical = seconds.median;
  const each = Number.isFinite(typical)
    ? `, most often about ${typical.toFixed(typical < 10 ? 1 : 0)} s for one`
    : "";
  return ` It took ${minutes < 2 ? `${Math.round(seconds.total)} s` : `${Math.round(minutes)} minutes`}${each}.`;
}
