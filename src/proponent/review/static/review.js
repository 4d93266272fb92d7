// What is being reviewed: the line of samples that the queue gave, what was decided, and what the server says of it.

import { Unreachable } from "./api.js";

const DECIDE = "/api/decide";
const UNDO = "/api/undo";
const AHEAD = 6; // samples that stand ready behind the one on screen
const MOST_SHOWN = 2000; // samples that the server hears are on screen, or were passed over
const AGAIN = 2000; // milliseconds before an unanswered question is asked again

/** The state that all views show. Fires "change" after anything in it did, and "say" with words for a live region. */
export class Review extends EventTarget {
  constructor(api, outbox, state) {
    super();
    Object.assign(this, { api, outbox, state });
    this.ranking = state.ranking ?? state.default;
    this.learning = state.learning ?? true;
    this.line = []; // entries {item, ranking, learning, position}, in the order in which they came
    this.cursor = 0;
    this.marks = new Map(); // sample -> {verdict, waiting, other}
    this.done = []; // what this tab decided, for undo
    this.ended = false; // the queue has nothing more
    this.problem = null; // why the server could not be asked
    this.refusal = null; // why it did not take a decision
    outbox.seen = () => this.state.seq;
    outbox.addEventListener("sent", ({ detail }) => this.wasSent(detail.op, detail.reply));
    outbox.addEventListener("refused", ({ detail }) => this.wasRefused(detail.op, detail.message));
    outbox.addEventListener("change", () => this.changed());
  }

  /** The entry on screen, or null behind the last. */
  get current() {
    return this.line[this.cursor] ?? null;
  }

  /** Samples that were passed over without a decision. */
  get passed() {
    return this.line.slice(0, this.cursor).filter((entry) => !this.verdict(entry.item)).length;
  }

  /** Counts with what is still on its way. */
  get counts() {
    const counts = { ...this.state.counts };
    for (const { i, from, to } of this.outbox.ops) {
      if (i === null) continue; // an undo of who knows what
      counts[from ?? "left"] -= 1;
      counts[to ?? "left"] += 1;
    }
    return counts;
  }

  /** What was decided of a sample, or null. */
  mark(item) {
    return this.marks.get(item.i) ?? null;
  }

  verdict(item) {
    return this.mark(item)?.verdict ?? null;
  }

  /** Fetch as many samples as are missing behind the one on screen. Those on screen stay where they are. */
  async fill() {
    if (this.filling) return (this.fillAgain = true);
    const ahead = this.line.slice(this.cursor).filter((entry) => !this.verdict(entry.item)).length;
    if (this.ended || ahead > AHEAD) return false;
    this.filling = true;
    const { ranking, learning } = this;
    const isTaken = ({ item }) => !this.verdict(item) || this.mark(item).waiting;
    const waiting = this.outbox.ops.map((op) => op.i).filter((i) => i !== null);
    const shown = [...new Set([...this.line.filter(isTaken).map((entry) => entry.item.i), ...waiting])];
    const query = {
      count: AHEAD + 1 - ahead,
      ranking,
      learn: learning ? 1 : 0,
      shown: shown.slice(-MOST_SHOWN).join(","),
    };
    const reply = await this.ask("/api/queue", query);
    this.filling = false;
    if (reply) {
      const known = new Set(this.line.map((entry) => entry.item.i));
      for (const item of this.learnOf(reply.items))
        if (!known.has(item.i))
          this.line.push({ item, ranking, learning, position: item.position ?? this.line.length });
      this.ended = reply.items.length < query.count;
      this.changed();
    }
    if (this.fillAgain) {
      this.fillAgain = false;
      return this.fill();
    }
    return true;
  }

  /** Go back or on without deciding. */
  move(step) {
    this.goTo(Math.max(0, Math.min(this.line.length, this.cursor + step)));
  }

  /** Put an entry of the line on screen. */
  goTo(cursor) {
    this.cursor = cursor;
    this.changed();
    this.say(this.words());
    this.fill();
  }

  /** Decide about the sample on screen, and put the next one there. */
  decide(verdict) {
    const entry = this.current;
    if (!entry) return;
    this.settle(entry.item, verdict, {
      ranking: entry.ranking,
      position: entry.position,
      token: entry.item.token,
    });
    this.cursor = this.nextOpen();
    this.changed();
    this.say(`${past(verdict)} ${entry.item.caption}. ${this.words()}`);
  }

  /** Decide about a sample found by browsing. */
  decideBrowsed(item, verdict, position) {
    this.settle(item, verdict, { ranking: null, position });
    this.changed();
    this.say(`${past(verdict)} ${item.caption}.`);
  }

  /** Take back the newest decision of this tab. One that has not left yet never will. */
  undo() {
    const newest = this.done.pop() ?? null;
    const unsent = newest && this.outbox.takeBack((op) => op.path === DECIDE && op.i === newest.item.i);
    if (newest) {
      this.remember(newest.item, newest.from, !unsent);
      this.comeBackTo(newest.item, newest.to);
    }
    if (!unsent)
      this.outbox.put({
        path: UNDO,
        body: {},
        i: newest?.item.i ?? null,
        from: newest?.to,
        to: newest?.from,
      });
  }

