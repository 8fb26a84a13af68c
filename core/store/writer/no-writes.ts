// In place of the group commit where a store was opened only to be read.
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
    heard: async () => undefined,
    async close(released) {
      released();
      return false;
    },
  };
}
