// Random choices that a printed seed repeats.

/** Seed of `TATAMI_SEED`, or a new one; printed, so that a failure can be repeated. */
export function printedSeed(): number {
  const seed = Number(process.env.TATAMI_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`TATAMI_SEED=${seed}`);
  return seed;
}

export interface Random {
  /** Integer from 0 to `count` - 1. */
  below(count: number): number;
  of<T>(items: readonly T[]): T;
  /** True once in `count` times. */
  once(count: number): boolean;
}

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed;
  const below = (count: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % count;
  };
  return { below, of: (items) => items[below(items.length)]!, once: (count) => below(count) === 0 };
}
