// What an install may use in a UTC day, of processor time, runs, host calls and bytes sent out. docs/spec/plugins.md › Budgets.
import { Type, type Static } from 'typebox';
import { Closed, enumeration } from '../../lib/schema.ts';

/** The host's caps: far above what a plugin needs, so that they only end what has run away. */
export const hostBudget = {
  cpuMs: 6 * 3_600_000,
  runs: 10_000_000,
  calls: 100_000_000,
  egressBytes: 10 * 1024 ** 3,
} as const;
export type Quantity = keyof typeof hostBudget;
export const quantities = Object.keys(hostBudget) as readonly Quantity[];
export type Amounts = Readonly<Record<Quantity, number>>;

const cap = (description: string, maximum: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum, description }));
const members = {
  cpuMs: cap('Processor time in the sandbox, in milliseconds.', hostBudget.cpuMs),
  runs: cap('Runs.', hostBudget.runs),
  calls: cap('Host calls.', hostBudget.calls),
  egressBytes: cap('Bytes sent to other hosts and received from them.', hostBudget.egressBytes),
};
const whenSpent = enumeration(
  'BudgetEnd',
  ['stop', 'propose'],
  'Whether its runs wait for the next day, or propose what they would write.',
);

export const InstallBudget = Closed({ ...members, whenSpent });
export const BudgetGiven = Closed(
  { ...members, whenSpent: Type.Optional(whenSpent) },
  { description: 'In place of what was set; a member that is left out is as the host has it.' },
);
export type InstallBudget = Static<typeof InstallBudget>;

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
