// Operator API: parameters and results of its operations, used in process and over the socket of a running server
// (core/app/serve/operator-server.ts).
import { join } from 'node:path';
import { Type, type Static } from 'typebox';
import { type apiKeyModel, graceHoursMax } from '../../features/api-keys/index.ts';
import { Closed, nullable, text } from '../../platform/lib/schema.ts';
import { hourMs } from '../../platform/lib/time/time.ts';
import { allScopes } from '../../kernel/rights/table.ts';

/** Path of the operator socket of a running server. */
export const operatorSocketOf = (dataDir: string): string => join(dataDir, 'operator.sock');

/** Maximum grace period of a rolled key. */
export const graceMsMax = graceHoursMax * hourMs;
export const noWorkspace =
  'There is no workspace yet. Stop the server if it is running, and create a workspace with `tatami init`.';

const word = (description: string) => Type.String({ minLength: 1, maxLength: 300, description });
const workspace = Type.Optional(word('Id or name of the workspace.'));
const key = word('Id, prefix, or unique name of the key.');
/** The end of the year 9999, the latest time in RFC 3339. */
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
const expiresAt = Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: lastMs })));

/** Schemas of the parameters, by operation. */
export const operatorRpcSchemas = {
  create: Closed({
    workspace,
    member: Type.Optional(word('Id, e-mail address or name of the member; defaults to the first owner.')),
    name: text(80),
    scopes: Type.Array(Type.Enum([...allScopes]), { minItems: 1, maxItems: 100 }),
    expiresAt,
  }),
  list: Closed({ workspace }),
  revoke: Closed({ key }),
  roll: Closed({
    key,
    graceMs: Type.Integer({ minimum: 0, maximum: graceMsMax }),
    allScopes: Type.Boolean({ description: 'True to grant the new key all scopes.' }),
    expiresAt,
  }),
  invite: Closed({ workspace, member: word('Id, e-mail address or name of the member.') }),
  reset: Closed({
    email: word('E-mail address or id of the account.'),
    codesOff: Type.Optional(
      Type.Boolean({ description: 'True to turn off one-time codes too; default false.' }),
    ),
  }),
};

/** API representation of a key, without its secret. */
export type ListedKey = { readonly workspaceId: string } & ReturnType<typeof apiKeyModel.toResponse>;

/** A new key with its complete text, which is not stored. */
export type CreatedKey = ListedKey & { readonly key: string };

/** A new link, which is not stored. */
interface CreatedLink {
  readonly url: string;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
}

export interface RpcResponses {
  readonly create: CreatedKey;
  readonly list: {
    readonly workspaces: readonly { readonly id: string; readonly name: string }[];
    readonly keys: readonly ListedKey[];
    /** True if there are older keys beyond the limit. */
    readonly hasMore: boolean;
  };
  readonly revoke: ListedKey;
  readonly roll: CreatedKey & { readonly previous: ListedKey };
  readonly invite: CreatedLink & {
    readonly workspaceId: string;
    readonly member: { readonly id: string; readonly name: string };
  };
  readonly reset: CreatedLink & { readonly email: string };
}

export type RpcMethod = keyof typeof operatorRpcSchemas;
export type RpcRequest<N extends RpcMethod> = Static<(typeof operatorRpcSchemas)[N]>;

/** Implementation of the operations. Rejects with ApiError or StoreError. */
export type OperatorRpc = { readonly [N in RpcMethod]: (request: RpcRequest<N>) => Promise<RpcResponses[N]> };
