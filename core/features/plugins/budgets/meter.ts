// Counts the usage of one attempt, and refuses host calls and egress beyond the budget of the install.
import { CallError } from '../host-calls/gateway-call.ts';
import { hostBudget, type InstallBudget } from '../installs/contract.ts';
import { spentOf, words, type BudgetAmounts } from './budget.ts';

export interface Meter {
  /** True if the budget was exhausted when the attempt started. */
  readonly isSpent: boolean;
  /** @throws CallError quota_exceeded */
  takeCall(): void;
  useScope(scope: string): void;
  /** Counts bytes sent to or received from another host. @throws CallError quota_exceeded */
  chargeEgress(bytes: number): void;
  readonly calls: number;
  readonly egressBytes: number;
  readonly scopes: ReadonlyMap<string, number>;
}

/** @param used usage of the same day before this attempt */
export function createMeter(budget: InstallBudget, used: BudgetAmounts): Meter {
  const spent = { calls: 0, egressBytes: 0 };
  const scopes = new Map<string, number>();
  const take = (quantity: keyof typeof spent, amount: number): void => {
    const most = budget[quantity] ?? hostBudget[quantity];
    if (used[quantity] + spent[quantity] + amount > most)
      throw new CallError(
        'quota_exceeded',
        `The plugin has used its daily budget of ${most} ${words[quantity]}. Retry on the next UTC day, or raise the budget.`,
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
