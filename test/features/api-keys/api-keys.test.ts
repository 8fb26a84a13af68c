// A key gets no more scopes than its creator holds, ends at its expiry, and its secret is shown once and never stored.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { mintToken } from '../../../core/features/api-keys/token.ts';
import { startApp, testStart, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
});
afterAll(() => app.stop());

const reads = async (token: string): Promise<number> =>
  (await app.clientOf(token)('GET', '/api/v1/issues')).status;
const mint = (body: object, token = app.workspace.apiKey): ReturnType<typeof app.call> =>
  app.clientOf(token)('POST', '/api/v1/api-keys', { name: 'k', scopes: ['issues:read'], ...body });

test('a key is shown once, is listed without its secret, and is rejected on the first request after its revocation', async () => {
  const minted = await step(
    'POST',
    '/api-keys',
    { name: 'CI', scopes: ['issues:write'] },
    { status: 201, body: { name: 'CI', revokedAt: null, expiresAt: null }, events: ['api_key.created'] },
  );
  expect(minted.key).toMatch(/^ttm_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$/);
  expect(minted.key).toStartWith(`ttm_${minted.prefix}_`);
  const path = `/api-keys/${minted.id}`;
  expect(await reads(minted.key)).toBe(200);
  for (const at of [path, '/api-keys', '/events?limit=100', '/audit-log']) {
    const { text } = await app.call('GET', `/api/v1${at}`);
    expect([at, text.includes(minted.key.slice(15)), text.includes('ecretHash')]).toEqual([at, false, false]);
  }
  expect((await app.call('GET', `/api/v1${path}`)).json).not.toHaveProperty('key');
  await step('DELETE', path, undefined, { status: 204, events: ['api_key.revoked'] });
  expect(await reads(minted.key)).toBe(401);
  await step('DELETE', path, undefined, { status: 404, error: ['not_found'] });
  await step('GET', path, undefined, { status: 200, body: { revokedAt: '2026-11-20T12:00:00.000Z' } });
});

test('a revocation takes effect with its response, also while the key is in use', async () => {
  const { id, key } = (await mint({})).json;
  let revoked = false;
  const late: number[] = [];
  const busy = async (): Promise<void> => {
    while (late.length < 20) {
      const sentAfter = revoked;
      const status = await reads(key);
      if (sentAfter) late.push(status);
    }
  };
  const work = [busy(), busy(), busy(), busy()];
  expect((await app.call('DELETE', `/api/v1/api-keys/${id}`)).status).toBe(204);
  revoked = true;
  await Promise.all(work);
  expect(new Set(late)).toEqual(new Set([401]));
});

test('a key ends at the millisecond of its expiry', async () => {
  const expiresAt = new Date(app.clock.now() + 60_000).toISOString();
  const { key } = (await mint({ expiresAt })).json;
  app.clock.advance(59_999);
  expect(await reads(key)).toBe(200);
  app.clock.advance(1);
  expect(await reads(key)).toBe(401);
  for (const [expiry, issue] of [
    ['tomorrow', 'invalid_format'],
    ['2026-02-30T00:00:00Z', 'invalid_format'],
    [new Date(testStart).toISOString(), 'too_small'],
  ])
    expect((await mint({ expiresAt: expiry })).json.error.details).toMatchObject([
      { path: 'expiresAt', issue },
    ]);
});

test('a key gets no more scopes than its creator holds, and a write scope implies its read scope', async () => {
  const limited = (await mint({ scopes: ['api-keys:write', 'issues:write'] })).json.key;
  for (const scopes of [['issues:read'], ['issues:write', 'api-keys:read'], ['api-keys:write']])
    expect([scopes, (await mint({ scopes }, limited)).status]).toEqual([scopes, 201]);
  for (const scopes of [['labels:read'], ['issues:read', 'workspace:write'], ['audit:read']])
    expect(await mint({ scopes }, limited)).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden', message: expect.stringContaining(scopes.at(-1)!) } },
    });
  const reader = (await mint({ scopes: ['api-keys:read', 'issues:read'] })).json.key;
  expect((await mint({}, reader)).json.error.code).toBe('insufficient_scope');
  for (const scopes of [[], ['issues:admin'], ['issues:read', 'issues:read'], ['*'], 'issues:read'])
    expect([scopes, (await mint({ scopes })).status]).toEqual([scopes, 422]);
});

