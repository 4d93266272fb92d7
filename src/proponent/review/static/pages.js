// Samples in the order of a ranking, fetched a page at a time as they come into sight.

const PAGE = 200;

/** A source for the gallery. */
export class Pages {
  constructor(review, query, length) {
    Object.assign(this, { review, query, length });
    this.items = new Map();
    this.asked = new Map();
  }

  /** Ask how many there are, and for the first of them. */
  static async open(review, query) {
    const pages = new Pages(review, query, 0);
    await pages.fetch(0);
    return pages;
  }

  at(index) {
    return this.items.get(index);
  }

  async load(first, last) {
    const wanted = [];
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page += 1) wanted.push(this.fetch(page));
    await Promise.all(wanted);
  }

  fetch(page) {
    if (!this.asked.has(page)) {
      const query = { ...this.query, offset: page * PAGE, count: PAGE };
      const answer = this.review.ask("/api/grid", query).then((reply) => {
        if (!reply) return void this.asked.delete(page);
        this.length ||= reply.n;
        this.review.learnOf(reply.items).forEach((item, k) => this.items.set(query.offset + k, item));
        return undefined;
      });
      this.asked.set(page, answer);
    }
    return this.asked.get(page);
  }
}
