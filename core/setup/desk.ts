// The desk at which whoever owns the data directory gives orders.
import { createKeyDesk, type DeskOptions } from './keys/desk.ts';
import { createMemberDesk } from './members/desk.ts';
import type { OperatorDesk } from './orders.ts';

export function createOperatorDesk(options: DeskOptions): OperatorDesk {
  return { ...createKeyDesk(options), ...createMemberDesk(options) };
}
