// Looks again and again, at growing intervals, until something has come to an end.

const pollMsFirst = 50;
const pollMsMax = 1_000;

/** @returns the state that has ended; with `limitMs` the last one seen, which may not have ended */
export async function poll<T>(
  first: T,
  look: () => Promise<T>,
  ended: (state: T) => boolean,
  limitMs: number = Number.POSITIVE_INFINITY,
): Promise<T> {
  const startMs = performance.now();
  let state = first;
  for (let waitMs = pollMsFirst; !ended(state) && performance.now() - startMs < limitMs; waitMs *= 1.5) {
    await Bun.sleep(Math.min(waitMs, pollMsMax));
    state = await look();
  }
  return state;
}
