// Keeps every read away from what is damaged: a statement whose program opens a damaged table or index is refused, all others run and
// are right. Which they open is read from the program itself (EXPLAIN), where a query plan has only the names a statement gives.
import type Database from 'libsql';
import { LRUCache } from 'lru-cache';
import { StoreError } from '../store.ts';
import type { Damage } from './damage.ts';

const textsMax = 1_000;

export interface DamageGuard {
  readonly damage: Damage | null;
  note(damage: Damage): void;
  /** @throws StoreError `damaged` */
  check(text: string): void;
}

/** @param planner a connection that is only for plans */
export function createDamageGuard(planner: Database.Database): DamageGuard {
  const rootsOf = new LRUCache<string, readonly number[]>({ max: textsMax });
  let damage: Damage | null = null;

  const opened = (text: string): readonly number[] => {
    const known = rootsOf.get(text);
    if (known) return known;
    const program = planner.prepare(`EXPLAIN ${text}`).all() as { opcode: string; p2: number }[];
    const roots = program
      .filter(({ opcode }) => /^(OpenRead|OpenWrite|ReopenIdx)$/.test(opcode))
      .map(({ p2 }) => p2);
    rootsOf.set(text, roots);
    return roots;
  };

  return {
    get damage() {
      return damage;
    },
    note: (found) => void (damage = found),
    check(text) {
      if (!damage) return;
      const { roots, isTotal } = damage;
      if (isTotal || opened(text).some((root) => roots.includes(root)))
        throw new StoreError('damaged', 'What is asked for lies in a damaged part of the database.');
    },
  };
}
