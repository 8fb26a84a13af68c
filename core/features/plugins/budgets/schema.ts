import { isoTime } from '../../../kernel/changes/operations.ts';
import { Closed, described, enumeration, nullable, time } from '../../../platform/lib/schema.ts';
import { quantities, type Quantity } from './budget.ts';
import type { Spent } from './usage.ts';

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
