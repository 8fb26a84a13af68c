// Refuses statements that would read damaged tables or indexes; all others run and return correct results. The opened trees come from the
// statement's program (EXPLAIN), because a query plan shows only the names that the statement uses.
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

/** @param planner connection used only for EXPLAIN */
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
    note: (newDamage) => void (damage = newDamage),
    check(text) {
      if (!damage) return;
      const { roots, isTotal } = damage;
      if (isTotal || opened(text).some((root) => roots.includes(root)))
        throw new StoreError(
          'damaged',
          'The requested data is in a damaged part of the database. Ask your administrator to restore a backup.',
        );
    },
  };
}
