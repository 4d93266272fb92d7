// All samples as tiles, in the order of a ranking.

import { element } from "./dom.js";
import { mountGallery } from "./gallery.js";
import { plain } from "./numbers.js";
import { Pages } from "./pages.js";
import { showName } from "./sample.js";

const FILTERS = [
  ["all", "All"],
  ["left", "Left"],
  ["discard", "Discarded"],
  ["unsure", "Unsure"],
  ["keep", "Kept"],
];
const NOTHING = {
  all: "No samples.",
  left: "Every sample has a decision.",
  discard: "Nothing was discarded yet.",
  unsure: "You were unsure about none yet.",
  keep: "Nothing was kept yet.",
};
const WORDS = { keep: "kept", discard: "discarded", unsure: "unsure" };

/** Show the grid. Returns `{show(), item, command(name)}`. */
export function mountGridView(review, { zoom }) {
  const find = (id) => document.getElementById(id);
  const buttons = document.querySelectorAll("#chosen [data-command]");
  let filter = "all";
  let shown = null; // what the tiles follow
  let chosen = null; // {item, index}
  const options = {
    size: Number(find("tile-size").value),
    name: "samples",
    mark: (item) => review.mark(item),
  };
  const gallery = mountGallery(find("gallery"), [], {
    ...options,
    onSelect: (item, index) => choose(item && { item, index }),
    onOpen: (item) => zoom.open(item),
  });
  for (const [value, text] of FILTERS) {
    const radio = element("input", { type: "radio", name: "filter", value, checked: value === filter });
    radio.addEventListener("change", () => {
      filter = value;
      show();
    });
    find("filter").append(element("label", {}, radio, element("span", { text })));
  }
  find("tile-size").addEventListener("input", (event) => gallery.resize(Number(event.target.value)));

  function choose(now) {
    chosen = now;
    showChosen();
  }

  function showChosen() {
    const mark = chosen && review.mark(chosen.item);
    const score = chosen?.item.scores?.[review.ranking];
    const parts = [
      Number.isFinite(score) && `${review.ranking} ${plain(score)}`,
      mark && `${WORDS[mark.verdict]}${mark.waiting ? ", not saved yet" : ""}`,
    ];
    if (chosen) showName(find("chosen-name"), chosen.item.caption);
    else find("chosen-name").textContent = "Choose a sample with the arrow keys or a click.";
    find("chosen-more").textContent = parts.filter(Boolean).join(" · ");
    for (const button of buttons) button.disabled = !chosen && button.dataset.command !== "undo";
  }

  async function show() {
    const wanted = `${review.ranking}/${filter}`;
    if (wanted !== shown) {
      shown = wanted;
      choose(null);
      const pages = await Pages.open(review, {
        ranking: review.ranking,
        verdict: filter,
        seq: review.state.seq,
      });
      if (shown !== wanted) return;
      gallery.options.empty = NOTHING[filter];
      gallery.update(pages);
      if (gallery.view.matches(":focus-visible") && pages.length) gallery.select(0);
    }
    gallery.refresh();
    showChosen();
  }

  return {
    show,
    /** What was decided elsewhere is filtered anew when the view is entered, and only then. */
    enter() {
      if (filter !== "all") shown = null;
      show();
    },
    get item() {
      return chosen?.item ?? null;
    },
    command(command) {
      if (command in WORDS) {
        if (!chosen) return true;
        review.decideBrowsed(chosen.item, command, chosen.index);
        if (chosen.index + 1 < gallery.length) gallery.select(chosen.index + 1);
      } else if (command === "zoom") zoom.open(chosen?.item);
      else if (command === "next") gallery.select(gallery.selected + 1);
      else if (command === "previous") gallery.select(gallery.selected - 1);
      else return false;
      if (zoom.isOpen && command !== "zoom" && chosen) zoom.show(chosen.item);
      return true;
    },
  };
}
