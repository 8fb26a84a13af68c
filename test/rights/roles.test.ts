// Tests every operation for every role. Generates docs/roles.md with `UPDATE_DOCS=1 bun test
// test/rights/roles`.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal } from '../../core/kernel/http/principal.ts';
import type { Route } from '../../core/kernel/http/route.ts';
import { membershipOf } from '../../core/features/people/model.ts';
import { createAuthentication } from '../../core/features/people/authenticate.ts';
import { effectsOf, effectTable, quotaTable, type Effect } from '../../core/kernel/rights/effects.ts';
import { appScopes, roleTable, type Role } from '../../core/kernel/rights/roles.ts';
import { allScopes, showsObjects } from '../../core/kernel/rights/table.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { exampleOf, fillPath, nowhere } from '../api/seeds.ts';
import { asText } from '../value-client.ts';

const hookUrl = 'https://hooks.example/';
let app: TestApp;
let guarded: Route[];
let members: Record<Role, string>;

const added = async (name: string, role: Role): Promise<string> => {
  const teams = role === 'guest' ? { teams: ['ENG'] } : {};
  return (await app.call('POST', '/api/v1/members', { name, role, ...teams })).json.id;
};

beforeAll(async () => {
  app = await startApp();
  guarded = app.app.routes.filter((route) => route.scope !== null && route.kind !== 'stream');
  members = {
    owner: await added('Ana', 'owner'),
    admin: await added('Ana', 'admin'),
    member: await added('Ana', 'member'),
    guest: await added('Ana', 'guest'),
  };
});
afterAll(() => app.stop());

/** Creates a caller of the given type with all scopes of the role of its member. */
async function principalOf(role: Role, actorType: 'user' | 'app' = 'user'): Promise<Principal> {
  const { store } = app.services;
  const memberId = members[role];
  const scope = scopeOf(app.workspace.workspaceId);
  const membership = (await membershipOf(store, scope, memberId))!;
  const id = actorType === 'user' ? memberId : 'https://agent.example/client.json';
  return {
    scope,
    actor: { kind: actorType, id, name: 'Ana', memberId },
    ...membership.rights,
    membership,
    tokenId: role,
  };
}

/** Returns the authorization error of a route; undefined if the caller is authorized. */
async function refusal(principal: Principal, route: Route): Promise<string | undefined> {
  const { error } = await app.app.caller(asText)(route, {
    principal,
    isCounted: false,
    params: paramsOf(route),
    body: exampleOf(route, hookUrl),
    mode: 'simulate',
  });
  const isOfScope =
    error?.code === 'insufficient_scope' && !error.message.startsWith('This operation also needs');
  return isOfScope ? error.message : undefined;
}

/** Parameters that name no object, because authorization precedes the lookup. */
function paramsOf({ path, params }: Route): Record<string, string> {
  const filled = fillPath(path, params, nowhere).split('/');
  const names = path.split('/');
  return Object.fromEntries(
    names.flatMap((name, at) =>
      name.startsWith('{') ? [[name.slice(1, -1), decodeURIComponent(filled[at]!)]] : [],
    ),
  );
}

type Verdict = 'yes' | 'no' | 'of their teams' | 'their own' | 'in part';

/** Returns the cell of docs/roles.md for an operation. */
function verdictOf(route: Route, holder: 'member' | 'guest' | 'app'): Verdict {
  const [namespace, verb] = route.scope!.split(':') as [string, string];
  const right = roleTable[namespace]?.[holder];
  if (!right || (verb === 'write' && right.to === 'read')) return 'no';
  if (right.of === undefined) return 'yes';
  if (right.of === 'teams') return route.rows === 'team' ? 'of their teams' : 'no';
  if (right.of === 'own') return route.rows === 'member' ? 'their own' : 'no';
  return showsObjects(route) ? 'in part' : 'no';
}

test('owners and admins are rejected by no operation for their role', async () => {
  for (const role of ['owner', 'admin'] as const) {
    const principal = await principalOf(role);
    for (const route of guarded)
      expect([role, route.name, await refusal(principal, route)]).toEqual([role, route.name, undefined]);
  }
});

