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

/** Which budget is spent, until when, and what to do about it. */
export function spentWords(
  { pluginId, budget }: { readonly pluginId: string; readonly budget: InstallBudget },
  { quantity, untilMs }: { readonly quantity: Quantity; readonly untilMs: number },
): string {
  const most = budget[quantity] ?? hostBudget[quantity];
  return `${pluginId} has used its ${most} ${words[quantity]} of the day. Ask again from ${new Date(untilMs).toISOString()} on, or have its budget changed.`;
}

const dayMs = 86_400_000;
export const dayOf = (nowMs: number): number => Math.floor(nowMs / dayMs);
export const startOfDay = (day: number): number => day * dayMs;
