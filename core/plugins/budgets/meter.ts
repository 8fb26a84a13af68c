// Counts what one attempt of a run uses, and refuses what its install's budget has no room for.
import { CallError } from '../door-call.ts';
import { hostBudget, type InstallBudget } from '../installs/contract.ts';
import { spentOf, words, type Amounts } from './budget.ts';

export interface Meter {
  /** Whether the budget was spent when the attempt began. */
  readonly isSpent: boolean;
  /** A host call begins. @throws CallError quota_exceeded */
  takeCall(): void;
  /** What a call used of the install's rights. */
  useScope(scope: string): void;
  /** Bytes were, or are about to be, sent to another host or received from it. @throws CallError quota_exceeded */
  chargeEgress(bytes: number): void;
  readonly calls: number;
  readonly egressBytes: number;
  readonly scopes: ReadonlyMap<string, number>;
}

/** @param used by others, of the same day */
export function createMeter(budget: InstallBudget, used: Amounts): Meter {
  const spent = { calls: 0, egressBytes: 0 };
  const scopes = new Map<string, number>();
  const take = (quantity: keyof typeof spent, amount: number): void => {
    const most = budget[quantity] ?? hostBudget[quantity];
    if (used[quantity] + spent[quantity] + amount > most)
      throw new CallError(
        'quota_exceeded',
        `The plugin may use ${most} ${words[quantity]} a day, and has used them.`,
      );
    spent[quantity] += amount;
  };
  return {
    isSpent: spentOf(budget, used) !== null,
    takeCall: () => take('calls', 1),
    useScope: (scope) => void scopes.set(scope, (scopes.get(scope) ?? 0) + 1),
    chargeEgress: (bytes) => take('egressBytes', bytes),
    get calls() {
      return spent.calls;
    },
    get egressBytes() {
      return spent.egressBytes;
    },
    scopes,
  };
}
