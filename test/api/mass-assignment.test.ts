// Mass assignment (docs/spec/api.md › The API): every object in every body refuses read-only and unknown properties by
// their path, and the request has no effect. Generated from the routes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TSchema } from 'typebox';
import type { Route } from '../../core/kernel/http/route.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { rowsOf } from './rows.ts';
import { exampleOf, fillPath, seed, type Seeds } from './seeds.ts';

let app: TestApp;
let own: Seeds;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const hookUrl = `http://127.0.0.1:${receiver.port}/`;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  own = await seed(app, app.call, 'ENG', hookUrl);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const propertiesOf = (schema: TSchema | null | undefined): Record<string, TSchema> =>
  (schema as { properties?: Record<string, TSchema> } | null | undefined)?.properties ?? {};

/** Columns, owners, guards and prototype members. */
const never = [
  'workspaceId',
  'workspace_id',
  'deletedAt',
  'secretHash',
  'issueCount',
  'isAdmin',
  'constructor',
  'toString',
  'id',
  'version',
];

/** The closed objects of a body, as paths; `0` stands for the first entry of a list. */
function closedObjects(schema: TSchema, at: readonly string[] = []): { at: string[]; known: string[] }[] {
  const { additionalProperties, items } = schema as { additionalProperties?: unknown; items?: TSchema };
  const inner = [
    ...Object.entries(propertiesOf(schema)).flatMap(([name, part]) => closedObjects(part, [...at, name])),
    ...(items ? closedObjects(items, [...at, '0']) : []),
  ];
  return additionalProperties === false
    ? [{ at: [...at], known: Object.keys(propertiesOf(schema)) }, ...inner]
    : inner;
}

function withProperty(
  body: unknown,
  [step, ...rest]: readonly string[],
  name: string,
  value: unknown,
): unknown {
  if (step === undefined) return { ...Object(body), [name]: value };
  const inner = withProperty(Object(body)[step], rest, name, value);
  if (Array.isArray(body)) return [inner, ...body.slice(1)];
  return body === undefined && step === '0' ? [inner] : { ...Object(body), [step]: inner };
}

test('every object of every body refuses read-only and unknown properties by their path', async () => {
  const before = await rowsOf(app, app.workspace.workspaceId);
  let requests = 0;
  const refused = async (
    route: Route,
    at: readonly string[],
    name: string,
    value: unknown,
  ): Promise<void> => {
    const body = withProperty(exampleOf(route, hookUrl), at, name, value);
    const { status, json } = await app.call(route.method, fillPath(route.path, route.params, own), body);
    const path = [...at, name].join('.');
    const isRefused = json?.error?.details?.some(
      (detail: Json) => detail.path === path && detail.issue === 'unknown_field',
    );
    expect([route.name, path, status, isRefused]).toEqual([route.name, path, 422, true]);
    requests++;
  };
  for (const route of app.app.routes) {
    if (!route.body) continue;
    const responseFields = propertiesOf(Object.values(route.responses)[0]);
    const objects = closedObjects(route.body);
    expect([route.name, objects.length > 0]).toEqual([route.name, true]);
    for (const { at, known } of objects)
      for (const name of new Set([...Object.keys(responseFields), ...never])) {
        if (known.includes(name)) continue;
        await refused(route, at, name, 'x');
        await refused(route, at, name, null);
      }
  }
  expect(requests).toBeGreaterThan(500);
  expect(await rowsOf(app, app.workspace.workspaceId)).toBe(before);
});

test('a write without a body schema refuses a body with content', async () => {
  const before = await rowsOf(app, app.workspace.workspaceId);
  let requests = 0;
  for (const route of app.app.routes) {
    if (route.kind !== 'write' || route.body) continue;
    const path = fillPath(route.path, route.params, own);
    const { status, json } = await app.call(route.method, path, { dryRun: true });
    expect([route.name, status, json?.error?.details?.[0]]).toMatchObject([
      route.name,
      422,
      { path: 'dryRun', issue: 'unknown_field' },
    ]);
    const headers = { 'content-type': 'text/plain' };
    expect([route.name, (await app.call(route.method, path, 'force=1', headers)).status]).toEqual([
      route.name,
      415,
    ]);
    requests++;
  }
  expect(requests).toBeGreaterThan(8);
  expect(await rowsOf(app, app.workspace.workspaceId)).toBe(before);
  expect((await app.call('POST', `/api/v1/issues/${own.issue}/restore`, {})).status).toBe(200);
});

test('every query refuses unknown and repeated parameters', async () => {
  for (const route of app.app.routes) {
    if (route.scope === null) continue;
    const required = (route.query as { required?: string[] } | undefined)?.required ?? [];
    const needed = (query: string) =>
      required.filter((name) => !query.startsWith(`${name}=`)).map((name) => `${name}=x`);
    const ask = (query: string) =>
      app.call(
        route.method,
        `${fillPath(route.path, route.params, own)}?${[query, ...needed(query)].join('&')}`,
        exampleOf(route, hookUrl),
        { 'tatami-mode': 'simulate' },
      );
    for (const name of ['surprise', 'workspaceId', 'constructor', '__proto__', 'toString'])
      expect([route.name, (await ask(`${name}=x`)).json?.error?.details?.[0]]).toMatchObject([
        route.name,
        { path: name, issue: 'unknown_field' },
      ]);
    for (const name of Object.keys(propertiesOf(route.query)))
      expect([route.name, (await ask(`${name}=1&${name}=1`)).json.error.details[0]]).toMatchObject([
        route.name,
        { path: name, issue: 'conflict' },
      ]);
  }
});
