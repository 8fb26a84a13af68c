// The ledger: what each caller costs, charged where the cost arises. A payer is a token, a plugin's install or a webhook's
// endpoint, known by its id; work that no payer asked for is charged to the workspace. Amounts of the last hour are kept in memory.
import { LRUCache } from 'lru-cache';
import type { Payer } from '../lib/payer.ts';

/**
 * `cpuMs`: processor time of the core, in milliseconds; `sandboxMs`: that of plugins in their sidecars; `bytesIn` and
 * `bytesOut`: bodies received and sent; `queueMs`: time spent waiting for a turn; the others count.
 */
export const quantities = [
  'cpuMs',
  'sandboxMs',
  'bytesIn',
  'bytesOut',
  'queueMs',
  'requests',
  'runs',
  'deliveries',
] as const;
export type Quantity = (typeof quantities)[number];
export type Amounts = Readonly<Record<Quantity, number>>;

export interface Ledger {
  charge(payer: Payer, quantity: Quantity, amount: number): void;
  chargeAll(payer: Payer, amounts: Partial<Amounts>): void;
  /** What a workspace used in the last hour, by payer; null is the workspace's own. */
  usageOf(workspaceId: string): ReadonlyMap<string | null, Amounts>;
}

const slotMs = 300_000;
/** The slot being filled and those before it make up the hour. */
const slotsKept = 12;
/** Above this many, the payers that have cost nothing for longest are forgotten. */
const payersMax = 20_000;

interface Account {
  readonly workspaceId: string;
  readonly payer: string | null;
  /** Slot `n` stands at `n % slotsKept`. */
  readonly slots: { at: number; amounts: Record<Quantity, number> }[];
}

const nothing = (): Record<Quantity, number> =>
  Object.fromEntries(quantities.map((quantity) => [quantity, 0])) as Record<Quantity, number>;

/** @param monotonicMs a clock that is never set forward or back */
export function createLedger(monotonicMs: () => number): Ledger {
  const accounts = new LRUCache<string, Account>({ max: payersMax });

  /** The payer's amounts in the slot that is being filled, to be added to. */
  const current = ({ workspaceId, payer }: Payer): Record<Quantity, number> => {
    const at = Math.floor(monotonicMs() / slotMs);
    const key = `${workspaceId} ${payer ?? ''}`;
    let account = accounts.get(key);
    if (!account) {
      account = { workspaceId, payer, slots: [] };
      accounts.set(key, account);
    }
    const slot = account.slots[at % slotsKept];
    if (slot?.at === at) return slot.amounts;
    const amounts = nothing();
    account.slots[at % slotsKept] = { at, amounts };
    return amounts;
  };

  return {
    charge: (payer, quantity, amount) => void (current(payer)[quantity] += amount),
    chargeAll(payer, amounts) {
      const used = current(payer);
      for (const quantity in amounts) used[quantity as Quantity] += amounts[quantity as Quantity] ?? 0;
    },
    usageOf(workspaceId) {
      const since = Math.floor(monotonicMs() / slotMs) - slotsKept;
      const usage = new Map<string | null, Amounts>();
      for (const account of accounts.values()) {
        if (account.workspaceId !== workspaceId) continue;
        const sum = nothing();
        for (const slot of account.slots)
          if (slot && slot.at > since)
            for (const quantity of quantities) sum[quantity] += slot.amounts[quantity];
        usage.set(account.payer, sum);
      }
      return usage;
    },
  };
}
