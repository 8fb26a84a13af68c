// Names on the consent page: no client can pose as part of Tatami, regardless of how it is registered.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createDocuments } from '../../core/features/oauth/clients/documents.ts';
import { isLikeOurs } from '../../core/platform/lib/display-name.ts';
import { startApp, type TestApp } from '../app.ts';

const imitations = [
  'Tatami command line',
  'TATAMI Command-Line',
  'Tatami',
  'Tatami.',
  'Tatami™',
  'Tatami c\u043emmand line',
  'Tatami\u2011command\u2011line',
  'Tatami\u00a0\u3000command line',
  'Tat\u200cami\u200d CLI',
  'T\u0430t\u0430m\u0456',
  '\u03a4\u0391\u03a4\u0391\u039c\u0399 Support',
  '\uff34\uff41\uff54\uff41\uff4d\uff49',
  '\ud835\udd17\ud835\udd1e\ud835\udd31\ud835\udd1e\ud835\udd2a\ud835\udd26',
  '\u24c9\u24d0\u24e3\u24d0\u24dc\u24d8',
  'T\u0332a\u0332t\u0332a\u0332m\u0332i\u0332',
  'T\u00e1t\u00e4m\u00ef',
  'Tatam\u0131',
  'Tatarni',
  'T4t4m1 login',
  '7@tam!',
  '“Tatami”',
  '- Tatami',
  'T a t a m i',
  '\u13a2atami',
  '\u1d1b\u1d00\u1d1b\u1d00\u1d0d\u026a',
];
const others = [
  'Acme for Tatami',
  'Agent',
  'Ta',
  'Tat',
  'Mats & More',
  'Татьяна',
  'Ταμείο',
  '畳アプリ',
  'Tamati',
  'Atami',
];
const redirectUris = ['https://app.example/cb'];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

test('a name that resembles Tatami is recognized, and no other is', () => {
  expect(imitations.filter((name) => !isLikeOurs(name))).toEqual([]);
  expect(others.filter((name) => isLikeOurs(name))).toEqual([]);
});

const register = (name: string) =>
  app.clientOf(null)('POST', '/oauth/register', { client_name: name, redirect_uris: redirectUris });

test('no client can register or rename itself to resemble Tatami', async () => {
  const { json: mine } = await register('Agent');
  for (const name of imitations.slice(0, 6)) {
    const { status, json } = await register(name);
    expect([name, status, json.error]).toEqual([name, 400, 'invalid_client_metadata']);
    expect(json.error_description).toContain('Acme for Tatami');
  }
  const { pathname } = new URL(mine.registration_client_uri);
  const renamed = await app.clientOf(mine.registration_access_token)('PUT', pathname, {
    client_id: mine.client_id,
    client_name: imitations[5],
    redirect_uris: redirectUris,
  });
  expect([renamed.status, renamed.json.error]).toEqual([400, 'invalid_client_metadata']);
  expect((await register('Acme for Tatami')).status).toBe(201);
});

test('no OAuth app of a workspace can be registered or renamed to resemble Tatami', async () => {
  const before = await app.lastSequence();
  const { json: mine } = await app.call('POST', '/api/v1/oauth-apps', { name: 'Reports', redirectUris });
  for (const name of imitations) {
    const created = await app.call('POST', '/api/v1/oauth-apps', { name, redirectUris });
    const renamed = await app.call('PATCH', `/api/v1/oauth-apps/${mine.id}`, { name });
    for (const { status, json } of [created, renamed])
      expect([name, status, json.error.details[0].path]).toEqual([name, 422, 'name']);
  }
  expect(await app.eventTypes(before)).toEqual(['oauth_app.created']);
});

test('no client metadata document can resemble Tatami', async () => {
  for (const [index, name] of imitations.slice(0, 6).entries()) {
    const id = `https://client.example/${index}`;
    const body = JSON.stringify({ client_id: id, client_name: name, redirect_uris: redirectUris });
    const documents = createDocuments({
      nowMs: app.services.nowMs,
      egress: {
        send: () =>
          Promise.resolve({
            ...{ status: 200, latencyMs: 1, address: '203.0.113.1', truncated: false },
            headers: { 'content-type': 'application/json' },
            body: new TextEncoder().encode(body),
          }),
      },
    });
    await expect(documents.find(id)).rejects.toThrow('could be mistaken for a part of Tatami');
  }
});
