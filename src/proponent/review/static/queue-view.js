// One sample at a time, with those before and after it.

import { element, icon } from "./dom.js";
import { showLearnt, showProgress } from "./learnt.js";
import { count, counted } from "./numbers.js";
import { largeSample, showName, smallSample, valuesTable } from "./sample.js";

const AFTER = 6;
const LONG = 40; // characters of a name that the line under a sample may not hold
const PLACES = { now: "on screen", before: "before", next: "next" };
const WORDS = { keep: "Kept", discard: "Discarded", unsure: "Unsure" };

/** Show the queue. Returns `{show(), item, command(name)}`. */
export function mountQueueView(review, { zoom }) {
  const find = (id) => document.getElementById(id);
  const [large, strip, name, stand] = ["large", "strip", "name", "stand"].map(find);
  const buttons = document.querySelectorAll("#queue-view [data-command]");
  const tiles = new Map();
  const narrow = matchMedia("(max-width: 52rem)");
  narrow.addEventListener("change", show);
  let shown = null; // what is on screen: an entry, or a word for why there is none

  function show() {
    const entry = review.current;
    showStage(entry);
    showStrip();
    showProgress(find("progress"), review.counts, review.state.n);
    showLearnt(find("learnt"), review);
    for (const button of buttons) button.disabled = !entry && button.dataset.command !== "undo";
  }

  function showStage(entry) {
    const mark = entry && review.mark(entry.item);
    large.className = `large${mark ? ` verdict-${mark.verdict}` : ""}`;
    stand.className = `stand${mark ? ` verdict-${mark.verdict}` : ""}`;
    const where = mark?.other ? " in another tab" : mark?.waiting ? ", not saved yet" : "";
    stand.replaceChildren(...(mark ? [icon(mark.verdict), ` ${WORDS[mark.verdict]}${where}`] : []));
    const next = entry ?? ending();
    if (next === shown) return;
    shown = next;
    if (!entry) {
      name.textContent = "";
      find("details-section").hidden = true;
      large.replaceChildren(endOf(next));
      return;
    }
    showName(name, entry.item.caption);
    large.replaceChildren(largeSample(entry.item));
    showDetails(entry.item);
    for (const { item } of review.line.slice(review.cursor + 1, review.cursor + 4)) fetchAhead(item);
  }

  function showDetails(item) {
    const { details = {}, scores = {} } = item;
    find("details-section").hidden = false;
    const isRow = !item.thumb && !item.values && Object.keys(details).length;
    const facts = {
      ...(item.caption.length > LONG && { name: item.caption }),
      ...(item.id !== item.caption && { id: item.id }),
      ...(!isRow && details),
    };
    find("details").replaceChildren(Object.keys(facts).length ? valuesTable(facts) : "");
    find("scores").replaceChildren(valuesTable(scores));
    find("scores-fold").open = false; // whoever wants to know asks anew
    find("scores-fold").hidden = !Object.keys(scores).length;
    find("details-section").hidden = !Object.keys(facts).length && !Object.keys(scores).length;
  }

  function ending() {
    if (!review.ended) return review.problem ? "problem" : "waiting";
    return review.passed ? "passed" : "finished";
  }

  function endOf(kind) {
    const { discard, keep, unsure } = review.counts;
    const words = {
      waiting: ["Fetching the next sample…"],
      problem: ["The server does not answer.", "Your decisions are safe: they are kept here until it does."],
      passed: [
        `The queue has nothing more. ${counted(review.passed, "sample")} you passed over ${review.passed === 1 ? "waits" : "wait"} for a decision.`,
      ],
      finished: [
        "Nothing is left in the queue.",
        `You discarded ${count(discard)}, kept ${count(keep)} and were unsure about ${count(unsure)}.`,
      ],
    }[kind];
    const box = element(
      "div",
      { class: "end" },
      ...words.map((text, k) => element("p", { class: k ? "quiet" : "end-head", text })),
    );
    if (kind === "finished")
      box.append(element("a", { class: "act", href: "#summary", text: "What it was worth" }));
    if (kind === "passed") {
      const go = () => review.goTo(review.line.findIndex((entry) => !review.verdict(entry.item)));
      box.append(
        element("button", {
          type: "button",
          class: "act",
          text: "Go to the first of them",
          on: { click: go },
        }),
      );
    }
    return box;
  }

  function showStrip() {
    const behind = narrow.matches ? 1 : 3; // the sample on screen has always the same place
    const from = Math.max(0, review.cursor - behind);
    const entries = review.line.slice(from, review.cursor + AFTER + 1);
    const wanted = new Set(entries.map((entry) => entry.item.i));
    for (const [i, tile] of tiles)
      if (!wanted.has(i)) {
        tile.node.remove();
        tiles.delete(i);
      }
    entries.forEach((entry, k) => {
      const place = from + k;
      const tile = tiles.get(entry.item.i) ?? makeTile(entry);
      if (strip.children[k] !== tile.node) strip.insertBefore(tile.node, strip.children[k] ?? null);
      dress(tile, entry, place);
    });
    strip.style.setProperty("--room", behind - Math.min(review.cursor, behind));
  }

  function makeTile(entry) {
    const button = element("button", { type: "button", class: "tile" }, smallSample(entry.item));
    const turn = element("span", { class: "turn" });
    const tile = { node: element("li", {}, turn, button), button, turn, look: null };
    button.addEventListener("click", () => review.goTo(review.line.indexOf(tile.entry)));
    tiles.set(entry.item.i, tile);
    return tile;
  }

  function dress(tile, entry, place) {
    tile.entry = entry;
    const mark = review.mark(entry.item);
    const before = review.line[place - 1];
    const isOther =
      before?.ranking && (before.ranking !== entry.ranking || before.learning !== entry.learning);
    const isTurn = place > review.cursor && isOther;
    const where = place === review.cursor ? "now" : place < review.cursor ? "before" : "next";
    const look = [where, mark?.verdict, mark?.waiting, isTurn].join();
    if (look === tile.look) return;
    tile.look = look;
    tile.node.className = where;
    tile.button.className = `tile${mark ? ` verdict-${mark.verdict}` : ""}`;
    tile.button.querySelector(".badge")?.remove();
    if (mark)
      tile.button.append(
        element("span", { class: `badge${mark.waiting ? " waiting" : ""}` }, icon(mark.verdict)),
      );
    const name = `${PLACES[where]}: ${entry.item.caption}${mark ? `, ${mark.verdict}` : ""}`;
    tile.button.setAttribute("aria-label", name);
    if (where === "now") tile.button.setAttribute("aria-current", "true");
    else tile.button.removeAttribute("aria-current");
    tile.turn.hidden = !isTurn;
    tile.turn.title = `from here on: sorted by ${entry.ranking}, ${entry.learning ? "learning" : "not learning"}`;
  }

  return {
    show,
    get item() {
      return review.current?.item ?? null;
    },
    command(command) {
      if (command === "next") review.move(1);
      else if (command === "previous") review.move(-1);
      else if (command === "zoom") zoom.open(review.current?.item);
      else if (WORDS[command]) review.decide(command);
      else return false;
      if (zoom.isOpen && command !== "zoom") {
        if (review.current) zoom.show(review.current.item);
        else zoom.close();
      }
      return true;
    },
  };
}

function fetchAhead({ full }) {
  if (full) new Image().src = full;
}
