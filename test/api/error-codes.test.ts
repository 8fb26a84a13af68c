// Every registered error code occurs, with its status and the envelope, and only 429 has Retry-After.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { errorCodes, type ErrorCode } from '../../core/platform/lib/errors/errors.ts';
import { StoreError, type StoreFault } from '../../core/platform/store/store.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';
import { bearerOf, signIn } from '../features/sign-in/person.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { incoming, startUpload, until } from '../slow-upload.ts';

let app: TestApp;
let limited: TestApp;
let tight: TestApp;
let issue: Json;
beforeAll(async () => {
  app = await startApp();
  limited = await startApp({ flags: { rateLimit: 'on', rateRead: '1' } });
  tight = await startApp({ flags: { readBudget: '1' } });
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'One' })).json;
});
afterAll(async () => {
  await app.stop();
  await limited.stop();
  await tight.stop();
});

const issues = '/api/v1/issues';
const make = (more: object = {}, headers?: Record<string, string>): Promise<Reply> =>
  app.call('POST', issues, { team: 'ENG', title: 'x', ...more }, headers);

/** Sends a write while the store is faulty. */
async function whileFaulty(fault: StoreFault): Promise<Reply> {
  const { store } = app.services;
  const { commit } = store;
  store.commit = () => Promise.reject(new StoreError(fault, 'made by the test'));
  const reply = await make();
  store.commit = commit;
  return reply;
}

const causes: Record<ErrorCode, () => Promise<Reply>> = {
  malformed_request: () => app.call('POST', issues, '{'),
  invalid_cursor: () => app.call('GET', `${issues}?after=x`),
  unauthorized: () => app.clientOf(null)('GET', issues),
  insufficient_scope: async () => app.clientOf(await app.mintKey(['labels:read']))('GET', issues),
  forbidden: async () =>
    app.clientOf(await app.mintKey(['api-keys:write']))('POST', '/api/v1/api-keys', {
      name: 'x',
      scopes: ['issues:read'],
    }),
  async recent_sign_in_required() {
    const person = await signIn(app);
    app.clock.advance(10 * 60_000);
    const call = app.clientOf(await bearerOf(app, person));
    return call('POST', '/api/v1/api-keys', { name: 'x', scopes: ['issues:read'] });
  },
  not_found: () => app.call('GET', `${issues}/iss_00000000000000000000000001`),
  method_not_allowed: () => app.call('DELETE', issues),
  conflict: () => app.call('DELETE', `/api/v1/members/${app.workspace.userId}`),
  history_changed: () => app.call('GET', '/api/v1/events?after=999999'),
  async gone() {
    const source = `{
      id: 'com.test.purged', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle() { throw new Drop('not wanted'); } } },
    }`;
    await install(app.call, await packSource(source));
    const { id } = (await app.call('POST', issues, { team: 'ENG', title: 'Secret' })).json;
    await app.settled();
    await app.call('DELETE', `${issues}/${id}`);
    await app.call('POST', `${issues}/${id}/purge`);
    await app.settled();
    const [run] = (await app.call('GET', '/api/v1/plugins/com.test.purged/runs')).json.data;
    await app.call('DELETE', '/api/v1/plugins/com.test.purged');
    return app.call('POST', `/api/v1/runs/${run.id}/retry`);
  },
  async transition_not_allowed() {
    const { state } = (await app.call('GET', `${issues}/${issue.id}`)).json;
    const team = `/api/v1/teams/${app.workspace.teamId}`;
    await app.call('PATCH', team, { transitions: { [state.id]: [] } });
    const states: Json[] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
    const stateId = states.find(({ id }) => id !== state.id).id;
    const reply = await app.call('PATCH', `${issues}/${issue.id}`, { stateId });
    await app.call('PATCH', team, { transitions: null });
    return reply;
  },
  async idempotency_in_progress() {
    const { store } = app.services;
    const { commit } = store;
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    store.commit = async (ops) => {
      reached.resolve();
      await gate.promise;
      return commit(ops);
    };
    const first = make({}, { 'idempotency-key': 'p' });
    await reached.promise;
    store.commit = commit;
    const second = await make({}, { 'idempotency-key': 'p' });
    gate.resolve();
    expect((await first).status).toBe(201);
    return second;
  },
  async request_timeout() {
    const { answer } = startUpload(app, { to: issue.id });
    let isAnswered = false;
    void answer.finally(() => (isAnswered = true));
    // The part timeout starts when the server waits for the part, which may be later than it opens the file.
    await until(() => {
      if (incoming(app).length === 1) app.clock.advance(10_000);
      return isAnswered;
    });
    return answer;
  },
  precondition_failed: () =>
    app.call('PATCH', `${issues}/${issue.id}`, { title: 'x' }, { 'if-match': '"99-x"' }),
  async budget_exceeded() {
    const description = 'Long '.repeat(50_000);
    for (let n = 0; n < 12; n++) await tight.call('POST', issues, { team: 'ENG', title: 'x', description });
    const or = Array.from({ length: 10 }, (_, n) => ({ description: { contains: `needle ${n}` } }));
    return tight.call('GET', `${issues}?filter=${encodeURIComponent(JSON.stringify({ or }))}`);
  },
  payload_too_large: () => make({ title: 'x'.repeat(1_100_000) }),
  unsupported_media_type: () => make({}, { 'content-type': 'text/plain' }),
  async range_not_satisfiable() {
    const path = `${issues}/${issue.id}/attachments/upload`;
    const { json } = await app.call('POST', path, 'text', { 'content-type': 'text/plain' });
    return app.call('GET', `/api/v1/attachments/${json.id}/content`, undefined, { range: 'bytes=9-' });
  },
  validation_failed: () => make({ priority: 'asap' }),
  async idempotency_key_reused() {
    await make({}, { 'idempotency-key': 'r' });
    return make({ title: 'other' }, { 'idempotency-key': 'r' });
  },
  async rate_limited() {
    await limited.call('GET', issues);
    return limited.call('GET', issues);
  },
  async quota_exceeded() {
    const action = `actions: { ping: { target: 'none', handle: () => 1 } }`;
    const source = `{ id: 'com.test.quota', version: '1.0.0', engines: { tatami: '*' }, ${action} }`;
    await install(app.call, await packSource(source));
    await app.call('PATCH', '/api/v1/plugins/com.test.quota', { budget: { runs: 0 } });
    return app.call('POST', '/api/v1/plugins/com.test.quota/actions/ping', {});
  },
  async internal_error() {
    const { store } = app.services;
    const { readOne } = store;
    store.readOne = () => Promise.reject(new Error('made by the test'));
    const reply = await app.call('GET', `${issues}/iss_00000000000000000000000009`);
    store.readOne = readOne;
    return reply;
  },
  unavailable: () => whileFaulty('busy'),
  storage_full: () => whileFaulty('full'),
};

