// Replaces group commit in a store that is opened read-only.
import type { StoreError } from '../store.ts';
import type { Writes } from './group-commit.ts';

export function createNoWrites(fault: StoreError): Writes {
  return {
    fault,
    counts: { batches: 0, groups: 0 },
    commit: () => Promise.reject(fault),
    suspend: () => undefined,
    aside: () => undefined,
    between: async () => null,
    commitsProcessed: async () => undefined,
    async close(released) {
      released();
      return false;
    },
  };
}
