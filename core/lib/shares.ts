// How much of something scarce (bytes waiting to be sent, bodies being read) each may hold: a share of what is left, so that
// one alone may hold much, many get less each, and nobody can take all of it. The rule is the dynamic threshold of shared
// buffers (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
import type { Owner } from './fair-queue.ts';

export interface Shares {
  /** Whether an owner may hold so much more. */
  hasRoom(owner: Owner, amount: number): boolean;
  /** Holds an amount until the returned function is called. */
  hold(owner: Owner, amount: number): () => void;
}

/** A workspace holds at most half of what is left, one payer a quarter. */
export function createShares(total: number): Shares {
  const held = new Map<string, number>();
  let used = 0;

  const keysOf = ({ workspaceId, payer }: Owner): [workspace: string, payer: string] => [
    workspaceId,
    `${workspaceId} ${payer ?? ''}`,
  ];
  const add = (key: string, amount: number): void => {
    const sum = (held.get(key) ?? 0) + amount;
    if (sum > 0) held.set(key, sum);
    else held.delete(key);
  };

  return {
    hasRoom(owner, amount) {
      const left = total - used;
      // Nobody holds more than all of them together.
      if (used + amount <= left / 4) return true;
      const [workspace, payer] = keysOf(owner);
      return (held.get(workspace) ?? 0) + amount <= left / 2 && (held.get(payer) ?? 0) + amount <= left / 4;
    },
    hold(owner, amount) {
      const keys = keysOf(owner);
      used += amount;
      for (const key of keys) add(key, amount);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        used -= amount;
        for (const key of keys) add(key, -amount);
      };
    },
  };
}
