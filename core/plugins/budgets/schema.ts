// The public shape of a budget that is spent.
import { isoTime } from '../../changes/operations.ts';
import { Closed, described, enumeration, nullable, time } from '../../lib/schema.ts';
import { quantities, type Quantity } from './budget.ts';
import type { Spent } from './usage.ts';

const quantity = enumeration('BudgetQuantity', quantities as [Quantity, ...Quantity[]], 'What is used up.');

export function spentShown(description: string) {
  return nullable(Closed({ quantity, until: described(time, 'When the next day begins.') }, { description }));
}

export function showSpent(spent: Spent | null) {
  return spent && { quantity: spent.quantity, until: isoTime(spent.untilMs) };
}
