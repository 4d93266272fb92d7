// A button that opens a list of things to do or to choose from.

import { element } from "./dom.js";

/**
 * Make a menu of the button in `parent`.
 *
 * `entries()` is asked each time it opens: `[{text, hint, checked, href, act}]`; one with `href` is a link, one with
 * `checked` is one of several choices. Returns a handle: `open()`, `close()`, `isOpen`.
 */
export function mountMenu(parent, name, entries) {
  const button = parent.querySelector("button");
  const list = element("div", { class: "menu-list", role: "menu", "aria-label": name, hidden: true });
  parent.append(list);
  const nodes = () => [...list.children];
  let before = button; // what had the focus
  const menu = {
    get isOpen() {
      return !list.hidden;
    },
    open() {
      before = document.activeElement;
      list.replaceChildren(...entries().map((entry) => entryOf(entry, menu)));
      list.hidden = false;
      button.setAttribute("aria-expanded", "true");
      (nodes().find((node) => node.getAttribute("aria-checked") === "true") ?? nodes()[0])?.focus();
    },
    close(back = true) {
      if (list.hidden) return;
      list.hidden = true;
      button.setAttribute("aria-expanded", "false");
      if (back && before === document.body) document.activeElement.blur();
      else if (back) before.focus({ preventScroll: true });
    },
  };
  button.addEventListener("click", () => (menu.isOpen ? menu.close() : menu.open()));
  button.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    event.stopPropagation();
    menu.open();
  });
  document.addEventListener("pointerdown", (event) => !parent.contains(event.target) && menu.close(false));
  list.addEventListener(
    "focusout",
    (event) => event.relatedTarget && !parent.contains(event.relatedTarget) && menu.close(false),
  );
  list.addEventListener("keydown", (event) => {
    const all = nodes();
    const at = all.indexOf(document.activeElement);
    const moves = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at + all.length - 1) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    if (event.key in moves) all[moves[event.key]].focus();
    else if (event.key === "Escape") menu.close();
    else if (event.key === "Tab") return menu.close(false);
    else if (/^[1-9]$/.test(event.key)) all[Number(event.key) - 1]?.click();
    else if (event.key === "Enter" || event.key === " ") document.activeElement.click();
    else if (event.key.length > 1) return undefined;
    event.preventDefault();
    return event.stopPropagation();
  });
  return menu;
}

function entryOf({ text, hint, checked, href, act }, menu) {
  const role = checked === undefined ? "menuitem" : "menuitemradio";
  const node = element(href ? "a" : "button", {
    role,
    class: "menu-entry",
    tabindex: "-1",
    "aria-checked": checked === undefined ? null : String(checked),
  });
  if (href) Object.assign(node, { href, download: "" });
  else node.type = "button";
  node.append(element("span", { text }), ...(hint ? [element("small", { text: hint })] : []));
  node.addEventListener("click", () => {
    menu.close();
    act?.();
  });
  return node;
}
