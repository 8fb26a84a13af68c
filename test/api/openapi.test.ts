// The OpenAPI document lists all routes, its examples are real responses, and real responses match its schemas.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Type, type TObject, type TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { Compile } from 'typebox/compile';
import { isOperation } from '../../core/kernel/http/openapi/operation.ts';
import { deliveredAs } from '../../core/kernel/http/openapi/document.ts';
import { needsCaller, type Route } from '../../core/kernel/http/route.ts';
import { Closed } from '../../core/platform/lib/schema.ts';
import { sentEvents } from '../../core/app/event-schemas.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';
import { everyOperation } from './every-operation.ts';
import { plain, readExamples, writeExamples } from './examples.ts';

let app: TestApp;
let document: Json;
/** Operations of the API by name. */
let routes: ReadonlyMap<string, Route>;
/** Examples: the first response of each operation and the first event of each type. */
const recorded: Record<string, Json> = {};
const delivered: { headers: Headers; text: string }[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.url.endsWith('/gone')) return new Response(null, { status: 410 });
    delivered.push({ headers: request.headers, text: await request.text() });
    return new Response();
  },
});

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  document = (await app.clientOf(null)('GET', '/api/v1/openapi.json')).json;
  routes = new Map(app.app.routes.filter(isOperation).map((route) => [route.name, route]));
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/** Resolves a reference of the document. */
function follow(part: Json): Json {
  if (part?.$ref === undefined) return part;
  return part.$ref
    .slice(2)
    .split('/')
    .reduce((at: Json, step: string) => at[step.replaceAll('~1', '/')], document);
}

function operationOf(name: string): Json {
  const route = routes.get(name);
  if (!route) throw new Error(`There is no route ${name}.`);
  return document.paths[route.path][route.method.toLowerCase()];
}

function takes(name: string, header: string): boolean {
  return operationOf(name).parameters.some((parameter: Json) => follow(parameter).name === header);
}

function schemaOf(name: string, status: number): TSchema | null | undefined {
  return routes.get(name)?.responses[status];
}

/** The page schema for selected fields: only selected and named fields are allowed. */
function sparse(page: TSchema, path: string): TSchema {
  const fields = new URLSearchParams(path.slice(path.indexOf('?'))).get('fields')?.split(',') ?? [];
  const { properties } = page as TObject & { properties: { data: { items: TObject } } };
  const item = Type.Pick(properties.data.items, ['id', ...fields]);
  return Closed({ ...properties, data: Type.Array(Closed(item.properties)) });
}

function record(name: string, value: Json): void {
  // A shortened example shows less of the response, so that a complete one replaces it.
  if (name in recorded && !JSON.stringify(recorded[name]).includes('…')) return;
  recorded[name] = plain(value, {
    [app.url]: 'https://tatami.acme.example',
    [`http://127.0.0.1:${receiver.port}`]: 'https://hooks.acme.example',
    [`127.0.0.1:${receiver.port}`]: 'hooks.acme.example',
    'Acme owner': 'Sam Okafor',
  });
}

/** Headers that only some responses carry; all other documented headers are required. */
const sometimes = ['idempotent-replayed', 'retry-after'];
const known = [
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'etag',
  'location',
  'www-authenticate',
  ...sometimes,
];

/** Fails unless status, headers, error code and body match the document. */
function isDocumented(name: string, reply: Reply, schema = schemaOf(name, reply.status)): void {
  const response = follow(operationOf(name).responses[reply.status]);
  expect([name, reply.status, response === undefined]).toEqual([name, reply.status, false]);
  const said = Object.keys(response.headers).map((header) => header.toLowerCase());
  const sent = known.filter((header) => reply.headers.has(header));
  expect({ name, undocumented: sent.filter((header) => !said.includes(header)) }).toEqual({
    name,
    undocumented: [],
  });
  // A 202 has the entity tag of a proposal, or reports that a job is queued.
  const isCreated = reply.status === 201 || reply.status === 202;
  const unversioned = isCreated && !('version' in ((schema as Json)?.properties ?? {}));
  const optional = [...sometimes, ...(unversioned ? ['etag'] : [])];
  const missing = said.filter((header) => !reply.headers.has(header) && !optional.includes(header));
  expect({ name, status: reply.status, missing }).toEqual({ name, status: reply.status, missing: [] });
  if (reply.status >= 400)
    expect([name, response['x-error-codes']]).toEqual([
      name,
      expect.arrayContaining([reply.json.error.code]),
    ]);
  const actual = reply.headers.get('content-type') === 'application/json' ? reply.json : reply.text;
  if (schema) expect([name, [...Compile(schema).Errors(actual)]]).toEqual([name, []]);
  else if (reply.status < 400) expect([name, reply.text]).toEqual([name, '']);
}

