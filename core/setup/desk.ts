// The operator API, for everybody with access to the data directory.
import { createKeyDesk, type DeskOptions } from './keys/desk.ts';
import { createMemberDesk } from './members/desk.ts';
import type { OperatorDesk } from './orders.ts';

export function createOperatorDesk(options: DeskOptions): OperatorDesk {
  return { ...createKeyDesk(options), ...createMemberDesk(options) };
}
