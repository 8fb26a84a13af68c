/** Returns the seed of `TATAMI_SEED`, or a new one, and prints it, so that a failure can be reproduced. */
export function printedSeed(): number {
  const seed = Number(process.env.TATAMI_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`TATAMI_SEED=${seed}`);
  return seed;
}

export interface Random {
  /** 0 ≤ x < 1. */
  next(): number;
  /** Integer from 0 to `count` - 1. */
  below(count: number): number;
  of<T>(items: readonly T[]): T;
  /** True once in `count` times. */
  once(count: number): boolean;
}

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed;
  const bits = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (count: number): number => bits() % count;
  return {
    next: () => bits() / 2 ** 32,
    below,
    of: (items) => items[below(items.length)]!,
    once: (count) => below(count) === 0,
  };
}
