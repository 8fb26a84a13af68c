// `GET /me`: whose key this is, what it may do, and how much of it a minute. Any key may ask, whatever its scopes.
import { Type } from 'typebox';
import { getEntity } from '../changes/operations.ts';
import { shownProperties } from '../contract/schemas.ts';
import type { Context } from '../context.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { ApiError } from '../lib/errors.ts';
import { Closed, named, nullable } from '../lib/schema.ts';
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
    member: Closed(memberParts, { description: 'Whom the key acts for.' }),
    workspace: Closed(workspaceParts, { description: 'All that the key reaches is in it.' }),
    key: Closed(keyParts, { description: 'The key that this request came with.' }),
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
    summary: 'Get what the key of this request is: its member, workspace, scopes and limits',
    scope: null,
    anyKey: true,
    limit: 'read',
    responses: { 200: Me },
    read: async (ctx) => ({ ...(await holderOf(ctx)), rateLimits }),
  });
}

async function holderOf(ctx: Context) {
  const { memberId, id } = ctx.actor;
  if (memberId === undefined) throw new ApiError('forbidden', 'Only the key of a member has an answer here.');
  const [holder, place, key] = await Promise.all([
    getEntity(ctx, memberKind, memberId),
    getEntity(ctx, workspaceKind, ctx.workspaceId),
    getEntity(ctx, apiKeyKind, id),
  ]);
  return {
    member: pick(memberKind.wire(holder, ctx), memberParts),
    workspace: pick(workspaceKind.wire(place, ctx), workspaceParts),
    key: pick(apiKeyKind.wire(key, ctx), keyParts),
  };
}

function pick(shown: Readonly<Record<string, unknown>>, parts: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(parts).map((name) => [name, shown[name]]));
}