test('members and guests can call the operations of their table, and the errors of all others name the role', async () => {
  for (const role of ['member', 'guest'] as const) {
    const principal = await principalOf(role);
    for (const route of guarded) {
      const [namespace, verb] = route.scope!.split(':') as [string, string];
      const right = roleTable[namespace]?.[role];
      const isGranted = right !== undefined && (verb === 'read' || right.to === 'write');
      const message = await refusal(principal, route);
      expect([role, route.name, message === undefined]).toEqual([
        role,
        route.name,
        verdictOf(route, role) !== 'no',
      ]);
      if (!isGranted)
        expect([route.name, message]).toEqual([
          route.name,
          `This operation needs the scope ${route.scope}, which the role ${role} of Ana does not have. Use a token with the scope, or ask an admin to grant it.`,
        ]);
    }
  }
});

test('every scope is in the table, so no role gets a new scope by default', () => {
  const unsaid = allScopes.filter((scope) => !(scope.split(':')[0]! in roleTable));
  expect(unsaid).toEqual([]);
});

test('a scope for own objects authorizes only the operations limited to own objects', async () => {
  const principal = await principalOf('owner');
  for (const route of guarded) {
    const own = new Map([[route.scope!, { fields: null, teams: null, own: true as const }]]);
    const message = await refusal({ ...principal, scopes: new Set(), narrowed: own }, route);
    expect([route.name, message === undefined]).toEqual([
      route.name,
      /^(api-keys|grants)\./.test(route.name),
    ]);
  }
});

test('members see only their own keys and events of these', async () => {
  const scopes = ['api-keys:write', 'events:read'];
  const { key, id } = (
    await app.call('POST', '/api/v1/api-keys', { name: 'own', scopes, memberId: members.member })
  ).json;
  const others = (await app.call('POST', '/api/v1/api-keys', { name: 'other', scopes })).json;
  const call = app.clientOf(key);
  expect((await call('GET', '/api/v1/api-keys')).json.data.map((one: Json) => one.id)).toEqual([id]);
  expect((await call('GET', `/api/v1/api-keys/${others.id}`)).status).toBe(404);
  const events = (await call('GET', '/api/v1/events?types=api_key.*')).json.data;
  expect(events.map(({ data }: Json) => data.id)).toEqual([id]);
});

test('an app with every grant of an owner has the rights of apps in every operation', async () => {
  const everything = await principalOf('owner', 'app');
  const { authenticate } = createAuthentication({
    committer: app.committer,
    nowMs: app.services.nowMs,
    finders: [
      async (token) =>
        token === 'of-an-app'
          ? { principal: everything, expiresAt: Infinity, usedAt: Infinity, noteUse: () => undefined }
          : null,
    ],
  });
  const principal = (await authenticate('of-an-app'))!;
  expect([...principal.scopes].sort()).toEqual([...appScopes].sort());
  for (const route of guarded)
    expect([route.name, (await refusal(principal, route)) === undefined]).toEqual([
      route.name,
      verdictOf(route, 'app') !== 'no',
    ]);
  const never = [
    'approvals:write',
    'members:write',
    'workspace:write',
    'plugins:write',
    'webhooks:write',
    'import:write',
  ];
  for (const scope of [...never, 'api-keys:read', 'api-keys:write', 'webhooks:read', 'inboxes:read'])
    expect([scope, appScopes.includes(scope)]).toEqual([scope, false]);
});

/**
 * Operations that need a role besides their scope (core/features/people/roles.ts): a member with
 * `members:write` changes only their own entry.
 */
const beyondScopes: Readonly<Record<string, string>> = {
  'members.create': 'no',
  'members.update': 'their own',
  'members.delete': 'no',
  'members.invite': 'no',
  'members.uninvite': 'no',
};

test('a member with members:write cannot change, add, invite or remove other members', async () => {
  const principal = await principalOf('member');
  const writing = guarded.filter(({ scope }) => scope === 'members:write');
  expect(writing.map(({ name }) => name).toSorted()).toEqual(Object.keys(beyondScopes).toSorted());
  const caller = app.app.caller(asText);
  for (const route of writing) {
    const call = { principal, isCounted: false, mode: 'simulate' } as const;
    const body = route.name === 'members.create' ? { name: 'Eve' } : { name: 'Eve', role: 'member' };
    const params = route.path.includes('{id}') ? { id: members.admin } : {};
    const { error } = await caller(route, { ...call, params, body: route.body ? body : undefined });
    expect([route.name, error?.code]).toEqual([route.name, 'forbidden']);
  }
});