for (const [code, cause] of Object.entries(causes) as [ErrorCode, () => Promise<Reply>][])
  test(`${code} has status ${errorCodes[code].status}`, async () => {
    const { status, headers, json } = await cause();
    expect([status, json.error.code]).toEqual([errorCodes[code].status, code]);
    expect(Object.keys(json)).toEqual(['error']);
    expect(Object.keys(json.error)).toEqual(['code', 'message', 'details', 'requestId']);
    expect(json.error.message.length).toBeGreaterThan(5);
    expect(json.error.requestId).toBe(headers.get('x-request-id'));
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.has('retry-after')).toBe(status === 429);
    expect(JSON.stringify(json)).not.toContain('made by the test');
    for (const name of ['limit', 'remaining', 'reset'])
      expect(headers.get(`ratelimit-${name}`)).toMatch(/^\d+$/);
  });

test('a read-only store refuses writes, answers reads, and accepts writes again after its recovery', async () => {
  for (const fault of ['read_only', 'broken'] as const)
    expect(await whileFaulty(fault)).toMatchObject({ status: 503 });
  expect((await app.call('GET', `${issues}/${issue.id}`)).status).toBe(200);
  expect((await make()).status).toBe(201);
});

test('an error never repeats the invalid value, which may be a secret', async () => {
  const secret = 'hunter2-do-not-echo';
  for (const body of [
    { priority: secret },
    { title: [secret] },
    { estimate: secret },
    { stateId: secret },
    { labels: [{ name: secret }] },
    { dueDate: secret },
  ]) {
    const reply = await make(body);
    expect([reply.status, reply.text.includes(secret)]).toEqual([422, false]);
  }
  expect((await app.call('POST', issues, `{"title":"${secret}`)).text).not.toContain(secret);
  expect((await app.call('GET', `${issues}?limit=${secret}`)).text).not.toContain(secret);
  expect(JSON.stringify(app.logs)).not.toContain(secret);
});
