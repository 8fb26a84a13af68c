// Looks again and again until something has come to an end, more and more patiently.

const pollMsFirst = 50;
const pollMsMax = 1_000;

/** The last look; with `limitMs` also one that `ended` does not hold for. */
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
