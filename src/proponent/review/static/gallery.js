// A grid of any number of samples: only the tiles in sight are elements, so 10,000 scroll as smoothly as 100.

import { element, icon } from "./dom.js";
import { counted } from "./numbers.js";
import { smallSample } from "./sample.js";

const LABEL = 20; // pixels of a tile's label
const HASTE = 2; // screens a frame from which pictures wait until the scrolling settles
const SETTLED = 90; // milliseconds without scrolling

/**
 * Show samples as tiles.
 *
 * `items`: an array of `{id, caption, thumb, values, details, verdict, planted, label}`, or a source
 * `{length, at(index), load(first, last)}` whose `load` resolves once those are there.
 *
 * `options`: `size` (least width of a tile), `gap`, `name` (for a screen reader), `empty` (what to say without
 * samples), `whole` (no scrolling of its own: all tiles stand in the page), `mark(item)` (`{verdict, waiting}` or
 * null), `onSelect(item | null, index)` (null, and again later, where it is
 * still on its way), `onOpen(item, index)`.
 *
 * Returns a handle: `update(items)`, `refresh()` (marks changed), `select(index)`, `resize(size)`, `selected`,
 * `destroy()`.
 */
export function mountGallery(parent, items, options = {}) {
  return new Gallery(parent, items, options);
}

class Gallery {
  constructor(parent, items, options) {
    this.options = { size: 96, gap: 8, name: "samples", empty: "No samples.", mark: givenMark, ...options };
    this.space = element("div", { class: "gallery-space", role: "presentation" });
    this.view = element(
      "div",
      {
        class: `gallery-view${this.options.whole ? " whole" : ""}`,
        role: "listbox",
        tabindex: "0",
        "aria-label": this.options.name,
      },
      this.space,
    );
    this.prefix = `tile-${Math.random().toString(36).slice(2, 8)}`;
    this.tiles = new Map();
    this.selected = -1;
    this.top = 0;
    this.view.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.view.addEventListener("keydown", (event) => this.press(event));
    this.view.addEventListener("focus", () => {
      if (this.length && this.selected < 0 && this.view.matches(":focus-visible")) this.select(this.first());
    });
    this.space.addEventListener("click", (event) => this.point(event, (index) => this.select(index)));
    this.space.addEventListener("dblclick", (event) => this.point(event, (index) => this.open(index)));
    parent.append(this.view);
    this.watch = new ResizeObserver(() => this.layout());
    this.watch.observe(this.view);
    this.update(items);
  }

  /** Show other samples, from the start. */
  update(items) {
    this.source = Array.isArray(items) ? sourceOf(items) : items;
    this.clear();
    this.selected = -1;
    this.untold = false;
    this.view.removeAttribute("aria-activedescendant");
    this.view.scrollTop = 0;
    this.layout();
  }

  /** Draw again what hangs on marks; tiles that waited for their sample get it. */
  refresh() {
    for (const [index, tile] of this.tiles) {
      const item = this.source.at(index);
      if (item && tile.item !== item) this.fill(tile, index, item);
      else if (item) this.dress(tile, item, index);
    }
  }

  /** Choose a sample and bring it into sight. */
  select(index) {
    if (!this.length) return;
    this.selected = Math.max(0, Math.min(this.length - 1, index));
    const top = Math.floor(this.selected / this.columns) * this.pitch;
    const beyond = top + this.pitch - this.view.clientHeight;
    if (!this.options.whole) {
      if (top < this.view.scrollTop) this.view.scrollTop = top - this.options.gap;
      else if (beyond > this.view.scrollTop) this.view.scrollTop = beyond;
    }
    this.render();
    for (const [at, tile] of this.tiles)
      tile.node.setAttribute("aria-selected", String(at === this.selected));
    this.view.setAttribute("aria-activedescendant", `${this.prefix}-${this.selected}`);
    if (this.options.whole) this.tiles.get(this.selected)?.node.scrollIntoView({ block: "nearest" });
    this.tell();
  }

  /** Change the width of tiles; the sample at the top stays in sight. */
  resize(size) {
    const first = this.first();
    this.options.size = size;
    this.layout();
    this.view.scrollTop = Math.floor(first / this.columns) * this.pitch;
  }

  destroy() {
    this.watch.disconnect();
    this.clear();
    this.view.remove();
  }

  get length() {
    return this.source.length;
  }

  first() {
    const row = Math.ceil((this.view.scrollTop - this.options.gap) / this.pitch);
    return Math.max(0, Math.min(this.length - 1, row * this.columns)) || 0;
  }

  open(index) {
    const item = this.source.at(index);
    if (item) this.options.onOpen?.(item, index);
  }

