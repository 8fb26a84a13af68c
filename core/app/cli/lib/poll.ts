// Looks again and again, at growing intervals, until something has come to an end.

const pollMsFirst = 50;
const pollMsMax = 1_000;
const tellEveryMs = 3_000;

/**
 * @param tell is given the state every few seconds
 * @returns the state that has ended; with `limitMs` the last one seen, which may not have ended
 */
export async function poll<T>(
  first: T,
  look: () => Promise<T>,
  ended: (state: T) => boolean,
  limitMs: number = Number.POSITIVE_INFINITY,
  tell: (state: T) => void = () => undefined,
): Promise<T> {
  const startMs = performance.now();
  let toldMs = startMs;
  let state = first;
  for (let waitMs = pollMsFirst; !ended(state) && performance.now() - startMs < limitMs; waitMs *= 1.5) {
    await Bun.sleep(Math.min(waitMs, pollMsMax));
    state = await look();
    if (performance.now() - toldMs < tellEveryMs || ended(state)) continue;
    toldMs = performance.now();
    tell(state);
  }
  return state;
}
