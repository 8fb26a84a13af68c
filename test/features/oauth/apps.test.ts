import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createClients } from '../../../core/features/oauth/clients/clients.ts';
import { createDocuments } from '../../../core/features/oauth/clients/documents.ts';
import { createRegisteredClients } from '../../../core/features/oauth/clients/registration.ts';
import { isVerifiedIn, protocolMetadata } from '../../../core/features/oauth/clients/client.ts';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';
import { asText } from '../../value-client.ts';
import { signIn } from '../sign-in/person.ts';
import { createSessions } from '../../../core/features/sign-in/sessions.ts';

const v1 = '/api/v1/oauth-apps';
const hourMs = 3_600_000;
let app: TestApp;
const body = { name: 'Reports', redirectUris: ['https://reports.acme.example/callback'] };
const register = (more: object = {}): Promise<Reply> => app.call('POST', v1, { ...body, ...more });

/** The clients as the authorization server sees them. */
const clients = () => {
  const { services } = app;
  const egress = { send: () => Promise.reject(new Error('nothing is fetched here')) };
  return createClients({
    services,
    registered: createRegisteredClients(services),
    documents: createDocuments({ egress, nowMs: services.nowMs }),
  });
};

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

test('an app is registered, returned without its secret, changed and deleted, and each change emits an event', async () => {
  const from = await app.lastSequence();
  const { status, json, headers } = await register({ confidential: true, homepage: 'https://acme.example/' });
  expect([status, headers.get('location')]).toEqual([201, `${app.url}${v1}/${json.id}`]);
  expect(json).toMatchObject({ ...body, confidential: true, verified: true, previousSecretExpiresAt: null });
  expect(json.secret).toMatch(/^ttms_[0-9A-Za-z]{38}$/);
  const changed = await app.call('PATCH', `${v1}/${json.id}`, { description: 'Weekly.' });
  expect(changed.json).toMatchObject({ description: 'Weekly.', version: 2 });
  for (const path of [`${v1}/${json.id}`, v1, '/api/v1/events?limit=100', '/api/v1/audit-log'])
    expect((await app.call('GET', path)).text).not.toContain(json.secret.slice(0, 20));
  expect((await app.call('DELETE', `${v1}/${json.id}`)).status).toBe(204);
  expect((await app.call('GET', `${v1}/${json.id}`)).status).toBe(404);
  expect(await app.eventTypes(from)).toEqual(['oauth_app.created', 'oauth_app.updated', 'oauth_app.deleted']);
  const [entry] = (await app.call('GET', '/api/v1/audit-log?limit=1')).json.data;
  expect(entry).toMatchObject({ action: 'oauth_app.deleted', target: { kind: 'oauth_app', id: json.id } });
});

test('a public app has no secret to rotate, and the client type is fixed at registration', async () => {
  const { json } = await register();
  expect([json.confidential, json.secret, json.secretSince]).toEqual([false, null, null]);
  expect((await app.call('POST', `${v1}/${json.id}/rotate-secret`, {})).json.error.code).toBe('conflict');
  const { json: wrong } = await app.call('PATCH', `${v1}/${json.id}`, { confidential: true });
  expect(wrong.error.details).toMatchObject([{ path: 'confidential', issue: 'unknown_field' }]);
});

test('owners and admins write apps, and members, guests, apps and plugins cannot', async () => {
  const scopes = ['oauth-apps:write'];
  const { json: created } = await register({ confidential: true });
  for (const [role, isAllowed] of Object.entries({ owner: true, admin: true, member: false, guest: false })) {
    const member = (await app.call('POST', '/api/v1/members', { name: role, role })).json.id;
    const { key } = (await app.call('POST', '/api/v1/api-keys', { name: role, scopes, memberId: member }))
      .json;
    const call = app.clientOf(key);
    const mine = await call('POST', v1, body);
    const replies = [
      mine,
      await call('PATCH', `${v1}/${created.id}`, { description: role }),
      await call('POST', `${v1}/${created.id}/rotate-secret`, { graceHours: 0 }),
      await call('DELETE', `${v1}/${mine.json?.id ?? created.id}`),
    ];
    const want = isAllowed ? [201, 200, 200, 204] : [403, 403, 403, 403];
    expect([role, ...replies.map(({ status }) => status)]).toEqual([role, ...want]);
  }
  const owner = app.workspace.userId;
  const { who } = await signIn(app);
  const person = (await createSessions(app.services).principal(who, app.workspace.workspaceId))!;
  const call = app.app.caller(asText);
  const route = app.app.route('oauth-apps.create');
  const as = (actor: Partial<typeof person.actor>) =>
    call(route, {
      principal: { ...person, actor: { ...person.actor, ...actor } },
      isCounted: false,
      params: {},
      body,
    });
  expect((await as({})).error).toBeNull();
  for (const kind of ['app', 'plugin'] as const)
    expect((await as({ kind, id: `${kind}_1`, memberId: owner })).error?.code).toBe('forbidden');
});

