// A sample as large as the window, to be moved and enlarged.

import { largeSample, showName } from "./sample.js";

const STEP = 1.4;
const MOST = 40;

/** Make the dialog work. Returns a handle: `open(item)`, `show(item)`, `isOpen`, `close()`, `press(key)`. */
export function mountZoom() {
  const dialog = document.getElementById("zoom");
  const room = document.getElementById("zoom-room");
  const place = { scale: 1, x: 0, y: 0 };
  let shown = null;

  const apply = () => {
    const node = room.firstElementChild;
    if (node) node.style.transform = `translate(${place.x}px, ${place.y}px) scale(${place.scale})`;
    room.classList.toggle("enlarged", place.scale > 1);
  };
  const fit = () => {
    Object.assign(place, { scale: 1, x: 0, y: 0 });
    apply();
  };
  const scaleBy = (factor, x = 0, y = 0) => {
    const scale = Math.max(1, Math.min(MOST, place.scale * factor));
    const change = scale / place.scale;
    Object.assign(place, { scale, x: x - (x - place.x) * change, y: y - (y - place.y) * change });
    if (scale === 1) fit();
    else apply();
  };
  const fromCentre = (event) => {
    const box = room.getBoundingClientRect();
    return [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
  };

  room.addEventListener(
    "wheel",
    (event) => {
      if (room.querySelector(".row")) return;
      event.preventDefault();
      scaleBy(event.deltaY < 0 ? STEP : 1 / STEP, ...fromCentre(event));
    },
    { passive: false },
  );
  room.addEventListener("dblclick", (event) => (place.scale > 1 ? fit() : scaleBy(4, ...fromCentre(event))));
  room.addEventListener("pointerdown", (event) => {
    if (place.scale === 1) return;
    room.setPointerCapture(event.pointerId);
    const start = [event.clientX - place.x, event.clientY - place.y];
    const drag = (moved) => {
      Object.assign(place, { x: moved.clientX - start[0], y: moved.clientY - start[1] });
      apply();
    };
    room.addEventListener("pointermove", drag);
    for (const end of ["pointerup", "pointercancel"])
      room.addEventListener(end, () => room.removeEventListener("pointermove", drag), { once: true });
  });
  document.getElementById("zoom-in").addEventListener("click", () => scaleBy(STEP));
  document.getElementById("zoom-out").addEventListener("click", () => scaleBy(1 / STEP));
  document.getElementById("zoom-fit").addEventListener("click", fit);
  document.getElementById("zoom-close").addEventListener("click", () => dialog.close());

  return {
    get isOpen() {
      return dialog.open;
    },
    open(item) {
      if (!item) return;
      this.show(item);
      if (!dialog.open) dialog.showModal();
    },
    show(item) {
      if (shown?.i === item.i && room.firstElementChild) return fit();
      shown = item;
      room.replaceChildren(largeSample(item));
      showName(document.getElementById("zoom-name"), item.caption);
      return fit();
    },
    close: () => dialog.close(),
    press(key) {
      if (key === "+" || key === "=") scaleBy(STEP);
      else if (key === "-") scaleBy(1 / STEP);
      else if (key === "0") fit();
      else return false;
      return true;
    },
  };
}