test('a key with a wrong checksum, prefix, case or length is answered with 401 like an unknown key', async () => {
  const { key } = (await mint({})).json;
  const [, prefix, secret] = key.split('_') as [string, string, string];
  const flip = (text: string, at: number): string =>
    text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
  const wrong = [
    `ttm_${prefix}_${flip(secret, 0)}`,
    `ttm_${prefix}_${flip(secret, 37)}`,
    `ttm_${flip(prefix, 0)}_${secret}`,
    `TTM_${prefix}_${secret}`,
    key.slice(0, -1),
    `${key}a`,
    `${key}=`,
    mintToken().text,
    prefix,
    'ttm__',
  ];
  const bodies = new Set<string>();
  for (const token of wrong) {
    const { status, json } = await app.clientOf(token)('GET', '/api/v1/issues');
    expect([token, status]).toEqual([token, 401]);
    bodies.add(json.error.message);
  }
  expect(bodies.size).toBe(1);
  for (const header of ['Basic abc', 'Bearer', `Bearer ${key}, Bearer ${key}`, `Token ${key}`, 'Bearer a b'])
    expect([
      header,
      (await app.clientOf(null)('GET', '/api/v1/issues', undefined, { authorization: header })).status,
    ]).toEqual([header, 401]);
  expect(
    (await app.clientOf(null)('GET', '/api/v1/issues', undefined, { authorization: `bearer ${key}` })).status,
  ).toBe(200);
  // Public pages also refuse a wrong token, so that the caller notices the mistake.
  expect((await app.clientOf(wrong[0]!)('GET', '/api/v1/openapi.json')).status).toBe(401);
});

test('a key acts for its member, and ends when the member is removed', async () => {
  const member = (await app.call('POST', '/api/v1/members', { name: 'Ana' })).json;
  const minted = await mint({ memberId: member.id, scopes: ['issues:write', 'comments:write'] });
  const ana = app.clientOf(minted.json.key);
  const issue = (await ana('POST', '/api/v1/issues', { team: 'ENG', title: 'Hers' })).json;
  expect((await ana('GET', `/api/v1/issues/${issue.id}`)).json.creator).toEqual({
    kind: 'user',
    id: member.id,
    name: 'Ana',
  });
  expect((await ana('GET', '/api/v1/issues?assignee=me')).json.data).toEqual([]);
  const comment = (await app.call('POST', `/api/v1/issues/${issue.id}/comments`, { body: "The owner's" }))
    .json;
  expect(await ana('PATCH', `/api/v1/comments/${comment.id}`, { body: 'x' })).toMatchObject({
    status: 403,
    json: { error: { code: 'forbidden' } },
  });
  await app.call('DELETE', `/api/v1/members/${member.id}`);
  expect((await ana('GET', '/api/v1/issues')).status).toBe(401);
  expect((await mint({ memberId: member.id })).json.error.details).toMatchObject([
    { path: 'memberId', issue: 'not_found' },
  ]);
});

test('no secret is stored in clear text on disk or in the log', async () => {
  const keys: Json[] = await Promise.all(
    Array.from({ length: 5 }, async () => (await mint({ scopes: ['issues:write'] })).json),
  );
  for (const { id, key } of keys) {
    const call = app.clientOf(key);
    await call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' }, { 'idempotency-key': 'k' });
    await call('POST', '/api/v1/issues', { team: 'NOPE' });
    await app.call('DELETE', `/api/v1/api-keys/${id}`);
    await call('GET', '/api/v1/issues');
  }
  const { store } = app.services;
  const readOne = store.readOne;
  store.readOne = () => Promise.reject(new Error('fault'));
  await app.call('GET', '/api/v1/issues/iss_00000000000000000000000001');
  store.readOne = readOne;
  const secrets = [...keys.map(({ key }) => key), app.workspace.apiKey].map((key) => key.slice(15));
  const logged = JSON.stringify(app.logs);
  expect(logged).toContain('request failed');
  const files = readdirSync(app.dataDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(app.dataDir, name))
    .filter((file) => statSync(file).isFile());
  expect(files.length).toBeGreaterThan(2);
  for (const secret of secrets) {
    expect(logged.includes(secret)).toBe(false);
    for (const file of files)
      expect([file, readFileSync(file).includes(Buffer.from(secret))]).toEqual([file, false]);
  }
});
