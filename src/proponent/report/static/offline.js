// The offline report: galleries of both ends, a scatter that filters, and what influenced the queries.

import { element } from "./dom.js";
import { mountGallery } from "./gallery.js";
import { cell, count, counted, plain } from "./numbers.js";
import { largeSample, showName, smallSample, valuesTable } from "./sample.js";
import { mountScatter } from "./scatter.js";

const find = (id) => document.getElementById(id);
const data = JSON.parse(find("report-data").textContent);
const keyOf = (name) => `ranking ${name}`;
const items = data.samples.ids.map((id, i) => ({
  i,
  id,
  caption: data.samples.captions[i],
  planted: data.samples.foreign?.[i] ?? false,
  verdict: data.samples.verdicts[i] || null,
  copies: data.samples.copies[i],
  ...data.views[i],
  ...Object.fromEntries(data.rankings.map(({ name }) => [keyOf(name), data.samples.numbers[name][i]])),
}));
const copiesOf = (item) => (item.copies < 0 ? [] : items.filter((other) => other.copies === item.copies && other !== item));

mountQueries();
const explorer = find("explorer") && mountExplorer();
find("ranking").addEventListener("change", (event) => showRanking(event.target.value));
showRanking(data.default);
// A window kept while printing would cut what does not fit on paper.
addEventListener("beforeprint", () => explorer.redraw());
addEventListener("afterprint", () => explorer.redraw());

function showRanking(name) {
  const ranking = data.rankings.find((each) => each.name === name);
  find("ranking").value = name;
  find("about").textContent = ranking.about;
  const scored = (places) => places.map((place) => [items[place], plain(items[place][keyOf(name)] ?? NaN)]);
  for (const end of ["highest", "lowest"]) find(end).replaceChildren(collection(scored(ranking[end]), name, end));
  explorer.sortBy(name);
}

function mountExplorer() {
  const axes = data.rankings.map(({ name }) => ({ key: keyOf(name), label: name }));
  const axis = (name) => axes.find(({ key }) => key === keyOf(name));
  let chosen = items;
  let sorted = data.default;
  const all = items.length < data.n ? `${count(items.length)} of ${counted(data.n, "sample")}` : `All ${counted(data.n, "sample")}`;
  const gallery = mountGallery(find("chosen"), [], {
    name: "chosen samples",
    size: data.kind === "rows" ? 150 : 84,
    empty: "No samples in the brush.",
    onOpen: lookCloser,
    onSelect: (item) => (find("chosen-name").textContent = item?.caption ?? ""),
  });
  const show = () => {
    const key = keyOf(sorted);
    const order = [...chosen].sort((a, b) => (b[key] ?? -Infinity) - (a[key] ?? -Infinity));
    gallery.update(order.map((item) => ({ ...item, label: plain(item[key] ?? NaN) })));
    find("chosen-count").textContent = `${chosen === items ? all : counted(chosen.length, "sample")}, sorted by ${sorted}`;
    find("chosen-name").textContent = "";
  };
  const groups = [];
  if (items.some((item) => item.verdict === "discard")) groups.push({ name: "discarded", color: "--discard", is: (item) => item.verdict === "discard" });
  if (data.samples.foreign) groups.push({ name: "planted", color: "--planted", is: (item) => item.planted });
  const scatter = mountScatter(find("scatter"), items, {
    x: axis(data.scatter.x),
    y: axis(data.scatter.y),
    axes,
    groups,
    name: "samples",
    onBrush: (points) => {
      chosen = points ?? items;
      show();
    },
    onPick: lookCloser,
  });
  return {
    sortBy(name) {
      sorted = name;
      show();
    },
    redraw: () => scatter.redraw?.(),
  };
}

function mountQueries() {
  const room = find("queries");
  if (!room) return;
  for (const query of data.queries) {
    const asked = { id: query.id, caption: query.id, ...query.view };
    const side = (name, words, entries) =>
      element(
        "div",
        { class: `side ${name}` },
        element("h4", { text: words }),
        tilesOf(entries.map(([place, value]) => [items[place], (value > 0 ? "+" : "") + plain(value)])),
      );
    room.append(
      element(
        "article",
        { class: "query", "aria-label": `query ${query.id}` },
        element("figure", { class: "asked" }, element("div", { class: "frame" }, smallSample(asked)), element("figcaption", { text: query.id, title: query.id })),
        side("for", "Proponents", query.proponents),
        side("against", "Opponents", query.opponents),
      ),
    );
  }
}

/** Samples with their scores: rows of a table, or tiles. */
function collection(scored, name, end) {
  return data.kind === "rows" ? rowsOf(scored, name, end) : tilesOf(scored);
}

function tilesOf(scored) {
  return element("ul", { class: "tiles" }, ...scored.map(([item, label]) => tileOf(item, label)));
}

function rowsOf(scored, name, end) {
  const columns = [...new Set(scored.flatMap(([item]) => Object.keys(item.details ?? {})))];
  const heads = ["sample", name, ...columns].map((text) => element("th", { scope: "col", text }));
  const lines = scored.map(([item, label]) => {
    const button = element("button", { type: "button", class: "link", text: item.caption, on: { click: () => lookCloser(item) } });
    const kind = [item.planted && "planted", item.verdict && `verdict-${item.verdict}`].filter(Boolean).join(" ");
    const cells = columns.map((column) => element("td", { text: cell(item.details?.[column]) }));
    return element("tr", { class: kind }, element("th", { scope: "row" }, button), element("td", { text: label }), ...cells);
  });
  const table = element("table", { class: "numbers" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines));
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `${end} by ${name}` }, table);
}

function tileOf(item, label) {
  const words = [item.caption, label, item.planted && "planted", item.verdict].filter(Boolean).join(", ");
  const kind = `tile${item.planted ? " planted" : ""}${item.verdict ? ` verdict-${item.verdict}` : ""}`;
  const button = element("button", { type: "button", class: kind, title: item.caption, "aria-label": words, on: { click: () => lookCloser(item) } });
  button.append(element("span", { class: "frame" }, smallSample(item)), element("span", { class: "number", text: label }));
  return element("li", {}, button);
}

function lookCloser(item) {
  const dialog = find("closer");
  const facts = { ...(item.verdict ? { decision: item.verdict } : {}), ...(data.samples.foreign ? { planted: item.planted ? "yes" : "no" } : {}) };
  for (const { name } of data.rankings) facts[name] = `${plain(item[keyOf(name)] ?? NaN)}${placeOf(item, name)}`;
  showName(find("closer-name"), item.caption);
  const copies = copiesOf(item);
  find("closer-copies").textContent = copies.length ? `Its exact copies: ${copies.map((copy) => copy.caption).join(", ")}` : "";
  find("closer-sample").replaceChildren(largeSample(item));
  find("closer-facts").replaceChildren(valuesTable(facts));
  if (item.thumb || item.values) find("closer-facts").append(valuesTable(item.details ?? {}));
  dialog.showModal();
}

/** Where a sample stands in a ranking; known where the page has all of them. */
function placeOf(item, name) {
  if (items.length < data.n) return "";
  const key = keyOf(name);
  return `, place ${count(1 + items.filter((other) => other[key] > item[key]).length)}`;
}

find("closer-close").addEventListener("click", () => find("closer").close());
find("closer").addEventListener("click", (event) => event.target === find("closer") && find("closer").close());
