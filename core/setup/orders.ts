// All operations of the operator API.
import type { Static } from 'typebox';
import { keyRpcSchemas, type KeyAnswers } from './keys/orders.ts';
import { memberRpcSchemas, type MemberAnswers } from './members/orders.ts';

/** Schemas of the parameters, by operation. */
export const operatorRpcSchemas = { ...keyRpcSchemas, ...memberRpcSchemas };

export type OrderName = keyof typeof operatorRpcSchemas;
export type Order<N extends OrderName> = Static<(typeof operatorRpcSchemas)[N]>;
export type Answers = KeyAnswers & MemberAnswers;

/** Implements the operations. Rejects with ApiError or StoreError. */
export type OperatorRpc = { readonly [N in OrderName]: (order: Order<N>) => Promise<Answers[N]> };
