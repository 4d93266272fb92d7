// The page: its views, its keys, and what it says of itself.

import { Api } from "./api.js";
import { mountGridView } from "./grid-view.js";
import { showShare } from "./learnt.js";
import { mountMenu } from "./menu.js";
import { count, counted } from "./numbers.js";
import { Outbox } from "./outbox.js";
import { mountQueueView } from "./queue-view.js";
import { Review } from "./review.js";
import { exportsOf, mountSummaryView } from "./summary-view.js";
import { takeSession } from "./tab.js";
import { mountZoom } from "./zoom.js";

const POLL = 2000; // milliseconds between questions what other tabs decided
const MANY = 3; // decisions on their way that are worth a word
const LASTING = 3; // tries after which the server has probably ended
const KEYS = {
  k: "keep",
  d: "discard",
  u: "unsure",
  z: "undo",
  Backspace: "undo",
  ArrowRight: "next",
  ArrowLeft: "previous",
  Enter: "zoom",
  "+": "zoom",
  l: "learning",
  r: "ranking",
  g: "grid",
  "?": "help",
};
const ONCE = ["keep", "discard", "unsure", "learning", "ranking", "grid"]; // a key held down means these once
const find = (id) => document.getElementById(id);

async function start() {
  history.replaceState(null, "", location.pathname + location.hash); // the token has become a cookie; it is not to be seen
  const api = new Api(await takeSession());
  const state = await firstState(api);
  showTrouble("");
  const outbox = new Outbox(api, state.run ?? `${state.title}/${state.n}`);
  const review = new Review(api, outbox, state);
  await outbox.adopt();
  review.takeOver();
  const zoom = mountZoom();
  const views = {
    queue: mountQueueView(review, { zoom }),
    grid: mountGridView(review, { zoom }),
    summary: mountSummaryView(review),
  };
  let view = "queue";

  const enter = () => {
    view = location.hash.slice(1) in views ? location.hash.slice(1) : "queue";
    for (const name of Object.keys(views)) find(`${name}-view`).hidden = name !== view;
    for (const link of document.querySelectorAll("[data-view]"))
      if (link.dataset.view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    (views[view].enter ?? views[view].show)();
    if (view === "grid") document.querySelector(".gallery-view").focus({ preventScroll: true });
    showAll();
  };

  const ranking = mountMenu(find("ranking-menu"), "Sorted by", () =>
    review.state.rankings.map((name) => ({
      text: name,
      hint: name === review.state.default ? "the default" : "",
      checked: name === review.ranking,
      act: () => review.setRanking(name),
    })),
  );
  mountMenu(find("export-menu"), "Export", () => exportsOf(review.state.kind));

  const commands = {
    undo: () => review.undo(),
    learning: () => review.state.can_learn !== false && review.setLearning(!review.learning),
    ranking: () => ranking.open(),
    grid: () => (location.hash = view === "grid" ? "#queue" : "#grid"),
    help: () => find("help").showModal(),
  };
  const command = (name) => views[view].command(name) || commands[name]?.();

  function showAll() {
    find("ranking-name").textContent = review.ranking;
    find("learning").setAttribute("aria-checked", String(review.learning));
    find("learning").disabled = review.state.can_learn === false;
    showShare(find("share"), review.counts, review.state.n);
    showSaving(review, outbox);
  }

  let planned = false;
  review.addEventListener("change", () => {
    if (planned) return;
    planned = true;
    queueMicrotask(() => {
      planned = false;
      showAll();
      views[view].show();
    });
  });
  review.addEventListener("say", ({ detail }) => (find("said").textContent = detail));
  window.addEventListener("hashchange", enter);
  find("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address names the view
    find("view").focus();
  });
  find("learning").addEventListener("click", commands.learning);
  find("help-open").addEventListener("click", commands.help);
  find("trouble-retry").addEventListener("click", () => outbox.retry());
  for (const button of document.querySelectorAll("[data-command]"))
    button.addEventListener("click", () => command(button.dataset.command));
  find("large").addEventListener("click", (event) => event.target.closest("img, svg") && command("zoom"));
  listenToKeys(zoom, command);
  window.addEventListener("beforeunload", (event) => outbox.ops.length && event.preventDefault());
  setInterval(() => document.hidden || review.refresh(), POLL);
  document.addEventListener("visibilitychange", () => document.hidden || review.refresh());

  document.title = `${state.title} · review`;
  find("title").textContent = state.title;
  find("title").title = state.title;
  document.body.dataset.kind = state.kind;
  enter();
  await review.fill();
}

async function firstState(api) {
  for (;;) {
    try {
      return await api.get("/api/state");
    } catch (problem) {
      showTrouble(
        problem.isLocked
          ? "This address is not valid, or no longer: open the one that `proponent review` printed."
          : `${problem.message} Trying again.`,
      );
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }
}

function showSaving(review, outbox) {
  const waiting = outbox.ops.length;
  const isStuck = outbox.problem !== null;
  const saved = `${counted(review.state.n - review.counts.left, "decision")} saved`;
  const words = isStuck
    ? `${count(waiting)} not saved yet`
    : waiting > MANY
      ? `Saving ${count(waiting)}…`
      : saved;
  find("saving").classList.toggle("trouble", isStuck);
  if (find("saving").textContent !== words) find("saving").textContent = words;
  const trouble = outbox.problem ?? review.problem;
  const kept = waiting
    ? `${counted(waiting, "decision")} not saved yet: kept in this browser, and sent as soon as it can be.`
    : "";
  if (trouble?.locked)
    showTrouble(`The server was started anew: open the address that it printed. ${kept}`, isStuck);
  else if (trouble)
    showTrouble(
      `${trouble.message} ${kept || "Trying again."}${outbox.tries > LASTING ? againWords() : ""}`,
      isStuck,
    );
  else showTrouble(review.refusal ? `Not saved: ${review.refusal}` : "");
}

function showTrouble(words, canRetry = false) {
  find("trouble").hidden = !words;
  find("trouble-retry").hidden = !canRetry;
  if (find("trouble-words").textContent !== words) find("trouble-words").textContent = words;
}

function againWords() {
  return location.port ? ` Has it ended? Start it again with --port ${location.port}.` : "";
}

function listenToKeys(zoom, command) {
  const box = find("keys-on");
  box.checked = localStorage.getItem("proponent.keys") !== "off";
  box.addEventListener("change", () => localStorage.setItem("proponent.keys", box.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || find("help").open) return;
    if (
      event.target.closest(
        "input:not([type=radio], [type=range], [type=checkbox]), textarea, select, [contenteditable]",
      )
    )
      return;
    const name = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    const onControl = event.target.closest("button, a, summary, input, [role=menu]");
    if (
      onControl &&
      (event.key === "Enter" || (event.key.startsWith("Arrow") && event.target.matches("input")))
    )
      return;
    if (zoom.isOpen && zoom.press(event.key)) return event.preventDefault();
    if (
      !name ||
      (event.key.length === 1 && !box.checked) ||
      (zoom.isOpen && ["grid", "ranking", "help"].includes(name))
    )
      return;
    event.preventDefault();
    if (event.repeat && ONCE.includes(name)) return;
    command(name);
  });
}

start();
