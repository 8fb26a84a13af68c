// Tests every resource in every adapter. The tests derive from the contracts, so a new resource needs no line
// here.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Compile } from 'typebox/compile';
import type { Contract } from '../../core/kernel/contract/contract.ts';
import { camel } from '../../core/platform/lib/text/words.ts';
import { htmlFieldsOf } from '../../core/kernel/contract/schemas.ts';
import { contracts, eventsOf } from '../../core/features/contracts.ts';
import { eventTypes, expandPattern } from '../../core/kernel/events/catalogue.ts';
import { sentEvents } from '../../core/app/event-schemas.ts';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { referredBy, seed, type Seeds } from '../api/seeds.ts';

let app: TestApp;
let document: Json;
let seeds: Seeds;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  document = (await app.clientOf(null)('GET', '/api/v1/openapi.json')).json;
  seeds = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/** Contracts whose objects can be created from an example at a derived path and have their own events. */
const creatable = contracts.filter(
  ({ operations, examples, events }) => 'create' in operations && examples?.create && events.created,
);
const manyPath = ({ path, parent }: Contract): string =>
  parent ? `/api/v1/${parent.path}/${seeds[parent.name]}/${path}` : `/api/v1/${path}`;

const envelopes = new Map(sentEvents().map(({ type, envelope }) => [String(type), Compile(envelope)]));
/** Returns the only event of a change and checks its schema. */
async function onlyEvent(since: number, type: string | undefined): Promise<void> {
  const { data } = (await app.call('GET', `/api/v1/events?after=${since}`)).json;
  expect(data.map((event: Json) => event.type)).toContain(type);
  for (const event of data)
    expect([event.type, [...envelopes.get(event.type)!.Errors(event)]]).toEqual([event.type, []]);
}

test('each resource has a scope, a schema, operations and field descriptions in the document', () => {
  for (const contract of contracts) {
    const { path, scope = path, title, operations, fields } = contract;
    for (const right of ['read', 'write']) expect(allScopes).toContain(`${scope}:${right}`);
    // A contract without fields has no objects.
    if (Object.keys(fields).length === 0) continue;
    expect(Object.keys(document.components.schemas)).toContain(title);
    const { properties } = document.components.schemas[title];
    expect(Object.keys(properties)).toEqual([
      'id',
      ...Object.keys(fields),
      'version',
      'createdAt',
      'updatedAt',
      ...('restore' in operations ? ['deletedAt'] : []),
      ...htmlFieldsOf(contract).keys(),
    ]);
    for (const [operation, facts] of Object.entries(operations)) {
      const said = Object.values<Json>(document.paths)
        .flatMap((item) => Object.values<Json>(item))
        .find(({ operationId }) => operationId === `${path}.${operation}`);
      expect([path, operation, said?.summary]).toEqual([
        path,
        operation,
        typeof facts === 'string' ? facts : facts.summary,
      ]);
    }
  }
});

/** Values that must be unique, by path. */
const unique: Readonly<Record<string, object>> = {
  teams: { key: 'DOOR' },
  members: { email: 'door@acme.example' },
  fields: { key: 'door' },
  releases: { tag: 'door' },
  cycles: { startsAt: '2032-03-03T00:00:00Z', endsAt: '2032-03-17T00:00:00Z' },
  'automation-hosts': { name: 'door' },
};

/** Operations whose events belong to the parent object, by path. */
const elsewhere: Readonly<Record<string, { created: string; deleted: string }>> = {
  attachments: { created: 'issue.attachment_added', deleted: 'issue.attachment_removed' },
};

test('each object is created, listed, returned, updated, deleted and restored over REST, with an event each', async () => {
  for (const contract of creatable) {
    const { path, operations, examples, events, retainsDeleted } = contract;
    const many = manyPath(contract);
    let since = await app.lastSequence();
    const body: Json = { ...examples!.create, ...referredBy(contract, seeds), ...unique[path] };
    if (path === 'favorites') Object.assign(body, { type: 'project', targetId: seeds['project'] });
    const created = await app.call('POST', many, body);
    expect([path, created.status, created.text]).toEqual([path, 201, created.text]);
    const one = `/api/v1/${path}/${created.json.id}`;
    expect(new URL(created.headers.get('location')!).pathname).toBe(one);
    await onlyEvent(since, events.created ?? elsewhere[path]?.created);
    // A backtest ends in the background.
    await app.settled();
    const lasting = (json: Json): Json => ({ ...json, backtest: null });
    if ('get' in operations)
      expect(lasting((await app.call('GET', one)).json)).toEqual(lasting(created.json));
    if ('list' in operations)
      expect((await app.call('GET', `${many}?limit=100`)).json.data.map(lasting)).toContainEqual(
        lasting(created.json),
      );
    if ('update' in operations) {
      since = await app.lastSequence();
      const updated = await app.call('PATCH', one, examples!.update);
      expect([path, updated.status, updated.json.version]).toEqual([path, 200, 2]);
      await onlyEvent(since, events.updated);
    }
    if (!retainsDeleted || !('delete' in operations)) continue;
    since = await app.lastSequence();
    expect([path, (await app.call('DELETE', one)).status]).toEqual([path, 204]);
    await onlyEvent(since, events.deleted ?? elsewhere[path]?.deleted);
    if ('get' in operations) expect([path, (await app.call('GET', one)).status]).toEqual([path, 404]);
  }
});