test('the document lists every operation and no page', () => {
  const listed = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const mounted = [...routes.values()].map(({ method, path }) => `${method} ${path}`);
  expect(listed.sort()).toEqual(mounted.sort());
  expect(new Set(app.app.routes.map(({ name }) => name)).size).toBe(app.app.routes.length);
  const pages = app.app.routes.filter((route) => !isOperation(route));
  expect(pages.map(({ path }) => path)).toContain('/docs');
  // Plugin calls, MCP and page forms have no schema of the API.
  expect(
    pages.filter(({ path, kind }) =>
      path.startsWith('/api/')
        ? kind !== 'inbound' || !/^\/api\/(v1\/hooks|mcp)\//.test(path)
        : kind !== 'inbound' && kind !== 'raw',
    ),
  ).toEqual([]);
});

test('every operation has its scope, its limits and its errors, and every example matches its schema', () => {
  for (const route of routes.values()) {
    const operation = operationOf(route.name);
    expect(operation['x-required-scope'] ?? null).toBe(route.scope);
    expect(operation.security).toEqual(needsCaller(route) ? [{ bearer: [] }] : []);
    if (route.scope !== null)
      expect(operation.description).toContain(`Requires the scope \`${route.scope}\``);
    for (const response of Object.values<Json>(operation.responses).map(follow))
      expect(Object.keys(response.headers)).toEqual(
        expect.arrayContaining(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']),
      );
    if (route.limit === 'none') expect(operation.responses).not.toHaveProperty('429');
    else expect(follow(operation.responses['429']).headers).toHaveProperty('Retry-After');
    if (route.body === undefined) continue;
    expect(operation.requestBody.content['application/json'].example).toBeDefined();
    expect([route.name, [...Compile(route.body).Errors(route.example)]]).toEqual([route.name, []]);
  }
  const codes = Object.entries<Json>(document.components.schemas.Error['x-error-codes']);
  for (const [code, { status, retry }] of codes) {
    expect([code, typeof status, typeof retry]).toEqual([code, 'number', 'boolean']);
    const example = document.components.examples[code];
    if (example) expect(example.value.error.code).toBe(code);
  }
  // No operation returns it: it is the error for unknown methods.
  const actual = Object.keys(document.components.examples);
  expect(codes.map(([code]) => code).filter((code) => !actual.includes(code))).toEqual([
    'method_not_allowed',
  ]);
});

/** Performs every operation once on every entity, so that every event type occurs. @returns the performed operations */
async function scenario(): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  let requests = 0;
  /** Each write is also simulated, sent for another version, and repeated. */
  const did = async (name: string, path: string, body?: unknown): Promise<Json> => {
    const { method, kind } = routes.get(name)!;
    const isWrite = kind === 'write' || kind === 'upload';
    const call = (headers: Record<string, string>): Promise<Reply> => app.call(method, path, body, headers);
    seen.add(name);
    const stale = { 'if-match': '"9999"' };
    if (isWrite) {
      const refused = await call(stale);
      expect([name, refused.status]).toEqual([name, 412]);
      isDocumented(name, refused);
    }
    if (isWrite) isDocumented(name, await call({ 'tatami-mode': 'simulate' }));
    // Background work would change a read between two responses.
    if (!isWrite) await app.settled();
    const key = { 'idempotency-key': `key-${++requests}` };
    const reply = await call(isWrite ? key : {});
    expect([name, reply.status < 300, reply.text]).toEqual([name, true, reply.text]);
    const schema = schemaOf(name, reply.status);
    isDocumented(name, reply, schema && path.includes('fields=') ? sparse(schema, path) : schema);
    if (schema && reply.json) record(name, reply.json);
    if (isWrite) {
      const again = await call(key);
      expect([name, again.headers.get('idempotent-replayed')]).toEqual([name, 'true']);
      isDocumented(name, again);
    }
    // Requests for the usage change the usage.
    if (takes(name, 'If-None-Match') && name !== 'usage.get') {
      const unchanged = await call({ 'if-none-match': reply.headers.get('etag')! });
      expect([name, unchanged.status]).toEqual([name, 304]);
      isDocumented(name, unchanged);
    }
    return reply.json;
  };

  await everyOperation(app, `http://127.0.0.1:${receiver.port}/`, did);
  return seen;
}