  /** Let the samples after those on screen follow another ranking. */
  setRanking(ranking) {
    this.ranking = ranking;
    this.reorder(`From the next new sample on: sorted by ${ranking}.`);
  }

  /** Let the queue learn from the decisions, or not. */
  setLearning(learning) {
    this.learning = learning;
    this.reorder(learning ? "The queue learns from your decisions." : "The queue no longer learns.");
  }

  /** Remember what an earlier tab decided and could not send. */
  takeOver() {
    for (const { i, to } of this.outbox.ops) if (i !== null) this.remember({ i }, to, true);
  }

  /** Ask what happened elsewhere. */
  async refresh() {
    const query = { seen_seq: this.state.seq, ranking: this.ranking, learn: this.learning ? 1 : 0 };
    const state = await this.ask("/api/state", query, false);
    if (!state || this.outbox.ops.length || state.seq < this.state.seq) return; // what is on its way knows better
    this.take(state);
    this.fill();
  }

  /** Take the verdicts that came with samples; returns the samples. */
  learnOf(items) {
    for (const item of items)
      if ("verdict" in item && !this.outbox.holds(item.i)) this.remember(item, item.verdict, false);
    return items;
  }

  settle(item, verdict, origin) {
    const from = this.verdict(item);
    this.refusal = null;
    this.done.push({ item, from, to: verdict });
    this.remember(item, verdict, true);
    this.outbox.put({
      path: DECIDE,
      body: { i: item.i, id: item.id, verdict, ...origin },
      i: item.i,
      from,
      to: verdict,
    });
  }

  nextOpen() {
    const open = (entry) => !this.verdict(entry.item);
    const after = this.line.findIndex((entry, k) => k > this.cursor && open(entry));
    if (after >= 0) return after;
    if (!this.ended) return this.line.length;
    const before = this.line.findIndex(open);
    return before >= 0 ? before : this.line.length;
  }

  remember(item, verdict, waiting, other = false) {
    if (verdict) this.marks.set(item.i, { verdict, waiting, other });
    else this.marks.delete(item.i);
  }

  comeBackTo(item, verdict, ranking = null) {
    let place = this.line.findIndex((entry) => entry.item.i === item.i);
    if (place < 0) {
      place = Math.min(this.cursor, this.line.length);
      this.line.splice(place, 0, { item, ranking, learning: this.learning, position: item.position ?? null });
    }
    this.cursor = place;
    this.changed();
    this.say(`Took back: ${verdict} ${item.caption}.`);
  }

  reorder(words) {
    this.ended = false;
    this.changed();
    this.say(words);
    this.fill();
    this.refresh();
  }

  wasSent(op, reply) {
    if (op.path === UNDO) this.wasUndone(op, reply.undone);
    else if (!this.outbox.holds(op.i)) this.remember({ i: op.i }, op.to, false);
    this.take(reply);
    this.fill();
  }

  async wasUndone(op, undone) {
    if (!undone) {
      this.say("There is nothing to take back in this tab.");
      return;
    }
    if (op.i !== null && op.i !== undone.i) this.remember({ i: op.i }, op.from, false); // the server took back another
    this.ended = false;
    if (!this.outbox.holds(undone.i)) this.remember({ i: undone.i }, undone.now ?? null, false);
    if (op.i === undone.i) return;
    const item = undone.item ?? (await this.ask(`/api/sample/${undone.i}`));
    if (item) this.comeBackTo(item, undone.verdict, undone.ranking ?? null);
  }

  wasRefused(op, message) {
    if (op.i !== null) this.remember({ i: op.i }, op.from, false);
    this.done = this.done.filter((made) => made.item.i !== op.i);
    this.refusal = message;
    this.say(`Not saved: ${message}`);
    this.changed();
  }

  take(reply) {
    const { seq, counts, estimate, others = [] } = reply;
    this.state = { ...this.state, seq, counts, estimate };
    for (const { i, verdict } of others)
      if (!this.outbox.holds(i)) this.remember({ i }, verdict, false, true);
    if (others.some(({ verdict }) => !verdict)) this.ended = false;
    this.changed();
  }

  async ask(path, query = {}, insist = true) {
    for (;;) {
      try {
        const reply = await this.api.get(path, query);
        if (this.problem) {
          this.problem = null;
          this.changed();
        }
        return reply;
      } catch (problem) {
        this.problem = { message: problem.message, locked: problem.isLocked ?? false };
        this.changed();
        if (!insist || !(problem instanceof Unreachable)) return null;
        await new Promise((resolve) => setTimeout(resolve, AGAIN));
      }
    }
  }

  words() {
    const entry = this.current;
    if (!entry) return this.ended ? "Nothing is left in the queue." : "Waiting for the next sample.";
    const mark = this.mark(entry.item);
    return `Now ${entry.item.caption}${mark ? `, ${mark.verdict}` : ""}.`;
  }

  changed() {
    this.dispatchEvent(new CustomEvent("change"));
  }

  say(words) {
    this.dispatchEvent(new CustomEvent("say", { detail: words }));
  }
}

function past(verdict) {
  return { keep: "Kept", discard: "Discarded", unsure: "Unsure about" }[verdict];
}