test('an app of another workspace responds like one that does not exist', async () => {
  const { json } = await register({ confidential: true });
  const other = app.clientOf((await app.addWorkspace('Elsewhere', 'ELS')).apiKey);
  const nowhere = `app_${'0'.repeat(26)}`;
  for (const [method, path, sent] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'Mine' }],
    ['POST', '/rotate-secret', {}],
    ['DELETE', '', undefined],
  ] as const) {
    const foreign = await other(method, `${v1}/${json.id}${path}`, sent);
    const missing = await other(method, `${v1}/${nowhere}${path}`, sent);
    expect([method, foreign.status, foreign.json.error.message]).toEqual([
      method,
      404,
      missing.json.error.message,
    ]);
  }
  expect((await other('GET', v1)).json.data).toEqual([]);
});

test('after a rotation both secrets are valid until the grace period ends, and then only the new one', async () => {
  const { json: created } = await register({ confidential: true });
  const proves = (secret: string): Promise<boolean> => clients().proves(created.id, secret);
  const rotate = async (sent: object): Promise<Json> =>
    (await app.call('POST', `${v1}/${created.id}/rotate-secret`, sent)).json;
  const second = await rotate({ graceHours: 2 });
  expect([await proves(created.secret), await proves(second.secret)]).toEqual([true, true]);
  app.clock.advance(2 * hourMs - 1);
  expect([await proves(created.secret), await proves(second.secret)]).toEqual([true, true]);
  app.clock.advance(1);
  expect([await proves(created.secret), await proves(second.secret)]).toEqual([false, true]);
  const third = await rotate({});
  const fourth = await rotate({ graceHours: 0 });
  expect(await Promise.all([second, third, fourth].map(({ secret }) => proves(secret)))).toEqual([
    ...[false, false, true],
  ]);
  for (const wrong of [
    '',
    'ttms_',
    fourth.secret.slice(1),
    `${fourth.secret.slice(0, -1)}!`,
    `${fourth.secret} `,
  ])
    expect([wrong, await proves(wrong)]).toEqual([wrong, false]);
  await app.call('DELETE', `${v1}/${created.id}`);
  expect([await proves(fourth.secret), await clients().find(created.id)]).toEqual([false, null]);
});

test('at most four earlier secrets are valid at once, after any number of rotations', async () => {
  const { json } = await register({ confidential: true });
  const rotated = [];
  for (let i = 0; i < 5; i++)
    rotated.push((await app.call('POST', `${v1}/${json.id}/rotate-secret`, {})).status);
  expect(rotated).toEqual([200, 200, 200, 200, 409]);
  const last = await app.call('POST', `${v1}/${json.id}/rotate-secret`, { graceHours: 0 });
  expect(last.status).toBe(200);
});

test('two concurrent rotations both return a working secret, or ask to try again', async () => {
  const { json } = await register({ confidential: true });
  const both = await Promise.all(
    [1, 2].map(() => app.call('POST', `${v1}/${json.id}/rotate-secret`, { graceHours: 24 })),
  );
  for (const reply of both)
    if (reply.status === 200) expect(await clients().proves(json.id, reply.json.secret)).toBe(true);
    else expect(reply.status).toBe(409);
  expect(await clients().proves(json.id, json.secret)).toBe(true);
});

test('the authorization server receives no secret, and learns which admins vouch for the app', async () => {
  const { json } = await register({ confidential: true, redirectUris: ['http://127.0.0.1/cb'] });
  const client = (await clients().find(json.id))!;
  expect(JSON.stringify(protocolMetadata(client))).not.toContain('ttms_');
  expect(protocolMetadata(client)).toMatchObject({
    ...{ client_id: json.id, client_name: 'Reports', redirect_uris: ['http://127.0.0.1/cb'] },
    ...{ application_type: 'native', token_endpoint_auth_method: 'client_secret_basic' },
  });
  const { workspaceId } = app.workspace;
  expect([isVerifiedIn(client, workspaceId), isVerifiedIn(client, 'another')]).toEqual([true, false]);
  expect(await clients().find('tatami-cli')).toMatchObject({ kind: 'app', confidential: false });
  expect(await clients().find('nobody')).toBeNull();
});

