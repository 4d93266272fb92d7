// What the page asks of its server.

const PATIENCE = 10_000; // milliseconds

/** The server answered, and will not do it. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }

  /** Whether the page has no right to ask any longer: its token belongs to a server that has ended. */
  get isLocked() {
    return this.status === 401 || this.status === 403;
  }
}

/** There was no answer, or one that says to try again. */
export class Unreachable extends Error {}

/** Asks the server in the name of this tab. */
export class Api {
  constructor(session) {
    this.session = session;
  }

  /** Ask for JSON. */
  get(path, query = {}) {
    const given = Object.entries({ ...query, session: this.session }).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    return request(`${path}?${new URLSearchParams(given)}`, { method: "GET" });
  }

  /** Send JSON and get some. */
  post(path, body) {
    return request(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, session: this.session }),
      keepalive: true, // a decision made as the tab closes still leaves
    });
  }
}

async function request(address, options) {
  let answer;
  try {
    answer = await fetch(address, {
      ...options,
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch (problem) {
    throw new Unreachable("The server does not answer.", { cause: problem });
  }
  const content = await answer.json().catch(() => null);
  if (answer.ok && content !== null) return content;
  const said = content?.error ?? content?.detail ?? `The server answered ${answer.status}.`;
  if (answer.ok || answer.status >= 500 || answer.status === 408 || answer.status === 429)
    throw new Unreachable(said);
  throw new Refused(answer.status, said);
}
