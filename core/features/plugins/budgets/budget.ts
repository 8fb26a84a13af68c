// Defines the daily budget of an install: CPU time, runs, host calls, and bytes sent to and received from
// other hosts, per UTC day. docs/spec/plugins.md › Budgets.
import { dayMs } from '../../../platform/lib/time/time.ts';
import { hostBudget, type InstallBudget } from '../installs/contract.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import { Closed, described, enumeration, nullable, time } from '../../../platform/lib/schema.ts';
import type { Spent } from './usage.ts';
import { CallError } from '../host-calls/gateway.ts';

export type Quantity = keyof typeof hostBudget;
export const quantities = Object.keys(hostBudget) as readonly Quantity[];
export type BudgetAmounts = Readonly<Record<Quantity, number>>;

/** Returns the first exhausted quantity; null if there is none. */
export function spentOf(budget: InstallBudget, used: BudgetAmounts): Quantity | null {
  return quantities.find((quantity) => used[quantity] >= (budget[quantity] ?? hostBudget[quantity])) ?? null;
}

/** Name of each quantity in messages. */
export const words: Readonly<Record<Quantity, string>> = {
  cpuMs: 'milliseconds of CPU time',
  runs: 'runs',
  calls: 'host calls',
  egressBytes: 'bytes sent to other hosts',
};

/** Returns the message that names the exhausted budget, the time of its renewal, and the remedy. */
export function spentWords(
  { pluginId, budget }: { readonly pluginId: string; readonly budget: InstallBudget },
  { quantity, untilMs }: { readonly quantity: Quantity; readonly untilMs: number },
): string {
  const most = budget[quantity] ?? hostBudget[quantity];
  return `${pluginId} has used its daily budget of ${most} ${words[quantity]}. Retry after ${new Date(untilMs).toISOString()}, or raise the budget.`;
}

export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs);
export const startOfDay = (day: number): number => day * dayMs;

const quantity = enumeration(
  'BudgetQuantity',
  quantities as [Quantity, ...Quantity[]],
  'Exhausted quantity.',
);

export function spentResponse(description: string) {
  return nullable(
    Closed({ quantity, until: described(time, 'Start of the next UTC day.') }, { description }),
  );
}

export function showSpent(spent: Spent | null) {
  return spent && { quantity: spent.quantity, until: isoTime(spent.untilMs) };
}

/** Counts the usage of one attempt, and refuses host calls and egress beyond the budget of the install. */
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
