// Isolation of workspaces (docs/spec/api.md › Scopes): every text of a query or body, at any depth, gets every id of
// another workspace. The response equals that for an unknown id, and the rows of the other workspace do not change.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TSchema } from 'typebox';
import type { Route } from '../../core/kernel/http/route.ts';
import { issueFiltering } from '../../core/features/issues/query/filter.ts';
import { startApp, type Reply, type TestApp } from '../app.ts';
import { shared } from './arbitrary.ts';
import { rowsOf } from './rows.ts';
import { exampleOf, fillPath, nowhere, seed, type Seeds } from './seeds.ts';

let app: TestApp;
let foreignWorkspace: string;
let own: Seeds;
let foreign: Seeds;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const hookUrl = `http://127.0.0.1:${receiver.port}/`;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  // A key that is no word of the titles: a search for words of a foreign id finds own issues with these words.
  const other = await app.addWorkspace('Other', 'EXTRA');
  foreignWorkspace = other.workspaceId;
  own = await seed(app, app.call, 'ENG', hookUrl);
  foreign = await seed(app, app.clientOf(other.apiKey), 'EXTRA', hookUrl);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/** The response without values that differ between any two responses: new ids and secrets, and the submitted id. */
function visible({ status, headers, text }: Reply, requestedId: string): unknown {
  const masked = text
    .replaceAll(requestedId, '<asked>')
    // A sort may have a leading minus.
    .replaceAll(requestedId.replace(/^-/, ''), '<asked>')
    .replaceAll(/"(requestId|endCursor)":"[^"]*"/g, '"$1":"<fresh>"')
    // Generated values of a simulated creation.
    .replace(/^({"data":\[)?{"id":"[^"]*"/, '$1{"id":"<fresh>"')
    .replaceAll(/"backtest":{"id":"[^"]*"/g, '"backtest":{"id":"<fresh>"')
    .replaceAll(/"(key|prefix|secret)":"[^"]{10,}"/g, '"$1":"<fresh>"')
    .replaceAll(/"(url|pageUrl)":"[^"]*\/[a-z]{3}_\w+"/g, '"$1":"<fresh>"');
  return [status, masked, [...headers.keys()].filter((name) => name !== 'date').sort()];
}

/** Paths of texts and ids in a schema; `*` stands for an entry of a list or a record. */
function textPaths(schema: TSchema, at: readonly string[] = []): string[][] {
  const { type, properties, items, anyOf, patternProperties, ...rest } = schema as {
    type?: string | string[];
    enum?: unknown;
    properties?: Record<string, TSchema>;
    patternProperties?: Record<string, TSchema>;
    items?: TSchema;
    anyOf?: TSchema[];
  };
  if (rest.enum) return [];
  if (anyOf) return anyOf.flatMap((branch) => textPaths(branch, at));
  if (items) return textPaths(items, [...at, '*']);
  if (properties)
    return Object.entries(properties).flatMap(([name, inner]) => textPaths(inner, [...at, name]));
  if (patternProperties)
    return Object.values(patternProperties).flatMap((inner) => textPaths(inner, [...at, '*']));
  return [type].flat().includes('string') ? [[...at]] : [];
}

/** `example` with `id` at the given path; records also get it as a key. */
function placed(example: unknown, [step, ...rest]: readonly string[], id: string): unknown {
  if (step === undefined) return id;
  if (step === '*')
    return rest.length === 0 ? [id] : [placed(Array.isArray(example) ? example[0] : {}, rest, id)];
  return { ...Object(example), [step]: placed(Object(example)[step], rest, id) };
}

const forms = Object.keys(nowhere);
const someForms = shared(forms, 3);

async function compare(ask: (id: string) => Promise<Reply>, textPath: string): Promise<number> {
  const tried = someForms();
  for (const form of tried) {
    const there = foreign[form]!;
    // A token is random and may begin with a hyphen, which some fields reject whoever owns it.
    const none = form === 'token' ? there.charAt(0) + nowhere.token!.slice(1) : nowhere[form]!;
    expect([textPath, form, visible(await ask(there), there)]).toEqual([
      textPath,
      form,
      visible(await ask(none), none),
    ]);
  }
  return tried.length;
}

const pathOf = (route: Route): string => fillPath(route.path, route.params, own);

test('a foreign id in any query parameter is answered as an unknown id', async () => {
  const before = await rowsOf(app, foreignWorkspace);
  let compared = 0;
  for (const route of app.app.routes) {
    // The name of a file is never an id.
    if (!route.query || route.scope === null || route.kind === 'upload') continue;
    for (const [name] of textPaths(route.query))
      compared += await compare(
        (id) => app.call(route.method, `${pathOf(route)}?${name}=${encodeURIComponent(id)}`),
        `${route.name} ?${name}`,
      );
  }
  expect(compared).toBeGreaterThan(200);
  for (const field of Object.keys(issueFiltering.fields))
    for (const test of ['eq', 'in', 'nin', 'contains', 'startsWith', 'gt'])
      await compare((id) => {
        const filter = {
          [field]: { [test]: test.endsWith('a foreign id is answered as an unknown id in') ? [id] : id },
        };
        return app.call('GET', `/api/v1/issues?filter=${encodeURIComponent(JSON.stringify(filter))}`);
      }, `filter ${field} ${test}`);
  expect(await rowsOf(app, foreignWorkspace)).toBe(before);
}, 60_000);

test('every text of every body', async () => {
  const before = await rowsOf(app, foreignWorkspace);
  let compared = 0;
  for (const route of app.app.routes) {
    if (!route.body || route.scope === null) continue;
    for (const textPath of textPaths(route.body))
      compared += await compare(
        (id) => {
          const body = placed(exampleOf(route, hookUrl), textPath, id) as Record<string, unknown>;
          if (textPath.at(-1) === 'teamId') delete body.team;
          return app.call(route.method, pathOf(route), body, { 'tatami-mode': 'simulate' });
        },
        `${route.name} ${textPath.join('.')}`,
      );
  }
  expect(compared).toBeGreaterThan(150);
  // Keys of a record are ids, too.
  const transitions = (id: string) => ({ transitions: { [id]: [own.state] } });
  await compare((id) => app.call('PATCH', `/api/v1/teams/${own.team}`, transitions(id)), 'transitions');
  expect(await rowsOf(app, foreignWorkspace)).toBe(before);
}, 60_000);