test('an object is created with required fields only, and omitted fields have their default or null', async () => {
  for (const contract of creatable) {
    const required = Object.entries(contract.fields).filter(([, { options }]) => options.required);
    const example = contract.examples!.create as Json;
    const body: Json = {
      ...Object.fromEntries(required.map(([name]) => [name, example[name]])),
      ...referredBy(contract, seeds),
    };
    // References have different names in requests and responses.
    for (const name of Object.keys(body)) if (body[name] === undefined) delete body[name];
    if (contract.path === 'favorites') Object.assign(body, { type: 'board', targetId: seeds['board'] });
    if (contract.path === 'teams') body.key = 'LEAST';
    if (contract.path === 'releases') body.tag = 'least';
    if (contract.path === 'automation-hosts') body.name = 'least';
    if (contract.path === 'fields') Object.assign(body, { key: 'least', type: 'text' });
    if (contract.path === 'cycles')
      Object.assign(body, { startsAt: '2033-03-03T00:00:00Z', endsAt: '2033-03-17T00:00:00Z' });
    if (contract.path === 'labels' || contract.path === 'workflows') body.name = `least ${contract.path}`;
    const { status, text, json } = await app.call('POST', manyPath(contract), body);
    expect([contract.path, status, text]).toEqual([contract.path, 201, text]);
    for (const [name, { type, options }] of Object.entries(contract.fields))
      if (
        options.nullable &&
        !options.required &&
        !options.computed &&
        (options.write ?? 'create') === 'create' &&
        type !== 'actor' &&
        !('default' in options)
      )
        expect([contract.path, name, json[name]]).toEqual([contract.path, name, null]);
  }
});

test('each event can be subscribed to by type and by namespace, and sampled', async () => {
  for (const { events } of contracts)
    for (const type of eventsOf(events)) {
      expect(eventTypes).toContain(type as (typeof eventTypes)[number]);
      expect(expandPattern(`${type.split('.')[0]}.*`)).toContain(type as (typeof eventTypes)[number]);
      const sample = await app.call('POST', '/api/v1/events/samples', { type });
      expect([type, sample.status]).toEqual([type, 200]);
    }
});

test('a filter of a list works in subscriptions under the same name', async () => {
  for (const contract of creatable) {
    const example = contract.examples!.create as Json;
    const names = Object.entries(contract.fields)
      .filter(([name, { options }]) => options.filter !== undefined && example[name] !== undefined)
      .map(([name]) => name);
    if (names.length > 0) await app.call('POST', manyPath(contract), example);
    for (const name of names) {
      const query = `${name}=${encodeURIComponent(example[name])}`;
      const { data } = (await app.call('GET', `${manyPath(contract)}?${query}`)).json;
      expect([name, new Set(data.map((item: Json) => item[name]))]).toEqual([name, new Set([example[name]])]);
      const subscribed = await app.call('POST', '/api/v1/webhooks', {
        url: `http://127.0.0.1:${receiver.port}/`,
        events: [contract.events.created],
        filter: { [name]: [example[name]] },
      });
      expect([name, subscribed.status]).toEqual([name, 201]);
    }
  }
});

test('a sort of a list works in both directions', async () => {
  for (const contract of creatable) {
    const names = Object.entries(contract.fields).flatMap(([name, { options }]) =>
      options.sort ? [name] : [],
    );
    for (const name of names) {
      const sorted = async (sort: string): Promise<Json[]> =>
        (await app.call('GET', `${manyPath(contract)}?limit=100&sort=${sort}`)).json.data;
      const values = (await sorted(name)).map((item) => item[name]).filter((value) => value !== null);
      // Enum values sort in the order of their list.
      const { enum: words } = contract.fields[name]!.response as { enum?: readonly string[] };
      const ranks = words ? values.map((value) => words.indexOf(value)) : values;
      expect([name, ranks]).toEqual([name, ranks.toSorted()]);
      expect([name, (await sorted(`-${name}`)).length]).toEqual([name, (await sorted(name)).length]);
    }
    const refused = await app.call('GET', `${manyPath(contract)}?sort=colour`);
    expect([contract.path, refused.status]).toEqual([contract.path, 422]);
  }
});

test('a plugin with all scopes has each host call of the contracts in ctx, and no other', async () => {
  const open = contracts.filter(({ calls }) => calls);
  const scopes = Object.fromEntries(
    open.map(({ path, scope = path }) => [`${scope}:write`, { why: 'test' }]),
  );
  const source = `{
    id: 'com.test.doors', version: '1.0.0', engines: { tatami: '*' }, scopes: ${JSON.stringify(scopes)},
    schedules: { look: { cron: '0 3 * * *', handle: async (_, ctx) => {
      await ctx.kv.set('found', Object.fromEntries(${JSON.stringify(open.map(({ path }) => path))}.map((path) => [path, Object.keys(ctx[path] ?? {})])));
    } } },
  }`;
  const plugin = await install(app.call, await packSource(source), { grant: Object.keys(scopes) });
  await app.call('POST', `/api/v1/plugins/${plugin.id}/schedules/look/run`);
  await app.settled();
  const { value } = (await app.call('GET', `/api/v1/plugins/${plugin.id}/kv/found`)).json;
  for (const { path, calls } of open)
    expect([
      path,
      calls!.map((call) => camel(call.replaceAll('.', '-'))).filter((call) => !value[path].includes(call)),
    ]).toEqual([path, []]);
});
