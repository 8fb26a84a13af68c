// What an install may use in a UTC day, of processor time, runs, host calls and bytes sent out. docs/spec/plugins.md › Budgets.
import { hostBudget, type InstallBudget } from '../installs/contract.ts';

export type Quantity = keyof typeof hostBudget;
export const quantities = Object.keys(hostBudget) as readonly Quantity[];
export type Amounts = Readonly<Record<Quantity, number>>;

/** The first quantity that is used up; null while there is some of all. */
export function spentOf(budget: InstallBudget, used: Amounts): Quantity | null {
  return quantities.find((quantity) => used[quantity] >= (budget[quantity] ?? hostBudget[quantity])) ?? null;
}

/** How a quantity is called in a sentence. */
export const words: Readonly<Record<Quantity, string>> = {
  cpuMs: 'milliseconds of processor time',
  runs: 'runs',
  calls: 'host calls',
  egressBytes: 'bytes sent to other hosts',
};

const dayMs = 86_400_000;
export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs);
export const startOfDay = (day: number): number => day * dayMs;
