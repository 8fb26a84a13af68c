// Every operation and host call with an effect beyond objects has a row in the table of effects, and no
// caller exceeds it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import type { Principal } from '../../core/kernel/http/principal.ts';
import { pathOf, writesRows, type Route } from '../../core/kernel/http/route.ts';
import {
  effectsOf,
  effectTable,
  quotaTable,
  sensitiveOperations,
  type Effect,
  type EffectName,
} from '../../core/kernel/rights/effects.ts';
import { appScopes, roleTable, rightsOfRole } from '../../core/kernel/rights/roles.ts';
import { allScopes, expandScopes, writtenFields } from '../../core/kernel/rights/table.ts';
import { ownCalls } from '../../core/features/plugins/host-calls/bridge.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import { startApp, type TestApp } from '../app.ts';
import { exampleOf } from '../api/seeds.ts';
import { asText } from '../value-client.ts';

let app: TestApp;
let routes: readonly Route[];
const effects = Object.entries(effectTable) as [EffectName, Effect][];
const effectsByRoute = new Map(effectsPerRoute());

function effectsPerRoute(): [string, EffectName[]][] {
  const operations = new Set(effects.flatMap(([, effect]) => Object.keys(effect.operations)));
  return [...operations].map((operation) => [
    operation,
    effects.flatMap(([name, effect]) => (operation in effect.operations ? [name] : [])),
  ]);
}

beforeAll(async () => {
  app = await startApp();
  ({ routes } = app.app);
});
afterAll(() => app.stop());

/** True if a response of a route has a property of this name at any depth. */
const shows = (route: Route, property: string): boolean =>
  Object.values(route.responses).some((schema) => hasProperty(schema, property));
function hasProperty(schema: TSchema | null, property: string): boolean {
  return schema !== null && JSON.stringify(schema).includes(`"${property}":{`);
}

/** Signs by which a route is known to have an effect, independently of its declaration. */
const signs: Readonly<
  Record<string, { readonly matches: (route: Route) => boolean; readonly one: readonly EffectName[] }>
> = {
  'it purges': { matches: ({ path, name }) => /purge/.test(path + name), one: ['purge'] },
  'it shows logs of plugins': { matches: (route) => shows(route, 'logs'), one: ['logs'] },
  'it is about recordings': {
    matches: ({ path }) => /\/(recording|replay)$/.test(path) && path.includes('/runs/'),
    one: ['recordings'],
  },
  'it is about stored values of plugins': { matches: ({ path }) => /\/kv(\/|$)/.test(path), one: ['kv'] },
  'it shows a secret': {
    matches: ({ secret }) => secret === true,
    one: ['keys', 'signing-secrets', 'memberships'],
  },
  'it sets secrets of plugins': {
    matches: (route) => /\/secrets(\/|$)/.test(route.path) && writesRows(route),
    one: ['plugin-secrets'],
  },
  'it calls an action': {
    matches: (route) => route.path.includes('/actions/') && writesRows(route),
    one: ['outside-requests'],
  },
  'it grants memberships or roles': {
    matches: (route) =>
      (route.path.startsWith('/api/v1/members') && writesRows(route) && route.method !== 'DELETE') ||
      route.name.startsWith('join.take'),
    one: ['memberships'],
  },
  'it sends to receivers of webhooks': {
    matches: ({ path, name, kind }) =>
      kind === 'write' &&
      /\/(webhooks|deliveries)\/\{id\}\/(ping|samples|replays|replay)$/.test(path) &&
      !/cancel/.test(name),
    one: ['webhook-requests'],
  },
};

/**
 * Scopes whose writes do more than change objects. A route under them has an effect, or has an entry here
 * with the reason.
 */
const watched = /^(plugins|webhooks|members|oauth-apps|api-keys):write$/;
const plain: Readonly<Record<string, string>> = {
  'members.delete': 'takes away',
  'members.uninvite': 'takes away',
  'api-keys.delete': 'takes away',
  'oauth-apps.update': 'shows no secret, and grants nothing',
  'oauth-apps.delete': 'takes away',
  'plugins.delete': 'takes away',
  'plugins.consent.refuse': 'takes away',
  'plugins.close-route': 'takes away',
  'plugins.stop-shadow': 'takes away',
  'plugins.gate': 'runs nothing that writes or sends',
  'backtests.create': 'runs nothing that writes or sends',
  'backtests.cancel': 'takes away',
  'runs.undo': 'writes objects, within the scopes of these',
  'proposals.undo': 'writes objects, within the scopes of these',
  'undos.undo': 'writes objects, within the scopes of these',
  'plugins.undo': 'writes objects, within the scopes of these',
  'webhooks.delete': 'takes away',
  'deliveries.cancel': 'takes away',
  'replays.cancel': 'takes away',
  'events.sample': 'returns a sample, and sends nothing',
};

test('a route that sends outside, opens secrets, reads plugin storage, purges or grants memberships declares its effect', () => {
  const unnamed = Object.entries(signs).flatMap(([sign, { matches, one }]) =>
    routes
      .filter(
        (route) =>
          matches(route) && !(effectsByRoute.get(route.name) ?? []).some((name) => one.includes(name)),
      )
      .map(({ name }) => `${name}: ${sign}`),
  );
  expect(unnamed).toEqual([]);
  for (const [sign, { matches }] of Object.entries(signs))
    expect([sign, routes.some(matches)]).toEqual([sign, true]);
});

