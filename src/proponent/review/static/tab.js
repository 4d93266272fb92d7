// Who this tab is: a name that outlives a reload, and that no other open tab has.

const NAME = "proponent.session";

/** Take a name. A duplicated tab starts with its twin's, and gets one of its own. */
export async function takeSession() {
  const kept = sessionStorage.getItem(NAME);
  const session = kept && (await holds(kept)) ? kept : randomName();
  if (session !== kept) await holds(session);
  sessionStorage.setItem(NAME, session);
  return session;
}

/** Say whether a tab is open that goes by a name; unknown counts as open. */
export async function isOpen(session) {
  if (!navigator.locks) return true;
  const { held } = await navigator.locks.query();
  return held.some((lock) => lock.name === lockOf(session));
}

function holds(session) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks.request(lockOf(session), { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {}); // held until the tab closes
    });
  });
}

function lockOf(session) {
  return `${NAME}.${session}`;
}

/** A name that nothing else has. */
export function randomName() {
  return [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