let playing: Promise<ReadonlySet<string>> | null = null;
const played = (): Promise<ReadonlySet<string>> => (playing ??= scenario());

test('every response matches the document', async () => {
  const seen = await played();
  // A replay ends before it can be canceled, and a stream has no end, so that both have separate tests.
  const elsewhere = ['replays.cancel', 'events.stream'];
  const missing = [...routes.keys()].filter((name) => !seen.has(name) && !elsewhere.includes(name));
  expect({ 'add a step to test/api/every-operation.ts for each': missing }).toEqual({
    'add a step to test/api/every-operation.ts for each': [],
  });
}, 60_000);

/** Raises a problem, which no operation can do. */
async function haveProblem(): Promise<void> {
  const waitForEvents = async (times: number): Promise<void> => {
    app.clock.advance(60_000);
    const problemEvents = async (): Promise<Json[]> =>
      (await app.call('GET', '/api/v1/events?types=system.*')).json.data;
    while ((await problemEvents()).length < times) await Bun.sleep(2);
  };
  app.services.problems.raise('backup', 'It is old.');
  await waitForEvents(1);
  app.services.problems.clear('backup');
  await waitForEvents(2);
}

test('the webhooks section lists exactly the emitted event types, and events and deliveries match it', async () => {
  await played();
  await haveProblem();
  const types = Object.keys(document.webhooks);
  expect(types).toEqual(sentEvents().map(({ type }) => type));
  const happened = new Set<string>();
  const envelopes = new Map(sentEvents().map(({ type, envelope }) => [String(type), envelope]));
  for (let after = 0, more = true; more;) {
    const { data, pageInfo } = (await app.call('GET', `/api/v1/events?limit=100&after=${after}`)).json;
    for (const event of data) {
      happened.add(event.type);
      record(`webhook.${event.type}`, event);
      const envelope = envelopes.get(event.type);
      expect([event.type, envelope && [...Compile(envelope).Errors(event)]]).toEqual([event.type, []]);
    }
    after = data.at(-1).sequence;
    more = pageInfo.hasNextPage;
  }
  expect([...happened].sort()).toEqual(types.sort());

  let cut = 0;
  for (const { headers, text } of delivered) {
    const event = JSON.parse(text);
    if (event.data.truncated) cut++;
    const envelope = envelopes.get(event.type)!;
    expect([event.type, [...Compile(deliveredAs(envelope)).Errors(event)]]).toEqual([event.type, []]);
    const parameters = document.webhooks[event.type].post.parameters.map(follow);
    const required = parameters
      .filter((parameter: Json) => parameter.required)
      .map(({ name }: Json) => name.toLowerCase());
    expect([...headers.keys()].filter((name) => /^(x-)?webhook-/.test(name)).sort()).toEqual(required.sort());
    for (const { name, schema } of parameters)
      if (schema.pattern) expect(headers.get(name)).toMatch(new RegExp(schema.pattern));
  }
  expect(cut).toBeGreaterThan(0);
  expect(delivered.length).toBeGreaterThan(30);
}, 60_000);