test('every write under a watched scope declares an effect, or the reason for none', () => {
  const writes = routes.filter((route) => writesRows(route) && watched.test(route.scope ?? ''));
  expect(
    writes.filter(({ name }) => !effectsByRoute.has(name) && !(name in plain)).map(({ name }) => name),
  ).toEqual([]);
  const known = new Set(writes.map(({ name }) => name));
  expect(Object.keys(plain).filter((name) => !known.has(name) || effectsByRoute.has(name))).toEqual([]);
});

test('every host call outside the API has a row, and the table names only existing operations', () => {
  const calls = effects.flatMap(([, effect]) => effect.calls ?? []);
  expect(calls.toSorted()).toEqual([...ownCalls.keys()].toSorted());
  const there = new Set(routes.map(({ name }) => name));
  expect([...effectsByRoute.keys()].filter((name) => !there.has(name))).toEqual([]);
});

/** Operations with an effect that need no recent sign-in, and the reason. */
const ordinary: Readonly<Record<string, string>> = {
  'plugins.run-schedule': 'runs code that was approved',
  'runs.retry': 'runs code that was approved',
  'plugins.catch-up': 'runs code that was approved',
  'proposals.rerun': 'runs code that was approved, and the proposal still needs an approval',
  'runs.recording': 'reads',
  'runs.replay': 'writes and sends nothing',
  'runs.cancel': 'takes away',
  'plugins.kv.list': 'reads',
  'plugins.kv.get': 'reads',
  'plugins.kv.set': 'grants nothing',
  'plugins.kv.delete': 'grants nothing',
  'plugins.unschedule': 'takes away',
  'issues.purge': 'takes away',
  'webhooks.ping': 'sends to a receiver that was approved',
  'webhooks.sample': 'sends to a receiver that was approved',
  'webhooks.replay': 'sends to a receiver that was approved',
  'deliveries.replay': 'sends to a receiver that was approved',
};

test('every operation with an effect needs a recent sign-in, or has the reason why not', () => {
  const always = routes.filter(({ name }) => effectsOf(name) !== undefined).map(({ name }) => name);
  expect(always.filter((name) => !sensitiveOperations.has(name)).toSorted()).toEqual(
    Object.keys(ordinary).toSorted(),
  );
});

test('every operation and field that needs a recent sign-in exists', () => {
  for (const [name, fields] of sensitiveOperations) {
    const route = routes.find((one) => one.name === name);
    expect([name, route !== undefined]).toEqual([name, true]);
    if (fields !== 'always') expect(writtenFields(route!)).toEqual(expect.arrayContaining([...fields]));
  }
});

test('a row grants no caller more than the table of roles', () => {
  for (const [name, { scope, ...may }] of effects) {
    if (scope === undefined) continue;
    const namespace = roleTable[scope.split(':')[0]!]!;
    for (const holder of ['member', 'guest', 'app'] as const)
      expect([name, holder, may[holder]]).toEqual([name, holder, namespace[holder]?.to === 'write']);
    expect({ name, isOffered: appScopes.includes(scope) }).toEqual({ name, isOffered: may.app === true });
  }
});

test('apps, plugins, members and guests with every scope are rejected for each effect that the table denies them', async () => {
  const caller = app.app.caller(asText);
  const rights = { scopes: expandScopes(allScopes), narrowed: null };
  const scope = scopeOf(app.workspace.workspaceId);
  const principalOf = (holder: 'member' | 'guest' | 'app' | 'plugin'): Principal => ({
    ...{ scope, ...rights, tokenId: holder },
    actor: {
      kind: holder === 'app' || holder === 'plugin' ? holder : 'api_key',
      ...{ id: holder, name: holder, memberId: app.workspace.userId },
    },
    ...(holder === 'plugin'
      ? {}
      : {
          membership: {
            name: 'Ana',
            role: holder === 'app' ? 'owner' : holder,
            rights: rightsOfRole('owner', []),
          },
        }),
  });
  for (const route of routes.filter(({ name }) => effectsOf(name) !== undefined)) {
    const ids = { id: 'nowhere', name: 'nowhere', key: 'nowhere', run: 'nowhere' };
    for (const holder of ['member', 'guest', 'app', 'plugin'] as const) {
      const principal = principalOf(holder);
      const call = { principal, isCounted: false, mode: 'simulate', params: ids } as const;
      const { error } = await caller(route, { ...call, body: exampleOf(route, 'https://hooks.example/') });
      const isDenied = holder === 'plugin' || effectsOf(route.name)!.some((effect) => !effect[holder]);
      expect([route.name, pathOf(route, ids), holder, error?.code === 'forbidden']).toEqual([
        ...[route.name, pathOf(route, ids), holder],
        isDenied,
      ]);
    }
  }
});

test('every quota of the table equals a number in the code', () => {
  for (const [name, { numbers }] of Object.entries(quotaTable)) {
    const [, constant = '', file = ''] = /^`(\w+)` of `([\w/.-]+)`/.exec(numbers) ?? [];
    const source = file === '' ? '' : readFileSync(join(import.meta.dir, '../..', file), 'utf8');
    expect([name, new RegExp(`\\b${constant}\\b`).test(source)]).toEqual([name, constant !== '']);
  }
});
