// The operator API, for everybody with access to the data directory.
import { createKeyRpc, type OperatorRpcOptions } from './keys/desk.ts';
import { createMemberRpc } from './members/desk.ts';
import type { OperatorRpc } from './orders.ts';

export function createOperatorRpc(options: OperatorRpcOptions): OperatorRpc {
  return { ...createKeyRpc(options), ...createMemberRpc(options) };
}