/** Every required example with its exact schema. */
function wanted(): ReadonlyMap<string, TSchema> {
  const schemas = new Map<string, TSchema>();
  for (const [name, { responses, contentType = 'application/json' }] of routes) {
    const schema = Object.values(responses)[0];
    // These schemas contain their own examples.
    const isOwn = schema && 'examples' in schema;
    if (schema && !isOwn && contentType === 'application/json') schemas.set(name, schema);
  }
  for (const { type, envelope } of sentEvents()) schemas.set(`webhook.${type}`, envelope);
  return schemas;
}

test('every response and event has an example that equals the current response of a server', async () => {
  await played();
  recorded['replays.cancel'] ??= { ...recorded['replays.get'], status: 'canceled' };
  if (process.env.UPDATE_DOCS) writeExamples(recorded, wanted());
  const examples = readExamples();
  const stale = [...wanted()].filter(([name, schema]) => !Check(schema, examples[name]));
  const how = 'differs from the current response: run UPDATE_DOCS=1 bun test test/api/openapi.test.ts';
  expect({ [how]: stale.map(([name]) => name) }).toEqual({ [how]: [] });
  expect(Object.keys(examples).filter((name) => !wanted().has(name))).toEqual([]);
});

test('errors match the document', async () => {
  const v1 = '/api/v1';
  const stranger = app.clientOf('ttm_00000000_nobody');
  const narrow = app.clientOf(await app.mintKey(['labels:read']));
  const post = (body: unknown, headers = {}): Promise<Reply> =>
    app.call('POST', `${v1}/issues`, body, headers);
  const refused = async (name: string, code: string, sent: Promise<Reply>): Promise<void> => {
    const reply = await sent;
    expect([name, reply.json?.error.code]).toEqual([name, code]);
    isDocumented(name, reply);
  };
  const good = { team: 'ENG', title: 'One' };
  const nobody = `usr_${'0'.repeat(25)}1`;
  await refused('openapi.get', 'unauthorized', stranger('GET', `${v1}/openapi.json`));
  await refused('openapi.get', 'validation_failed', app.call('GET', `${v1}/openapi.json?theme=x`));
  await refused('issues.list', 'unauthorized', app.clientOf(null)('GET', `${v1}/issues`));
  await refused('issues.list', 'insufficient_scope', narrow('GET', `${v1}/issues`));
  await refused('issues.list', 'invalid_cursor', app.call('GET', `${v1}/issues?after=x`));
  await refused('issues.list', 'validation_failed', app.call('GET', `${v1}/issues?colour=red`));
  await refused('members.get', 'not_found', app.call('GET', `${v1}/members/${nobody}`));
  await refused('issues.create', 'malformed_request', post('{'));
  await refused('issues.create', 'unsupported_media_type', post('{}', { 'content-type': 'text/plain' }));
  await refused('issues.create', 'payload_too_large', post(' '.repeat(1024 * 1024 + 1)));
  await refused('issues.create', 'validation_failed', post({ team: 'ENG' }));
  const key = { 'idempotency-key': 'refusals' };
  const issue = (await post(good, key)).json;
  await refused('issues.create', 'idempotency_key_reused', post({ ...good, title: 'Two' }, key));
  const teams = (await app.call('GET', `${v1}/teams`)).json.data;
  const eng = teams.find((team: Json) => team.key === 'ENG');
  await app.call('PATCH', `${v1}/teams/${eng.id}`, { transitions: {} });
  const states = (await app.call('GET', `${v1}/workflows?team=ENG`)).json.data;
  const { state } = (await app.call('GET', `${v1}/issues/${issue.id}`)).json;
  const stateId = states.find(({ id }: Json) => id !== state.id).id;
  const path = `${v1}/issues/${issue.id}`;
  await refused('issues.update', 'transition_not_allowed', app.call('PATCH', path, { stateId }));
  const owner = (await app.call('GET', `${v1}/members`)).json.data.find(({ role }: Json) => role === 'owner');
  await refused('members.delete', 'conflict', app.call('DELETE', `${v1}/members/${owner.id}`));
  await refused(
    'webhooks.create',
    'validation_failed',
    app.call('POST', `${v1}/webhooks`, { url: 'x', events: ['*'] }),
  );
});
