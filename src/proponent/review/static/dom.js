// Elements of a page, built without HTML strings: what comes from the data is only ever text.

const DRAWING = "http://www.w3.org/2000/svg";
const STROKES = {
  keep: "M3.5 8.5l3 3 6-7",
  discard: "M4 4l8 8M12 4l-8 8",
  unsure: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9.2 8 10M8 12.6v.01",
  undo: "M6 3L3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H7",
  zoom: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3M7 5v4M5 7h4",
  down: "M4 6l4 4 4-4",
};

/** Make an element. `properties`: `class`, `text`, `on` (listeners), `style`, anything else an attribute. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name === "on")
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (name === "style")
      for (const [rule, setting] of Object.entries(value)) made.style.setProperty(rule, setting);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Make an element of a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS(DRAWING, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Make an icon; it says nothing to a screen reader, for words stand beside it or on its button. */
export function icon(name) {
  return drawn(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    drawn("path", { d: STROKES[name] }),
  );
}
