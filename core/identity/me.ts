// `GET /me`: whom a request acts for, by a key, by what an app was granted or in a session, what it may do, and how much of it a minute.
// Whoever acts for a member may ask, whatever the scopes.
import { Type } from 'typebox';
import { getEntity, isoTime } from '../changes/operations.ts';
import { shownProperties } from '../contract/schemas.ts';
import type { Context } from '../context.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { ApiError } from '../lib/errors.ts';
import { Closed, described, idOf, named, nullable, time } from '../lib/schema.ts';
import { allScopes } from '../rights/scopes.ts';
import { systemStatement } from '../store/statement.ts';
import { apiKey } from './api-keys/contract.ts';
import { apiKeyKind } from './api-keys/kind.ts';
import { grant } from './grants/contract.ts';
import { grantKind } from './grants/kind.ts';
import { member } from './members/contract.ts';
import { memberKind } from './members/kind.ts';
import { sessionPrefix } from './sessions/sessions.ts';
import { workspace } from './workspace/contract.ts';
import { workspaceKind } from './workspace/workspace.ts';

const of = (properties: ReturnType<typeof shownProperties>, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, properties[name]!]));

const memberParts = of(shownProperties(member), 'id', 'name', 'email', 'role');
const workspaceParts = of(shownProperties(workspace), 'id', 'name');
const keyParts = of(
  shownProperties(apiKey),
  'id',
  'name',
  'prefix',
  'scopes',
  'expiresAt',
  'lastUsedAt',
  'createdAt',
);
const grantParts = of(
  shownProperties(grant),
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
  createdAt: described(time, 'When the person signed in.'),
  expiresAt: described(time, 'When it ends at the latest.'),
};
const limit = nullable(Type.Integer({ minimum: 1, description: 'Requests a minute; null: not limited.' }));

const Me = named(
  'Me',
  Closed({
    member: Closed(memberParts, { description: 'Whom the request acts for.' }),
    workspace: Closed(workspaceParts, { description: 'All that the request reaches is in it.' }),
    scopes: Type.Array(Type.String(), {
      description:
        'What it may do now, with the reads that writes imply: of what the key or grant says, what the role of the member lets it.',
    }),
    key: nullable(
      Closed(keyParts, { description: 'The key that it came with; null where it came without one.' }),
    ),
    grant: nullable(
      Closed(grantParts, { description: 'What lets the app that sent it act; null where no app did.' }),
    ),
    session: nullable(
      Closed(sessionParts, { description: 'Where the person is signed in; null where no person sent it.' }),
    ),
    rateLimits: Closed(
      { read: limit, write: limit, search: limit, member: limit, workspace: limit },
      {
        description:
          'By class of operation, for each operation and each key, grant or session apart; `member` is for all requests of the member together, `workspace` for all of the workspace.',
      },
    ),
  }),
);

type Rates = Readonly<Record<'read' | 'write' | 'search' | 'member' | 'workspace', number>>;

/** @param perMinute 0 switches a limit off */
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
    summary: 'Get whom this request acts for: member, workspace, scopes and limits',
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
    throw new ApiError('forbidden', 'Only who acts for a member has an answer here.');
  const [holder, place, means] = await Promise.all([
    getEntity(ctx, memberKind, memberId),
    getEntity(ctx, workspaceKind, ctx.workspaceId),
    meansOf(ctx),
  ]);
  return {
    member: pick(memberKind.wire(holder, ctx), memberParts),
    workspace: pick(workspaceKind.wire(place, ctx), workspaceParts),
    // An implied read that is no scope of its own is nothing to tell.
    scopes: allScopes.filter((scope) => ctx.scopes.has(scope) || ctx.narrowed?.has(scope)),
    ...means,
  };
}

const findSession = systemStatement<{ id: string; created_at: number; expires_at: number }>(
  'sessions.by_id',
  'a session is of an account, which has seats in several workspaces',
  'SELECT id, created_at, expires_at FROM sessions WHERE id = :id',
);

/** By what the request came: one of the three. */
async function meansOf(ctx: Context) {
  const none = { key: null, grant: null, session: null };
  const { kind, id } = ctx.actor;
  // What a request is counted against is what it came with.
  const { payer } = ctx.scope;
  if (kind === 'api_key') {
    const key = await getEntity(ctx, apiKeyKind, id);
    return { ...none, key: pick(apiKeyKind.wire(key, ctx), keyParts) };
  }
  if (kind === 'app' && payer !== null) {
    const granted = await getEntity(ctx, grantKind, payer);
    return { ...none, grant: pick(grantKind.wire(granted, ctx), grantParts) };
  }
  const [row] = await ctx.store.readSystem(findSession, { id: payer });
  if (!row) return none;
  const times = { createdAt: isoTime(row.created_at), expiresAt: isoTime(row.expires_at) };
  return { ...none, session: { id: row.id, ...times } };
}

function pick(shown: Readonly<Record<string, unknown>>, parts: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(parts).map((name) => [name, shown[name]]));
}
