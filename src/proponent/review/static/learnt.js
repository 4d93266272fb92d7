// Counts, and what the decisions so far say of the samples that nobody looked at yet.

import { element } from "./dom.js";
import { count, counted, percent } from "./numbers.js";

const PARTS = [["discard", "discarded"], ["unsure", "unsure"], ["keep", "kept"], ["left", "left"]];

/** Show how far the review is. */
export function showProgress(place, counts, total) {
  const looked = total - counts.left;
  const line = element("p", { class: "figure" }, element("b", { text: count(looked) }), ` of ${count(total)} looked at`);
  const list = element("dl", { class: "counts" });
  for (const [verdict, words] of PARTS) list.append(element("div", { class: `verdict-${verdict}` }, element("dt", { text: words }), element("dd", { text: count(counts[verdict]) })));
  place.replaceChildren(line, list);
}

/** Show the same as a thin line across the page. */
export function showShare(place, counts, total) {
  place.setAttribute("aria-label", PARTS.map(([verdict, words]) => `${count(counts[verdict])} ${words}`).join(", "));
  const parts = PARTS.filter(([verdict]) => verdict !== "left");
  if (place.children.length !== parts.length) place.replaceChildren(...parts.map(([verdict]) => element("i", { class: `verdict-${verdict}` })));
  parts.forEach(([verdict], k) => (place.children[k].style.width = `${(100 * counts[verdict]) / total}%`));
}

/** Show what the queue has learnt, and how many more it expects. */
export function showLearnt(place, review) {
  const { estimate, counts, learning } = { estimate: review.state.estimate, counts: review.counts, learning: review.learning };
  const decided = review.state.n - counts.left;
  const lines = [];
  if (!counts.left) lines.push(element("p", { text: `Nothing is left. You discarded ${count(counts.discard)}.` }));
  else if (knows(estimate)) lines.push(...expected(estimate));
  else lines.push(element("p", { text: "The estimate needs a few decisions, some of them on samples that came by chance." }));
  lines.push(element("p", { class: "hint", text: learning ? learningWords(review, decided) : "The queue keeps to its order and does not learn." }));
  place.replaceChildren(...lines);
}

/** Say whether an estimate says anything. */
export function knows(estimate) {
  return Number.isFinite(estimate?.expected_left) && Number.isFinite(estimate?.high);
}

/** Say how many more an estimate expects. */
export function expectedWords({ expected_left: left, low, high, level = 0.95 }) {
  return { left: count(Math.round(left)), between: `between ${count(Math.floor(low))} and ${count(Math.ceil(high))}, ${percent(level)} sure` };
}

function expected(estimate) {
  const { left, between } = expectedWords(estimate);
  const lines = [element("p", { class: "figure" }, "About ", element("b", { text: left }), " more to discard"), element("p", { text: between })];
  const looked = estimate.precision_queue;
  if (Number.isFinite(looked)) lines.push(element("p", { class: "hint", text: `Discarded so far: ${percent(looked)} of what the queue brought${Number.isFinite(estimate.precision_control) ? `, ${percent(estimate.precision_control)} of what chance did` : ""}.` }));
  return lines;
}

function learningWords(review, decided) {
  if (review.state.can_learn === false) return "This queue can't learn: it has nothing to tell samples apart by.";
  return decided ? `The queue learns: its order follows ${counted(decided, "decision")}.` : "The queue learns from your decisions: it begins with the order of its ranking.";
}
