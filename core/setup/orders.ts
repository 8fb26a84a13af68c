// All operations of the operator API.
import type { Static } from 'typebox';
import { keyOrders, type KeyAnswers } from './keys/orders.ts';
import { memberOrders, type MemberAnswers } from './members/orders.ts';

/** Schemas of the parameters, by operation. */
export const operatorOrders = { ...keyOrders, ...memberOrders };

export type OrderName = keyof typeof operatorOrders;
export type Order<N extends OrderName> = Static<(typeof operatorOrders)[N]>;
export type Answers = KeyAnswers & MemberAnswers;

/** Implements the operations. Rejects with ApiError or StoreError. */
export type OperatorDesk = { readonly [N in OrderName]: (order: Order<N>) => Promise<Answers[N]> };