test('docs/roles.md matches the table', () => {
  const code = (text: string): string => `\`${text}\``;
  const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;
  const inWords = (namespace: string, holder: 'member' | 'guest' | 'app'): string => {
    const right = roleTable[namespace]![holder];
    if (!right) return '';
    const { to, of } = right;
    if (namespace === 'members' && holder === 'member') return 'read, and write their own name and address';
    if (of === undefined) return to;
    if (typeof of === 'string') return of === 'teams' ? `${to}, of their teams` : `${to} their own`;
    return `${to} only ${of.map(code).join(', ')}`;
  };
  const there = new Set(allScopes.map((scope) => scope.split(':')[0]!));
  const mayOf = (may: Effect['member']): string => (may === 'own' ? 'their own' : may ? 'yes' : 'no');
  const effects = Object.entries<Effect>(effectTable);
  const inTable = (route: Route, holder: 'member' | 'guest' | 'app'): string =>
    effectsOf(route.name)?.some((effect) => !effect[holder]) ? 'no' : verdictOf(route, holder);
  const namespaces = Object.keys(roleTable).filter((namespace) => there.has(namespace));
  const operations = app.app.routes.filter((route) => route.scope !== null);
  const text = [
    '# Roles',
    '',
    'Look up the permissions of each role. A request may do what the role of the member and the scopes of its token both allow; this applies',
    'to API keys, sessions and apps that act for a member. Generated from `core/kernel/rights/roles.ts`, which all endpoints enforce.',
    '',
    'Owners and admins may do everything, except that only owners may add, change and remove owners, and create keys for them. Guests see the',
    'teams in `teams` of the member, and objects that belong to no team. Write includes read.',
    '',
    row('Scopes', 'Member', 'Guest', 'App (maximum)'),
    '|---|---|---|---|',
    ...namespaces.map((namespace) =>
      row(
        code(namespace),
        ...(['member', 'guest', 'app'] as const).map((holder) => inWords(namespace, holder)),
      ),
    ),
    '',
    '## Side effects',
    '',
    'These operations have an effect besides writing objects. The effect may need a scope in addition to the scope of the operation. Owners',
    'and admins may cause every effect with their own key or session; for an app that acts for them, the column `App` applies. Generated from',
    '`core/kernel/rights/effects.ts`.',
    '',
    row('Effect', 'Scope', 'Member', 'Guest', 'App', 'Operations'),
    '|---|---|---|---|---|---|',
    ...effects.map(([name, { doc, scope, member, guest, app: ofApp, operations: ofEffect, calls = [] }]) =>
      row(
        `${code(name)}: ${doc}`,
        scope === undefined ? '' : code(scope),
        ...[member, guest, ofApp].map(mayOf),
        [
          ...Object.entries(ofEffect).map(
            ([one, when]) => code(one) + (when === 'always' ? '' : ` (${when})`),
          ),
          ...calls.map((call) => `${code(call)} of plugins`),
        ].join(', '),
      ),
    ),
    '',
    '## Quotas',
    '',
    row('Quota', 'Numbers', 'Member', 'Guest', 'App'),
    '|---|---|---|---|---|',
    ...Object.entries(quotaTable).map(([name, { doc, numbers, member, guest, app: ofApp }]) =>
      row(`${code(name)}: ${doc}`, numbers, member, guest, ofApp),
    ),
    '',
    '## Operations',
    '',
    'Owners and admins may call every operation. Operations that need no scope are omitted.',
    '',
    row('Operation', 'Scope', 'Member', 'Guest', 'App'),
    '|---|---|---|---|---|',
    ...operations.map((route) =>
      row(
        code(route.name),
        code(route.scope!),
        beyondScopes[route.name] ?? inTable(route, 'member'),
        ...(['guest', 'app'] as const).map((holder) => inTable(route, holder)),
      ),
    ),
    '',
  ].join('\n');
  const file = join(import.meta.dir, '../../docs/roles.md');
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
