// Counts, and what the decisions so far say of the samples that nobody looked at yet.

import { element } from "./dom.js";
import { count, counted } from "./numbers.js";

const VAGUE = 0.5; // of what is left: an interval as wide as this deserves no number in bold
const PARTS = [
  ["discard", "discarded"],
  ["unsure", "unsure"],
  ["keep", "kept"],
  ["left", "left"],
];

/** Show how far the review is. */
export function showProgress(place, counts, total) {
  const looked = total - counts.left;
  const line = element(
    "p",
    { class: "figure" },
    element("b", { text: count(looked) }),
    ` of ${count(total)} looked at`,
  );
  const list = element("dl", { class: "counts" });
  for (const [verdict, words] of PARTS)
    list.append(
      element(
        "div",
        { class: `verdict-${verdict}` },
        element("dt", { text: words }),
        element("dd", { text: count(counts[verdict]) }),
      ),
    );
  place.replaceChildren(line, list);
}

/** Show the same as a thin line across the page. */
export function showShare(place, counts, total) {
  place.setAttribute(
    "aria-label",
    PARTS.map(([verdict, words]) => `${count(counts[verdict])} ${words}`).join(", "),
  );
  const parts = PARTS.filter(([verdict]) => verdict !== "left");
  if (place.children.length !== parts.length)
    place.replaceChildren(...parts.map(([verdict]) => element("i", { class: `verdict-${verdict}` })));
  parts.forEach(([verdict], k) => (place.children[k].style.width = `${(100 * counts[verdict]) / total}%`));
}

/** Show what the queue has learnt, and how many more it expects. */
export function showLearnt(place, review) {
  const { estimate, counts, learning } = {
    estimate: review.state.estimate,
    counts: review.counts,
    learning: review.learning,
  };
  const decided = review.state.n - counts.left;
  const lines = [];
  if (!counts.left)
    lines.push(element("p", { text: `Nothing is left. You discarded ${count(counts.discard)}.` }));
  else if (knows(estimate)) lines.push(...expected(estimate, counts.left));
  else
    lines.push(
      element("p", {
        text: "The estimate needs a few decisions, some of them on samples that came by chance.",
      }),
    );
  lines.push(
    element("p", {
      class: "hint",
      text: learning ? learningWords(review, decided) : "The queue keeps to its order and does not learn.",
    }),
  );
  place.replaceChildren(...lines);
}

/** Say whether an estimate says anything. */
export function knows(estimate) {
  return Number.isFinite(estimate?.expected_left) && Number.isFinite(estimate?.high);
}

/** Say what an estimate says, in the server's words where it has some. */
export function expectedWords({ words, low, high }) {
  return words ?? `You would discard between ${count(Math.floor(low))} and ${count(Math.ceil(high))} more.`;
}

function expected(estimate, left) {
  const isVague = estimate.high - estimate.low > VAGUE * left;
  const guess = element(
    "p",
    { class: "figure" },
    "About ",
    element("b", { text: count(Math.round(estimate.expected_left)) }),
    " more to discard",
  );
  return [
    isVague ? element("p", { class: "figure", text: "Too early for a number" }) : guess,
    element("p", { text: expectedWords(estimate) }),
  ];
}

function learningWords(review, decided) {
  if (review.state.can_learn === false)
    return "This queue can't learn: it has nothing to tell samples apart by.";
  const known = review.state.estimate?.learnt_from ?? decided;
  return known
    ? `The queue learns: its order follows ${counted(known, "decision")}.`
    : "The queue learns from your decisions: it begins with the order of its ranking.";
}
