// What whoever owns the data directory can order about the people who sign in, and what they are answered.
import { Type, type Static } from 'typebox';
import { Closed } from '../../lib/schema.ts';

const word = { minLength: 1, maxLength: 300 };

export const memberOrders = {
  invite: Closed({
    workspace: Type.Optional(Type.String({ ...word, description: 'Its id or its name.' })),
    member: Type.String({ ...word, description: 'Id, address or name.' }),
  }),
  reset: Closed({
    email: Type.String({ ...word, description: 'Address that the account signs in with, or its id.' }),
    codesOff: Type.Optional(Type.Boolean({ description: 'Turns off its one-time codes as well.' })),
  }),
};

type MemberOrderName = keyof typeof memberOrders;

/** A link, which is nowhere else. */
interface MadeLink {
  readonly url: string;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
}

export interface MemberAnswers {
  readonly invite: MadeLink & {
    readonly workspaceId: string;
    readonly member: { readonly id: string; readonly name: string };
  };
  readonly reset: MadeLink & { readonly email: string };
}

export type MemberDesk = {
  readonly [N in MemberOrderName]: (order: Static<(typeof memberOrders)[N]>) => Promise<MemberAnswers[N]>;
};
