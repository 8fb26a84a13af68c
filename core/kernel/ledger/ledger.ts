// Usage ledger: cost of each account, charged where it arises. An account is a token, a plugin installation
// or a webhook endpoint, by id; work without an account is charged to the workspace. The amounts of the last
// hour are in memory only.
import { createLru } from '../../platform/lib/lru.ts';
import type { BillingAccount } from '../../platform/lib/billing-account.ts';

/**
 * `cpuMs`: CPU time of the core, in milliseconds; `sandboxMs`: CPU time of plugins in their sidecars; `bytesIn` and `bytesOut`:
 * request and response bodies; `queueMs`: time in the queue; the others are counts.
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
export type LedgerQuantity = (typeof quantities)[number];
export type LedgerAmounts = Readonly<Record<LedgerQuantity, number>>;

export interface Ledger {
  charge(billingAccount: BillingAccount, quantity: LedgerQuantity, amount: number): void;
  chargeAll(billingAccount: BillingAccount, amounts: Partial<LedgerAmounts>): void;
  /** Returns the usage of a workspace in the last hour, by account; null is the workspace itself. */
  usageOf(workspaceId: string): ReadonlyMap<string | null, LedgerAmounts>;
}

const slotMs = 300_000;
/** Number of slots in an hour, including the current one. */
const slotsRetained = 12;
/** Maximum number of accounts; the least recently charged are evicted. */
const accountsMax = 20_000;

interface Account {
  readonly workspaceId: string;
  readonly billingAccount: string | null;
  /** Ring buffer: slot `n` is at index `n % slotsRetained`. */
  readonly slots: { at: number; amounts: Record<LedgerQuantity, number> }[];
}

const nothing = (): Record<LedgerQuantity, number> =>
  Object.fromEntries(quantities.map((quantity) => [quantity, 0])) as Record<LedgerQuantity, number>;

/** @param monotonicMs a monotonic clock */
export function createLedger(monotonicMs: () => number): Ledger {
  const accounts = createLru<string, Account>(accountsMax);

  /** Returns the account's mutable amounts in the current slot. */
  const current = ({ workspaceId, billingAccount }: BillingAccount): Record<LedgerQuantity, number> => {
    const at = Math.floor(monotonicMs() / slotMs);
    const key = `${workspaceId} ${billingAccount ?? ''}`;
    let account = accounts.get(key);
    if (!account) {
      account = { workspaceId, billingAccount, slots: [] };
      accounts.set(key, account);
    }
    const slot = account.slots[at % slotsRetained];
    if (slot?.at === at) return slot.amounts;
    const amounts = nothing();
    account.slots[at % slotsRetained] = { at, amounts };
    return amounts;
  };

  return {
    charge: (billingAccount, quantity, amount) => void (current(billingAccount)[quantity] += amount),
    chargeAll(billingAccount, amounts) {
      const used = current(billingAccount);
      for (const quantity in amounts)
        used[quantity as LedgerQuantity] += amounts[quantity as LedgerQuantity] ?? 0;
    },
    usageOf(workspaceId) {
      const since = Math.floor(monotonicMs() / slotMs) - slotsRetained;
      const usage = new Map<string | null, LedgerAmounts>();
      for (const account of accounts.values()) {
        if (account.workspaceId !== workspaceId) continue;
        const sum = nothing();
        for (const slot of account.slots)
          if (slot && slot.at > since)
            for (const quantity of quantities) sum[quantity] += slot.amounts[quantity];
        usage.set(account.billingAccount, sum);
      }
      return usage;
    },
  };
}