const good = [
  'https://app.example/callback',
  'https://app.example',
  'https://app.example:8443/callback?tenant=1',
  'https://xn--bcher-kva.example/cb',
  'https://192.0.2.7/cb',
  'http://127.0.0.1/cb',
  'http://127.0.0.1:51234/cb',
  'http://[::1]/cb',
  'http://localhost:3000/oauth/callback',
  'com.example.app:/callback',
  'com.example.app://callback',
  'cursor://anysphere.cursor-mcp/oauth/callback',
];
const bad: readonly (readonly [uri: string, says: RegExp])[] = [
  ['http://app.example/callback', /intercepted/],
  ['http://127.0.0.2/cb', /intercepted/],
  ['http://127.0.0.1.evil.example/cb', /intercepted/],
  ['http://localhost.evil.example/cb', /intercepted/],
  ['http://2130706433/cb', /not in normal form/],
  ['https://app.example/cb#part', /fragment/],
  ['https://app.example/cb#', /fragment/],
  ['https://*.app.example/cb', /Wildcards/],
  ['https://app.example/*', /Wildcards/],
  ['https://user@app.example/cb', /contains a user name/],
  ['https://user:pw@app.example/cb', /contains a user name/],
  ['https://@app.example/cb', /contains a user name/],
  ['https://good.example@evil.example/cb', /contains a user name/],
  ['https://APP.example/cb', /not in normal form/],
  ['https://app.example:443/cb', /not in normal form/],
  ['https://app.example/a/../cb', /not in normal form/],
  ['https://app.example/a/%2e%2e/cb', /not in normal form/],
  ['https://app.example\\@evil.example/cb', /cannot have/],
  ['https://app.example/c b', /cannot have/],
  ['https://app.example/cb\n', /cannot have/],
  ['https://bücher.example/cb', /cannot have/],
  ['https://app.example./cb', /ends with a dot/],
  ['https://localhost/cb', /loopback/],
  ['https://app.example/cb?code=1', /`code`/],
  ['https://app.example/cb?x=1&state=2', /`state`/],
  ['https:///cb', /not in normal form/],
  ['https://', /not absolute/],
  ['/callback', /not absolute/],
  ['javascript:alert(1)', /is not allowed/],
  ['data:text/html,x', /is not allowed/],
  ['file:///etc/passwd', /is not allowed/],
  ['myapp:/callback', /is not allowed/],
  ['urn:ietf:wg:oauth:2.0:oob', /is not allowed/],
  ['com.example.app:callback', /no path after/],
  ['com.example.app://user@host/cb', /contains a user name/],
  [`https://app.example/${'a'.repeat(990)}`, /longer|at most/],
];

test('a redirect URI is registered only in a form that every parser reads alike (RFC 9700 §2.1, §4.1)', async () => {
  for (const uri of good) {
    const { status, json } = await app.call(
      'POST',
      `${v1}?`,
      { ...body, redirectUris: [uri] },
      { 'tatami-mode': 'simulate' },
    );
    expect([uri, status, json.error?.message]).toEqual([uri, 201, undefined]);
  }
  for (const [uri, says] of bad) {
    const { status, json } = await register({ redirectUris: ['https://app.example/cb', uri] });
    expect([uri, status, json.error?.details?.[0]?.path]).toEqual([uri, 422, 'redirectUris.1']);
    expect([uri, says.test(json.error.message) || json.error.message]).toEqual([uri, true]);
  }
  for (const redirectUris of [
    [],
    Array.from({ length: 11 }, (_, i) => `https://a.example/${i}`),
    [good[0], good[0]],
  ])
    expect((await register({ redirectUris })).status).toBe(422);
  const { json: registered } = await register();
  const moved = await app.call('PATCH', `${v1}/${registered.id}`, { redirectUris: ['http://evil.example/'] });
  expect(moved.json.error.details).toMatchObject([{ path: 'redirectUris.0', issue: 'invalid_format' }]);
});

test('the name and the home page of an app contain no misleading characters', async () => {
  const names = [
    '',
    ' ',
    'Repo\u0007rts',
    'Goo\u202egle',
    'Acme\u200b',
    'Acme\n(verified)',
    ' Acme',
    'a'.repeat(81),
  ];
  for (const name of names) {
    const { status, json } = await register({ name });
    expect([name, status, json.error?.details?.[0]?.path]).toEqual([name, 422, 'name']);
  }
  for (const homepage of [
    'http://acme.example',
    'javascript:alert(1)',
    'https://acme.example@evil.example/',
    'https://',
  ])
    expect([homepage, (await register({ homepage })).status]).toEqual([homepage, 422]);
  expect((await register({ name: '会計 – Büro' })).status).toBe(201);
});

test('a workspace has at most a hundred apps, also under concurrent registration', async () => {
  const { apiKey } = await app.addWorkspace('Full', 'FUL');
  const call = app.clientOf(apiKey);
  for (let i = 0; i < 98; i += 14)
    await Promise.all(Array.from({ length: 14 }, () => call('POST', v1, body)));
  const last = await Promise.all(Array.from({ length: 6 }, () => call('POST', v1, body)));
  expect(last.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(last.find(({ status }) => status !== 201)?.json.error.code).toBe('conflict');
});
