// All operations of the operator API.
import type { Static } from 'typebox';
import { keyRpcSchemas, type KeyRpcResponses } from './keys/rpc-schemas.ts';
import { memberRpcSchemas, type MemberRpcResponses } from './members/rpc-schemas.ts';

/** Schemas of the parameters, by operation. */
export const operatorRpcSchemas = { ...keyRpcSchemas, ...memberRpcSchemas };

export type RpcMethod = keyof typeof operatorRpcSchemas;
export type RpcRequest<N extends RpcMethod> = Static<(typeof operatorRpcSchemas)[N]>;
export type RpcResponses = KeyRpcResponses & MemberRpcResponses;

/** Implementation of the operations. Rejects with ApiError or StoreError. */
export type OperatorRpc = { readonly [N in RpcMethod]: (order: RpcRequest<N>) => Promise<RpcResponses[N]> };
