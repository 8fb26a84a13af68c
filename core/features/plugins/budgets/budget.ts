// Defines the daily budget of an install: CPU time, runs, host calls, and bytes sent to and received from
// other hosts, per UTC day. docs/spec/plugins.md › Budgets.
import { hostBudget, type InstallBudget } from '../installs/contract.ts';

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

const dayMs = 86_400_000;
export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs);
export const startOfDay = (day: number): number => day * dayMs;
