// The operator API, for everybody with access to the data directory.
import { createKeyRpc, type OperatorRpcOptions } from './keys/key-rpc.ts';
import { createMemberRpc } from './members/member-rpc.ts';
import type { OperatorRpc } from './rpc-schemas.ts';

export function createOperatorRpc(options: OperatorRpcOptions): OperatorRpc {
  return { ...createKeyRpc(options), ...createMemberRpc(options) };
}
