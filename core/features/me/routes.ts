// `GET /me`: member, credential, scopes and rate limits of the request. Requires no scope.
import { Type } from 'typebox';
import { getEntity, isoTime } from '../../kernel/changes/operations.ts';
import { responseProperties } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed, described, idOf, namedSchema, nullable, time } from '../../platform/lib/schema.ts';
import { allScopes } from '../../kernel/rights/table.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { apiKey } from '../api-keys/contract.ts';
import { apiKeyModel } from '../api-keys/index.ts';
import { grant } from '../oauth/contract.ts';
import { grantModel } from '../oauth/index.ts';
import { member } from '../people/contract.ts';
import { memberModel, workspaceModel } from '../people/index.ts';
import { sessionPrefix } from '../sign-in/index.ts';
import { workspace } from '../people/contract.ts';

const of = (properties: ReturnType<typeof responseProperties>, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, properties[name]!]));

const memberParts = of(responseProperties(member), 'id', 'name', 'email', 'role');
const workspaceParts = of(responseProperties(workspace), 'id', 'name');
const keyParts = of(
  responseProperties(apiKey),
  'id',
  'name',
  'prefix',
  'scopes',
  'expiresAt',
  'lastUsedAt',
  'createdAt',
);
const grantParts = of(
  responseProperties(grant),
  'id',
  'client',
  'resource',
  'scopes',
  'guarded',
  'lastUsedAt',
  'createdAt',
);
const sessionParts = {
  id: idOf(sessionPrefix),
  createdAt: described(time, 'Time of the sign-in.'),
  expiresAt: described(time, 'Latest time at which the session ends.'),
};
const limit = nullable(
  Type.Integer({ minimum: 1, description: 'Limit in requests per minute; null if unlimited.' }),
);

const Me = namedSchema(
  'Me',
  Closed({
    member: Closed(memberParts, { description: 'Member that the request acts for.' }),
    workspace: Closed(workspaceParts, { description: 'Workspace of the request.' }),
    scopes: Type.Array(Type.String(), {
      description:
        'Effective scopes, including the reads that writes imply: the scopes of the key or grant that the role of the member allows.',
    }),
    key: nullable(Closed(keyParts, { description: 'API key of the request; null if it used none.' })),
    grant: nullable(
      Closed(grantParts, { description: 'Grant of the app that sent the request; null if no app did.' }),
    ),
    session: nullable(
      Closed(sessionParts, {
        description: 'Session of the signed-in person; null if the request came from a program.',
      }),
    ),
    rateLimits: Closed(
      { read: limit, write: limit, search: limit, member: limit, workspace: limit },
      {
        description:
          'Rate limits. `read`, `write` and `search` count each operation of each key, grant or session separately; `member` counts all requests of the member, `workspace` all requests of the workspace.',
      },
    ),
  }),
);

type Rates = Readonly<Record<'read' | 'write' | 'search' | 'member' | 'workspace', number>>;

/** @param perMinute limits; 0 means unlimited */
export function createMe(perMinute: Rates): Route {
  const rateLimits = Object.fromEntries(
    (['read', 'write', 'search', 'member', 'workspace'] as const).map((name) => [
      name,
      perMinute[name] || null,
    ]),
  );
  return defineRoute({
    method: 'GET',
    path: '/api/v1/me',
    name: 'me.get',
    summary: 'Get the member, workspace, scopes and rate limits of this request',
    scope: null,
    anyKey: true,
    limit: 'read',
    responses: { 200: Me },
    read: async (ctx) => ({ ...(await holderOf(ctx)), rateLimits }),
  });
}

async function holderOf(ctx: Context) {
  const { memberId } = ctx.actor;
  if (memberId === undefined)
    throw new ApiError(
      'forbidden',
      'This request acts for no member. Send it with the API key or token of a member.',
    );
  const [holder, ownWorkspace, means] = await Promise.all([
    getEntity(ctx, memberModel, memberId),
    getEntity(ctx, workspaceModel, ctx.workspaceId),
    meansOf(ctx),
  ]);
  return {
    member: pick(memberModel.toResponse(holder, ctx), memberParts),
    workspace: pick(workspaceModel.toResponse(ownWorkspace, ctx), workspaceParts),
    // Omits implied read scopes that do not exist as separate scopes.
    scopes: allScopes.filter((scope) => ctx.scopes.has(scope) || ctx.narrowed?.has(scope)),
    ...means,
  };
}

const findSession = systemStatement<{ id: string; created_at: number; expires_at: number }>(
  'sessions.by_id',
  'a session belongs to an account, which can be a member of several workspaces',
  'SELECT id, created_at, expires_at FROM sessions WHERE id = :id',
);

/** Returns the credential of the request; at most one of `key`, `grant` and `session` is not null. */
async function meansOf(ctx: Context) {
  const none = { key: null, grant: null, session: null };
  const { kind, id } = ctx.actor;
  // Requests are charged to their credential, so the account is the id of the grant or session.
  const { billingAccount } = ctx.scope;
  if (kind === 'api_key') {
    const key = await getEntity(ctx, apiKeyModel, id);
    return { ...none, key: pick(apiKeyModel.toResponse(key, ctx), keyParts) };
  }
  if (kind === 'app' && billingAccount !== null) {
    const granted = await getEntity(ctx, grantModel, billingAccount);
    return { ...none, grant: pick(grantModel.toResponse(granted, ctx), grantParts) };
  }
  const [row] = await ctx.store.readSystem(findSession, { id: billingAccount });
  if (!row) return none;
  const times = { createdAt: isoTime(row.created_at), expiresAt: isoTime(row.expires_at) };
  return { ...none, session: { id: row.id, ...times } };
}

function pick(object: Readonly<Record<string, unknown>>, parts: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(parts).map((name) => [name, object[name]]));
}
