// All that whoever owns the data directory can order: about keys, and about the people who sign in.
import type { Static } from 'typebox';
import { keyOrders, type KeyAnswers } from './keys/orders.ts';
import { memberOrders, type MemberAnswers } from './members/orders.ts';

/** By the name of the order: what it takes. */
export const operatorOrders = { ...keyOrders, ...memberOrders };

export type OrderName = keyof typeof operatorOrders;
export type Order<N extends OrderName> = Static<(typeof operatorOrders)[N]>;
export type Answers = KeyAnswers & MemberAnswers;

/** Answers the orders. Rejects with ApiError where one cannot be done, and with StoreError. */
export type OperatorDesk = { readonly [N in OrderName]: (order: Order<N>) => Promise<Answers[N]> };
