// Operator API for people: parameters and results.
import { Type, type Static } from 'typebox';
import { Closed } from '../../../platform/lib/schema.ts';

const word = { minLength: 1, maxLength: 300 };

export const memberRpcSchemas = {
  invite: Closed({
    workspace: Type.Optional(Type.String({ ...word, description: 'Id or name of the workspace.' })),
    member: Type.String({ ...word, description: 'Id, e-mail address or name of the member.' }),
  }),
  reset: Closed({
    email: Type.String({ ...word, description: 'E-mail address or id of the account.' }),
    codesOff: Type.Optional(
      Type.Boolean({ description: 'True to turn off one-time codes too; default false.' }),
    ),
  }),
};

type MemberRpcMethod = keyof typeof memberRpcSchemas;

/** A new link, which is not stored. */
interface CreatedLink {
  readonly url: string;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
}

export interface MemberRpcResponses {
  readonly invite: CreatedLink & {
    readonly workspaceId: string;
    readonly member: { readonly id: string; readonly name: string };
  };
  readonly reset: CreatedLink & { readonly email: string };
}

export type MemberRpc = {
  readonly [N in MemberRpcMethod]: (
    order: Static<(typeof memberRpcSchemas)[N]>,
  ) => Promise<MemberRpcResponses[N]>;
};
