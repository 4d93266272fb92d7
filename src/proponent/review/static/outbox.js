// Decisions on their way to the disk: sent one after the other, kept in the browser until the server has them.

import { Refused } from "./api.js";
import { isOpen, randomName } from "./tab.js";

const WAITS = [500, 1000, 2000, 4000, 8000]; // milliseconds before the next try

/**
 * Sends what is put into it, in order. Fires "change" whenever it has more or less to send or how that goes changed,
 * "sent" with `{op, reply}`, and "refused" with `{op, message}` for what the server will never take.
 */
export class Outbox extends EventTarget {
  constructor(api, run) {
    super();
    this.api = api;
    this.place = `proponent.outbox.${run}`;
    this.key = `${this.place}.${api.session}`;
    this.ops = JSON.parse(localStorage.getItem(this.key) ?? "[]");
    this.problem = null;
    this.tries = 0;
    this.sending = false;
    window.addEventListener("online", () => this.retry());
  }

  /** Take over what tabs left that were closed before they could send it. */
  async adopt() {
    for (const key of Object.keys(localStorage)) {
      const session = key.slice(this.place.length + 1);
      if (!key.startsWith(`${this.place}.`) || key === this.key || (await isOpen(session))) continue;
      this.ops.push(...JSON.parse(localStorage.getItem(key)));
      localStorage.removeItem(key);
    }
    this.keep();
    this.send();
  }

  /** Put something in: `{path, body, i, from, to}`. It leaves at once, and counts once however often it is sent. */
  put(op) {
    op.body.request ??= randomName();
    this.ops.push(op);
    this.keep();
    this.send();
  }

  /** Take back the newest, if it is the one meant and has not left yet; say whether. */
  takeBack(isMeant) {
    const newest = this.ops.at(-1);
    if (!newest || newest.attempted || !isMeant(newest)) return false;
    this.ops.pop();
    this.keep();
    return true;
  }

  /** Say whether something about a sample waits. */
  holds(i) {
    return this.ops.some((op) => op.i === i);
  }

  /** Try again now. */
  retry() {
    clearTimeout(this.timer);
    this.timer = null;
    this.send();
  }

  async send() {
    if (this.sending || this.timer || !this.ops.length) return;
    this.sending = true;
    const op = this.ops[0];
    try {
      op.attempted = true;
      const reply = await this.api.post(op.path, { ...op.body, seen_seq: this.seen?.() });
      this.drop(op);
      this.tries = 0;
      this.problem = null;
      this.fire("sent", { op, reply });
    } catch (problem) {
      if (problem instanceof Refused && !problem.isLocked) {
        this.drop(op);
        this.fire("refused", { op, message: problem.message });
      } else {
        const wait = WAITS[Math.min(this.tries, WAITS.length - 1)];
        this.tries += 1;
        this.problem = { message: problem.message, locked: problem instanceof Refused };
        this.timer = setTimeout(() => this.retry(), wait);
      }
    }
    this.sending = false;
    this.fire("change");
    this.send();
  }

  drop(op) {
    this.ops.splice(this.ops.indexOf(op), 1);
    this.keep();
  }

  keep() {
    if (this.ops.length) localStorage.setItem(this.key, JSON.stringify(this.ops));
    else localStorage.removeItem(this.key);
    this.fire("change");
  }

  fire(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
