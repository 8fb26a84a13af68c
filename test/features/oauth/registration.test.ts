import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { createHousekeeping } from '../../../core/app/housekeeping/housekeeping.ts';
import { builtinClients } from '../../../core/features/oauth/clients/clients.ts';
import { createRegisteredClients, unusedMax } from '../../../core/features/oauth/clients/registration.ts';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { systemOp } from '../../../core/platform/store/store.ts';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';
import { makeGrant } from './grant.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
let app: TestApp;
let peers = 0;

const ask = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> => app.clientOf(null)(method, path, body, headers);
/** Registers a client, by default each from another peer. */
const register = (
  body: unknown,
  peer = `198.51.${Math.floor(++peers / 250)}.${peers % 250}`,
): Promise<Reply> => ask('POST', '/oauth/register', body, { 'x-forwarded-for': peer });
const metadata = {
  client_name: 'Agent',
  redirect_uris: ['http://127.0.0.1/cb'],
  token_endpoint_auth_method: 'none',
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const registered = () => createRegisteredClients(app.services);

beforeAll(async () => {
  app = await startApp({ flags: { trustedProxy: '127.0.0.1/32' } });
});
afterAll(() => app.stop());

test('a public client registers, and gets its metadata and its management token (RFC 7591 §3.2.1)', async () => {
  const { status, json, headers } = await register({
    ...metadata,
    logo_uri: 'https://a.example/x.png',
    scope: 'issues:read',
  });
  expect(status).toBe(201);
  expect([headers.get('cache-control'), headers.get('content-type')]).toEqual([
    'no-store',
    'application/json; charset=utf-8',
  ]);
  expect(json).toEqual({
    client_id: expect.stringMatching(/^reg_/),
    client_id_issued_at: Math.floor(app.clock.now() / 1000),
    ...{ client_name: 'Agent', redirect_uris: ['http://127.0.0.1/cb'], application_type: 'native' },
    ...{ grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    registration_client_uri: `${app.url}/oauth/register/${json.client_id}`,
    registration_access_token: expect.stringMatching(/^ttmr_[\w-]{43}$/),
  });
  const stored = await registered().find(json.client_id);
  expect(stored?.client).toMatchObject({
    kind: 'registered',
    name: 'Agent',
    confidential: false,
    registeredIn: null,
  });
});

test('a confidential client gets its secret once, and only hashes of secret and token are stored', async () => {
  const { json } = await register({
    redirect_uris: ['https://app.example/cb'],
    client_uri: 'https://app.example/',
  });
  expect(json).toMatchObject({
    token_endpoint_auth_method: 'client_secret_basic',
    client_name: 'app.example',
  });
  expect([json.client_secret.slice(0, 5), json.client_secret_expires_at]).toEqual(['ttms_', 0]);
  const read = await ask(
    'GET',
    new URL(json.registration_client_uri).pathname,
    undefined,
    bearer(json.registration_access_token),
  );
  expect([read.status, read.json.client_id, 'client_secret' in read.json]).toEqual([
    200,
    json.client_id,
    false,
  ]);
  const db = new Database(join(app.dataDir, 'tatami.db'), { readonly: true });
  const rows = JSON.stringify(db.query('SELECT * FROM oauth_clients').all());
  db.close();
  expect(rows).toContain(json.client_id);
  for (const secret of [json.client_secret, json.registration_access_token])
    expect(rows).not.toContain(secret);
});

test('invalid metadata is rejected with the error code of RFC 7591 §3.2.2 and the fix', async () => {
  const uri = 'https://app.example/cb';
  const cases: readonly (readonly [object: unknown, error: string, says: RegExp])[] = [
    [{ redirect_uris: ['http://app.example/cb'] }, 'invalid_redirect_uri', /Use https/],
    [{ redirect_uris: ['https://app.example/cb#x'] }, 'invalid_redirect_uri', /fragment/],
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri', /private-use scheme/],
    [{ redirect_uris: [uri, 7] }, 'invalid_redirect_uri', /a list/],
    [{ redirect_uris: [] }, 'invalid_redirect_uri', /a list of 1 to 10/],
    [{ redirect_uris: uri }, 'invalid_redirect_uri', /a list/],
    [{}, 'invalid_redirect_uri', /a list/],
    [
      { redirect_uris: [uri], token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
      /not supported. Use client/,
    ],
    [{ redirect_uris: [uri], grant_types: ['implicit'] }, 'invalid_client_metadata', /grant_types/],
    [{ redirect_uris: [uri], grant_types: ['refresh_token'] }, 'invalid_client_metadata', /grant_types/],
    [{ redirect_uris: [uri], response_types: ['token'] }, 'invalid_client_metadata', /response_types/],
    [{ redirect_uris: [uri], client_name: 'Goo\u202egle' }, 'invalid_client_metadata', /client_name/],
    [{ redirect_uris: [uri], client_name: 'a'.repeat(81) }, 'invalid_client_metadata', /client_name/],
    [
      { redirect_uris: [uri], client_name: 'tatami  Command line' },
      'invalid_client_metadata',
      /part of Tatami/,
    ],
    [{ redirect_uris: [uri], client_name: { en: 'x' } }, 'invalid_client_metadata', /client_name/],
    [[], 'invalid_client_metadata', /JSON object/],
    ['{', 'invalid_client_metadata', /not valid JSON/],
  ];
  for (const [body, error, says] of cases) {
    const { status, json } = await register(body);
    expect([body, status, json.error]).toEqual([body, 400, error]);
    expect([body, says.test(json.error_description) || json.error_description]).toEqual([body, true]);
  }
  expect((await register({ ...metadata, pad: 'x'.repeat(20_000) })).status).toBe(413);
});

test('unsupported metadata is dropped, such as an unknown grant type and a logo', async () => {
  const { json } = await register({
    ...metadata,
    grant_types: [
      'authorization_code',
      'refresh_token',
      'password',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    client_uri: 'http://tracking.example/',
  });
  expect(json.grant_types).toEqual([
    'authorization_code',
    'refresh_token',
    'urn:ietf:params:oauth:grant-type:device_code',
  ]);
  expect(json).not.toHaveProperty('client_uri');
  const device = await register({
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
  });
  expect([device.status, device.json.redirect_uris, device.json.response_types]).toEqual([201, [], []]);
});

test('only its own token reads, replaces and deletes a registration (RFC 7592 §2)', async () => {
  const { json: mine } = await register(metadata);
  const { json: other } = await register(metadata);
  const path = `/oauth/register/${mine.client_id}`;
  const update = { ...metadata, client_id: mine.client_id, client_name: 'Agent 2' };
  const wrong = [
    other.registration_access_token,
    `${mine.registration_access_token}x`,
    'x',
    app.workspace.apiKey,
  ];
  for (const token of wrong)
    for (const [method, body] of [['GET'], ['PUT', update], ['DELETE']] as const) {
      const { status, headers, json } = await ask(method, path, body, bearer(token));
      expect([method, status, json.error]).toEqual([method, 401, 'invalid_token']);
      expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    }
  const nowhere = await ask(
    'GET',
    `/oauth/register/reg_${'0'.repeat(26)}`,
    undefined,
    bearer(mine.registration_access_token),
  );
  expect([nowhere.status, nowhere.json.error]).toEqual([401, 'invalid_token']);

  const replaced = await ask('PUT', path, update, bearer(mine.registration_access_token));
  expect(replaced.json).toMatchObject({ client_id: mine.client_id, client_name: 'Agent 2' });
  const token = replaced.json.registration_access_token;
  expect((await ask('GET', path, undefined, bearer(mine.registration_access_token))).status).toBe(401);
  const evil = { ...update, redirect_uris: ['http://evil.example/'] };
  expect((await ask('PUT', path, evil, bearer(token))).json.error).toBe('invalid_redirect_uri');
  for (const body of [
    { ...update, client_id: other.client_id },
    { ...update, registration_access_token: token },
    metadata,
  ])
    expect((await ask('PUT', path, body, bearer(token))).json.error).toBe('invalid_client_metadata');

  expect((await ask('DELETE', path, undefined, bearer(token))).status).toBe(204);
  expect((await ask('GET', path, undefined, bearer(token))).status).toBe(401);
  expect(await registered().find(mine.client_id)).toBeNull();
});

test('one of two concurrent replacements succeeds', async () => {
  const { json } = await register(metadata);
  const body = { ...metadata, client_id: json.client_id };
  const both = await Promise.all(
    [1, 2].map(() =>
      ask('PUT', `/oauth/register/${json.client_id}`, body, bearer(json.registration_access_token)),
    ),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
});

test('the grants of a client that deletes itself end', async () => {
  const { json } = await register(metadata);
  const id = await makeGrant(app, { client: { id: json.client_id, kind: 'registered' } });
  await ask('DELETE', `/oauth/register/${json.client_id}`, undefined, bearer(json.registration_access_token));
  await app.settled();
  expect((await app.call('GET', `/api/v1/grants/${id}`)).json.revokedAt).not.toBeNull();
});

test('an unused registration is deleted after a day, and a used one stays', async () => {
  const { json: idle } = await register(metadata);
  const { json: used } = await register(metadata);
  await makeGrant(app, { client: { id: used.client_id, kind: 'registered' } });
  app.clock.advance(dayMs - 1);
  expect(await registered().find(idle.client_id)).not.toBeNull();
  app.clock.advance(1);
  expect(await registered().find(idle.client_id)).toBeNull();
  const path = `/oauth/register/${idle.client_id}`;
  expect((await ask('GET', path, undefined, bearer(idle.registration_access_token))).status).toBe(401);
  expect(await registered().find(used.client_id)).not.toBeNull();
});

test('housekeeping deletes registrations and their pending requests: after a day unused, or with their last grant', async () => {
  const rowsOf = async (...ids: string[]): Promise<boolean[]> => {
    const db = new Database(join(app.dataDir, 'tatami.db'), { readonly: true });
    const stored = ids.map((id) => db.query('SELECT 1 FROM oauth_clients WHERE id = ?').get(id) !== null);
    db.close();
    return stored;
  };
  const { json: idle } = await register(metadata);
  const { json: used } = await register(metadata);
  const granted = await makeGrant(app, { client: { id: used.client_id, kind: 'registered' } });
  const { store, log, blobs } = app.services;
  const retention = {
    ...{ runs: 14, recordings: 14, undo: 30, deliveries: 30, deleted: 30, events: null },
    snapshots: 90,
  };
  const snapshots = join(app.dataDir, 'snapshots');
  const housekeeping = createHousekeeping({ store, log, clock: app.clock, retention, blobs, snapshots });
  const pass = async (days: number): Promise<boolean[]> => {
    app.clock.advance(days * dayMs);
    await housekeeping.sweep();
    return rowsOf(idle.client_id, used.client_id);
  };
  expect(await rowsOf(idle.client_id, used.client_id)).toEqual([true, true]);
  expect(await pass(2)).toEqual([false, true]);
  await app.call('DELETE', `/api/v1/grants/${granted}`);
  expect(await pass(29)).toEqual([false, true]);
  // The grant is deleted first, and then the registration.
  await pass(1);
  expect(await pass(0)).toEqual([false, false]);
});

test('one peer registers twenty clients an hour, and other peers are unaffected', async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 22; i++) statuses.push((await register(metadata, '203.0.113.9')).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 429, 429]);
  const refused = await register(metadata, '203.0.113.9');
  expect([refused.json.error, refused.headers.get('retry-after')]).toEqual([
    'temporarily_unavailable',
    '3600',
  ]);
  expect((await register(metadata, '203.0.113.10')).status).toBe(201);
  app.clock.advance(hourMs);
  expect((await register(metadata, '203.0.113.9')).status).toBe(201);
});

const fill = systemStatement(
  'test.fill_clients',
  'as many peers would in a day',
  `INSERT INTO oauth_clients (id, metadata_json, token_hash, created_at, updated_at)
   WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
   SELECT 'reg_flood' || i, '{}', '', :at + i, :at FROM n`,
);
const count = systemStatement<{ count: number }>(
  'test.count_clients',
  'of the whole installation',
  'SELECT count(*) AS count FROM oauth_clients WHERE used = 0',
);

test('a flood from many peers is bounded: the oldest unused registrations are deleted first', async () => {
  const { json: used } = await register(metadata);
  await makeGrant(app, { client: { id: used.client_id, kind: 'registered' } });
  const { json: early } = await register(metadata);
  app.clock.advance(2 * hourMs);
  await app.services.store.commit([systemOp(fill, { count: unusedMax, at: app.clock.now() - hourMs })]);
  const { json: late } = await register(metadata);
  const [row] = await app.services.store.readSystem(count);
  expect(row?.count).toBe(unusedMax);
  const there = await Promise.all(
    [used, early, late].map(({ client_id }: Json) => registered().find(client_id)),
  );
  expect(there.map((one) => one !== null)).toEqual([true, false, true]);
});

test('no client registers as a built-in client or as an app', async () => {
  for (const id of [...builtinClients.keys(), `app_${'0'.repeat(26)}`]) {
    const { json } = await register({ ...metadata, client_id: id });
    expect(json.client_id).toMatch(/^reg_/);
  }
});
