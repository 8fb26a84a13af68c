// Scopes (docs/spec/api.md › Scopes): every operation × no token, a wrong token, each single scope, and all scopes
// except the required one. The matrix is committed as docs/scopes.md; `UPDATE_DOCS=1 bun test test/api/scopes` writes
// it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { namespaceScopes, ownScopes } from '../../core/kernel/events/catalogue.ts';
import { allScopes, narrowable, writtenFields } from '../../core/kernel/rights/table.ts';
import { hostCallsOf } from '../../core/features/plugins/host-calls/gateway.ts';
import { needsCaller, type Route } from '../../core/kernel/http/route.ts';
import { startApp, type Client, type TestApp } from '../app.ts';
import { fillPath, nowhere } from './seeds.ts';

let app: TestApp;
let guarded: Route[];

beforeAll(async () => {
  app = await startApp();
  guarded = app.app.routes.filter((route) => route.scope !== null);
});
afterAll(() => app.stop());

const ask = (call: Client, route: Route) =>
  call(route.method, fillPath(route.path, route.params, nowhere), route.body ? route.example : undefined, {
    'tatami-mode': 'simulate',
  });

/** A write scope implies its read scope, and one scope is part of another. */
const satisfies = (granted: string, needed: string): boolean =>
  granted === needed ||
  (needed.endsWith(':read') && granted === needed.replace(/:read$/, ':write')) ||
  (needed === 'backtests:write' && granted === 'plugins:write');

async function refusedForScope(call: Client, route: Route): Promise<boolean> {
  const { status, json } = await ask(call, route);
  return (
    status === 403 &&
    json.error.code === 'insufficient_scope' &&
    json.error.message.startsWith(`This operation needs the scope ${route.scope},`)
  );
}

test('every guarded operation without a valid token is answered with 401', async () => {
  const strangers = [
    app.clientOf(null),
    app.clientOf('ttm_aaaaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcccccc'),
    app.clientOf(`${app.workspace.apiKey.slice(0, -1)}!`),
  ];
  for (const route of guarded)
    for (const call of strangers)
      expect([route.name, (await ask(call, route)).status]).toEqual([route.name, 401]);
});

test('every operation × every single scope: refused unless the scope is the required one or implies it', async () => {
  for (const scope of allScopes) {
    const call = app.clientOf(await app.mintKey([scope]));
    for (const route of guarded)
      expect([route.name, scope, await refusedForScope(call, route)]).toEqual([
        route.name,
        scope,
        !satisfies(scope, route.scope!),
      ]);
  }
});

test('every operation refuses a key with all scopes except the required one', async () => {
  for (const needed of new Set(guarded.map((route) => route.scope!))) {
    const call = app.clientOf(await app.mintKey(allScopes.filter((scope) => !satisfies(scope, needed))));
    for (const route of guarded.filter(({ scope }) => scope === needed))
      expect([route.name, await refusedForScope(call, route)]).toEqual([route.name, true]);
  }
});

test('docs/scopes.md is the matrix', () => {
  const { routes } = app.app;
  const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
  const list = (names: readonly string[]): string => names.map(code).join(', ');
  const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;
  const hostCalls = new Map([...hostCallsOf(routes)].map(([call, { route }]) => [route.name, call]));
  const operations = routes.map((route) =>
    row(
      code(`${route.method} ${route.path}`),
      route.scope === null ? (needsCaller(route) ? 'any key' : 'none') : code(route.scope),
      route.also?.words ?? '',
      route.kind === 'write' ? list(writtenFields(route)) : '',
      route.own ? 'own data, no grant needed' : code(hostCalls.get(route.name) ?? ''),
      route.limit,
    ),
  );
  const narrowings = allScopes.flatMap((scope) => {
    const { fields, teams } = narrowable(routes, scope);
    if (fields.length === 0 && !teams) return [];
    return [row(code(scope), list(fields), teams ? code('team') : '')];
  });
  const events = Object.entries(namespaceScopes).map(([namespace, scope]) =>
    row(
      code(`${namespace}.*`),
      namespace in ownScopes
        ? `${code(scope)}; a member's own with ${code(ownScopes[namespace]!)}`
        : code(scope),
    ),
  );
  const text = [
    '# Scopes',
    '',
    'Required scope and written fields of each operation. A write scope implies its read scope. The table is generated from the routes,',
    'which apply to requests with a key, host calls of plugins, subscriptions of plugins, and narrowings.',
    '',
    row('Operation', 'Scope', 'Additional scopes', 'Writes', 'Host call', 'Rate limit class'),
    '|---|---|---|---|---|---|',
    ...operations,
    '',
    '## Narrowings',
    '',
    'A plugin can narrow a requested scope: `fields` lists the fields that it may write, or read for a read scope;',
    '`where.team` lists the keys of the only teams whose',
    'objects it may read and write, and whose events it receives. Any other narrowing is refused at installation.',
    '',
    row('Scope', '`fields`', '`where`'),
    '|---|---|---|',
    ...narrowings,
    '',
    '## Events',
    '',
    'The scope that a webhook, the feed, the stream or a plugin subscription needs to read events.',
    '',
    row('Events', 'Scope'),
    '|---|---|',
    ...events,
    '',
  ].join('\n');
  const file = join(import.meta.dir, '../../docs/scopes.md');
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
