// `GET /me`: who the caller is, what it may do, and how much of it a minute. Any token may ask, whatever its scopes.
import { Type } from 'typebox';
import { getEntity } from '../changes/operations.ts';
import { shownProperties } from '../contract/schemas.ts';
import type { Context } from '../context.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { ApiError } from '../lib/errors.ts';
import { Closed, named, nullable } from '../lib/schema.ts';
import { allScopes } from '../rights/scopes.ts';
import { apiKey } from './api-keys/contract.ts';
import { apiKeyKind } from './api-keys/kind.ts';
import { member } from './members/contract.ts';
import { memberKind } from './members/kind.ts';
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
const limit = nullable(Type.Integer({ minimum: 1, description: 'Requests a minute; null: not limited.' }));

const Me = named(
  'Me',
  Closed({
    member: Closed(memberParts, { description: 'Whom the token acts for.' }),
    workspace: Closed(workspaceParts, { description: 'All that the token reaches is in it.' }),
    key: nullable(
      Closed(keyParts, {
        description: 'The key that this request came with; null where it came with another token.',
      }),
    ),
    app: nullable(
      Closed(
        {
          id: Type.String({ description: 'Its client id.' }),
          name: Type.String({ description: 'What it calls itself.' }),
        },
        { description: 'The app that acts for the member; null where the member does.' },
      ),
    ),
    scopes: Type.Array(Type.String(), {
      description:
        'What the token may do now: what it was given and the role of the member both allow. Of some, guests and members hold what is of their teams, or their own.',
    }),
    rateLimits: Closed(
      { read: limit, write: limit, search: limit, workspace: limit },
      {
        description:
          'By class of operation, for each operation and key apart; `workspace` is for all requests of the workspace together.',
      },
    ),
  }),
);

type Rates = Readonly<Record<'read' | 'write' | 'search' | 'workspace', number>>;

/** @param perMinute 0 switches a limit off */
export function createMe(perMinute: Rates): Route {
  const rateLimits = Object.fromEntries(
    (['read', 'write', 'search', 'workspace'] as const).map((name) => [name, perMinute[name] || null]),
  );
  return defineRoute({
    method: 'GET',
    path: '/api/v1/me',
    name: 'me.get',
    summary: 'Get what the token of this request is: its member, workspace, scopes and limits',
    scope: null,
    anyKey: true,
    limit: 'read',
    responses: { 200: Me },
    read: async (ctx) => ({ ...(await holderOf(ctx)), rateLimits }),
  });
}

async function holderOf(ctx: Context) {
  const { kind, memberId, id, name } = ctx.actor;
  if (memberId === undefined)
    throw new ApiError('forbidden', 'Only who acts for a member has an answer here.');
  const held = new Set([...ctx.scopes, ...(ctx.narrowed?.keys() ?? [])]);
  const [holder, place, key] = await Promise.all([
    getEntity(ctx, memberKind, memberId),
    getEntity(ctx, workspaceKind, ctx.workspaceId),
    kind === 'api_key' ? getEntity(ctx, apiKeyKind, id) : null,
  ]);
  return {
    member: pick(memberKind.wire(holder, ctx), memberParts),
    workspace: pick(workspaceKind.wire(place, ctx), workspaceParts),
    key: key && pick(apiKeyKind.wire(key, ctx), keyParts),
    app: kind === 'app' ? { id, name } : null,
    scopes: allScopes.filter((scope) => held.has(scope)),
  };
}

function pick(shown: Readonly<Record<string, unknown>>, parts: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(parts).map((name) => [name, shown[name]]));
}