  point(event, then) {
    const node = event.target.closest(".gallery-tile");
    if (node) then(Number(node.dataset.index));
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.length) return;
    const rows = Math.max(1, Math.floor(this.view.clientHeight / this.pitch));
    const at = Math.max(0, this.selected);
    const moves = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + this.columns < this.length ? at + this.columns : at,
      ArrowUp: at - this.columns >= 0 ? at - this.columns : at,
      PageDown: at + rows * this.columns,
      PageUp: at - rows * this.columns,
      Home: 0,
      End: this.length - 1,
    };
    if (event.key in moves) this.select(this.selected < 0 ? this.first() : moves[event.key]);
    else if (event.key === "Enter") this.open(this.selected);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  layout() {
    const { size, gap } = this.options;
    this.inset = this.options.whole ? 0 : gap;
    const width = this.view.clientWidth - 2 * this.inset;
    if (width <= 0) return;
    const columns = Math.max(1, Math.floor((width + gap) / (size + gap)));
    const edge = (width + gap) / columns - gap;
    const pitch = edge + LABEL + gap;
    const changed = columns !== this.columns || Math.abs(pitch - (this.pitch ?? 0)) > 0.01;
    Object.assign(this, { columns, edge, pitch });
    const height = this.length ? Math.ceil(this.length / columns) * pitch + this.inset : 0;
    this.space.style.height = `${height}px`;
    if (this.options.whole) this.view.style.height = `${height}px`;
    this.view.setAttribute("aria-label", `${this.options.name}, ${counted(this.length, "sample")}`);
    if (changed) this.clear();
    this.blank?.remove();
    this.blank = this.length ? null : element("p", { class: "gallery-empty", text: this.options.empty });
    if (this.blank) this.view.append(this.blank);
    if (this.blank && this.options.whole) this.view.style.removeProperty("height");
    this.render();
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.render();
    });
  }

  render() {
    if (!this.columns) return;
    const screen = this.options.whole ? Infinity : this.view.clientHeight;
    const top = this.options.whole ? 0 : this.view.scrollTop;
    const hasty = Math.abs(top - this.top) > HASTE * screen;
    this.top = top;
    const over = this.options.whole ? 0 : Math.max(screen, 400);
    const first = Math.max(0, Math.floor((top - over) / this.pitch) * this.columns);
    const last = Math.min(this.length, Math.ceil((top + screen + over) / this.pitch) * this.columns);
    for (const [index, tile] of this.tiles) if (index < first || index >= last) this.drop(index, tile);
    const made = [];
    let missing = false;
    for (let index = first; index < last; index += 1) {
      const item = this.source.at(index);
      missing ||= !item;
      let tile = this.tiles.get(index);
      if (!tile) {
        tile = this.make(index);
        made.push(tile.node);
      }
      if (item && tile.item !== item && !hasty) this.fill(tile, index, item);
    }
    this.space.append(...made);
    clearTimeout(this.settling);
    if (hasty) this.settling = setTimeout(() => this.render(), SETTLED);
    else if (missing) this.load(first, last);
  }

  async load(first, last) {
    const source = this.source;
    await source.load(first, last);
    if (source !== this.source) return;
    this.refresh();
    if (this.untold) this.tell();
  }

  tell() {
    const item = this.source.at(this.selected);
    this.untold = !item; // what is chosen is still on its way
    this.options.onSelect?.(item ?? null, this.selected);
  }

  make(index) {
    const node = element("div", {
      class: "gallery-tile",
      role: "option",
      id: `${this.prefix}-${index}`,
      "data-index": index,
      "aria-posinset": index + 1,
      "aria-setsize": this.length,
      "aria-selected": String(index === this.selected),
    });
    const [column, row] = [index % this.columns, Math.floor(index / this.columns)];
    node.style.width = `${this.edge}px`;
    node.style.height = `${this.edge + LABEL}px`;
    const [left, top] = [column * (this.edge + this.options.gap), row * this.pitch];
    node.style.transform = `translate(${this.inset + left}px, ${this.inset + top}px)`;
    const frame = element("div", { class: "frame" });
    const label = element("div", { class: "label" });
    node.append(frame, label);
    const tile = { node, frame, label, item: null };
    this.tiles.set(index, tile);
    return tile;
  }

  fill(tile, index, item) {
    tile.item = item;
    tile.look = null;
    tile.frame.replaceChildren(smallSample(item, this.options.whole));
    tile.label.textContent = item.label ?? tailOf(item.caption);
    tile.node.title = item.caption;
    this.dress(tile, item, index);
  }

  dress(tile, item, index) {
    const mark = this.options.mark(item);
    const look = mark ? `${mark.verdict} ${mark.waiting}` : "";
    if (tile.look === look) return;
    tile.look = look;
    tile.node.className = `gallery-tile${mark ? ` verdict-${mark.verdict}` : ""}${item.planted ? " planted" : ""}`;
    tile.frame.querySelector(".badge")?.remove();
    if (mark)
      tile.frame.append(
        element("span", { class: `badge${mark.waiting ? " waiting" : ""}` }, icon(mark.verdict)),
      );
    const stand = mark && `${mark.verdict}${mark.waiting ? ", not saved yet" : ""}`;
    const words = [item.caption, item.label, stand, item.planted && "planted"];
    tile.node.setAttribute("aria-label", words.filter(Boolean).join(", ") || String(index + 1));
  }

  drop(index, tile) {
    tile.frame.querySelector("img")?.removeAttribute("src"); // what is still on the way is no longer wanted
    tile.node.remove();
    this.tiles.delete(index);
  }

  clear() {
    for (const [index, tile] of this.tiles) this.drop(index, tile);
  }
}

function sourceOf(items) {
  return { length: items.length, at: (index) => items[index], load: async () => {} };
}

function tailOf(caption) {
  return caption.slice(caption.lastIndexOf("/") + 1) || caption; // names differ at their end
}

function givenMark(item) {
  return item.verdict ? { verdict: item.verdict, waiting: false } : null;
}
