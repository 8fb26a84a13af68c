// Tatami-Mode on every write: simulate responds like the write and changes no row, propose stores a proposal, unknown
// modes are refused, and reads ignore the header. Generated from the routes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Compile } from 'typebox/compile';
import { schemasOf } from '../../core/kernel/contract/schemas.ts';
import type { Route } from '../../core/kernel/http/route.ts';
import { proposal } from '../../core/features/proposals/contract.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';
import { rowsOf } from './rows.ts';
import { exampleOf, fillPath, seed, type Seeds } from './seeds.ts';

let app: TestApp;
let own: Seeds;
let writes: Route[];
let document: Json;
const proposalResponse = Compile(schemasOf(proposal).response);
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const hookUrl = `http://127.0.0.1:${receiver.port}/`;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  own = await seed(app, app.call, 'ENG', hookUrl);
  writes = app.app.routes.filter(({ kind }) => kind === 'write');
  document = (await app.call('GET', '/api/v1/openapi.json')).json;
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const ask = (route: Route, mode: string, more: Record<string, string> = {}): Promise<Reply> =>
  app.call(route.method, fillPath(route.path, route.params, own), exampleOf(route, hookUrl), {
    'tatami-mode': mode,
    ...more,
  });

test('simulate responds like the write, marks the response, and writes nothing', async () => {
  const before = await rowsOf(app, app.workspace.workspaceId);
  const done: string[] = [];
  for (const route of writes) {
    const reply = await ask(route, 'simulate', { 'idempotency-key': `simulated ${route.name}` });
    expect([route.name, reply.headers.get('tatami-mode'), reply.status < 500]).toEqual([
      route.name,
      'simulate',
      true,
    ]);
    if (reply.status < 300) done.push(route.name);
  }
  await app.settled();
  expect(await rowsOf(app, app.workspace.workspaceId)).toBe(before);
  // Nearly all examples are valid in this workspace; without valid writes the test would prove nothing.
  expect(done.length).toBeGreaterThan(writes.length * 0.75);
});

test('a simulated issue has no identifier and takes no number', async () => {
  const create = (mode: string): Promise<Reply> =>
    app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Maybe' }, { 'tatami-mode': mode });
  const before = Number((await create('commit')).json.identifier.slice(4));
  const simulated = await create('simulate');
  expect(simulated.json).toMatchObject({ identifier: null, url: null, title: 'Maybe' });
  expect((await app.call('GET', `/api/v1/issues/${simulated.json.id}`)).status).toBe(404);
  const next = await create('commit');
  expect([next.json.identifier, next.headers.get('tatami-mode')]).toEqual([`ENG-${before + 1}`, 'commit']);
  const { data } = (
    await app.call(
      'POST',
      '/api/v1/issues/bulk',
      { issues: [{ team: 'ENG', title: 'a' }] },
      { 'tatami-mode': 'simulate' },
    )
  ).json;
  expect(data).toMatchObject([{ identifier: null, url: null }]);
});

test('simulate refuses every request that the write would refuse', async () => {
  for (const [body, status] of [
    [{ team: 'NOPE', title: 'x' }, 422],
    [{ team: 'ENG' }, 422],
  ] as const)
    expect((await app.call('POST', '/api/v1/issues', body, { 'tatami-mode': 'simulate' })).status).toBe(
      status,
    );
  const stale = { 'tatami-mode': 'simulate', 'if-match': '"99-x"' };
  expect((await app.call('PATCH', `/api/v1/issues/${own.issue}`, { title: 'x' }, stale)).status).toBe(412);
});

test('an unknown mode is refused on every write, with the valid modes', async () => {
  await app.settled();
  const before = await rowsOf(app, app.workspace.workspaceId);
  for (const route of writes)
    for (const mode of ['dry-run', '', 'Commit'])
      expect([route.name, mode, (await ask(route, mode)).json?.error]).toMatchObject([
        route.name,
        mode,
        { code: 'validation_failed', details: [{ path: 'Tatami-Mode', issue: 'invalid_enum' }] },
      ]);
  expect(await rowsOf(app, app.workspace.workspaceId)).toBe(before);
  expect((await app.call('GET', '/api/v1/issues', undefined, { 'tatami-mode': 'propose' })).status).toBe(200);
});

/** Fails unless the document declares the response: a proposal with its headers, or the error code. */
function isProposalDeclared({ name, method, path }: Route, { status, json, headers }: Reply): void {
  const declared = followed(document.paths[path][method.toLowerCase()].responses[status]);
  expect([name, status, declared !== undefined]).toEqual([name, status, true]);
  if (status >= 400) {
    expect([name, declared['x-error-codes']]).toEqual([name, expect.arrayContaining([json.error.code])]);
    return;
  }
  expect([name, status]).toEqual([name, 202]);
  const { schema } = declared.content['application/json'];
  expect([name, followed(schema).anyOf ?? [schema]]).toEqual([
    name,
    expect.arrayContaining([{ $ref: '#/components/schemas/Proposal' }]),
  ]);
  expect([name, [...proposalResponse.Errors(json)]]).toEqual([name, []]);
  const said = Object.keys(declared.headers).map((header) => header.toLowerCase());
  for (const header of ['location', 'tatami-mode', 'etag'])
    expect([name, header, said.includes(header)]).toEqual([name, header, headers.has(header)]);
}

const followed = (part: Json): Json =>
  part?.$ref === undefined
    ? part
    : part.$ref
        .slice(2)
        .split('/')
        .reduce((at: Json, step: string) => at[step], document);

test('the document lists the modes of the server', async () => {
  const { schema } = followed(document.components.parameters.TatamiMode);
  expect(followed(schema).enum).toEqual(['commit', 'simulate', 'propose']);
});

test('propose answers every write with a proposal or an error, and changes no object', async () => {
  await app.settled();
  const from = await app.lastSequence();
  const proposed: string[] = [];
  for (const route of writes) {
    const reply = await ask(route, 'propose');
    const { status, json } = reply;
    isProposalDeclared(route, reply);
    if (status === 202 && json.effects) proposed.push(route.name);
    else
      expect([route.name, status, json?.error?.message]).toEqual([
        route.name,
        expect.any(Number),
        expect.any(String),
      ]);
    expect([route.name, status >= 200 && status < 500]).toEqual([route.name, true]);
  }
  await app.settled();
  const emittedTypes = new Set((await app.eventTypes(from)).filter((type) => !type.startsWith('inbox.')));
  expect([...emittedTypes]).toEqual(['automation.proposed']);
  expect(proposed.length).toBeGreaterThan(writes.length * 0.5);
});
