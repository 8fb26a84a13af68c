// What whoever owns the data directory can ask about its keys, and what they are answered: the same in one process and over the socket
// of a running server (core/serve/operator-door.ts).
import { Type, type Static } from 'typebox';
import type { apiKeyKind } from '../../identity/api-keys/kind.ts';
import { graceHoursMax } from '../../identity/api-keys/roll.ts';
import { Closed, nullable, text } from '../../lib/schema.ts';
import { hourMs } from '../../lib/time.ts';
import { allScopes } from '../../rights/scopes.ts';

/** For the old key, after a roll. */
export const graceMsMax = graceHoursMax * hourMs;
/** What is said where there is none to ask for. */
export const noWorkspace =
  'There is no workspace yet. Stop the server, if one runs, and make one with `tatami init`.';

const word = Type.String({ minLength: 1, maxLength: 300 });
const workspace = Type.Optional(Type.String({ ...word, description: 'Its id or its name.' }));
const key = Type.String({ ...word, description: 'Its id, its prefix, or its name where only one has it.' });
/** The end of the year 9999, the last that can be written as a time. */
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
const expiresAt = Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: lastMs })));

/** By the name of the order: what it takes. */
export const keyOrders = {
  create: Closed({
    workspace,
    member: Type.Optional(
      Type.String({ ...word, description: 'Id, address or name; by default the first owner.' }),
    ),
    name: text(80),
    scopes: Type.Array(Type.Enum([...allScopes]), { minItems: 1, maxItems: 100 }),
    expiresAt,
  }),
  list: Closed({ workspace }),
  revoke: Closed({ key }),
  roll: Closed({
    key,
    graceMs: Type.Integer({ minimum: 0, maximum: graceMsMax }),
    allScopes: Type.Boolean({ description: 'The successor gets every scope there is.' }),
    expiresAt,
  }),
};

type KeyOrders = typeof keyOrders;
type KeyOrderName = keyof KeyOrders;
type KeyOrder<N extends KeyOrderName> = Static<KeyOrders[N]>;

/** A key as the API shows it, without its secret. */
export type ListedKey = { readonly workspaceId: string } & ReturnType<typeof apiKeyKind.wire>;

/** With its whole text, which is nowhere else. */
export type MadeKey = ListedKey & { readonly key: string };

export interface KeyAnswers {
  readonly create: MadeKey;
  readonly list: {
    readonly workspaces: readonly { readonly id: string; readonly name: string }[];
    readonly keys: readonly ListedKey[];
    /** There are more, older ones. */
    readonly hasMore: boolean;
  };
  readonly revoke: ListedKey;
  readonly roll: MadeKey & { readonly previous: ListedKey };
}

/** Answers the orders. Rejects with ApiError where one cannot be done, and with StoreError. */
export type KeyDesk = { readonly [N in KeyOrderName]: (order: KeyOrder<N>) => Promise<KeyAnswers[N]> };
