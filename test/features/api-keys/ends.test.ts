// A rolled key cannot create others during its grace period, and no key is created for a removed member.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const keyScopes = ['api-keys:write', 'issues:read'];
const mint = async (body: object = {}, call: Client = app.call): Promise<Json> =>
  (await call('POST', '/api/v1/api-keys', { name: 'k', scopes: keyScopes, ...body })).json;

test('a rolled key still reads and may revoke itself, but creates, rolls and revokes no other key', async () => {
  const [leaked, bystander] = [await mint(), await mint()];
  const rolled = (await app.call('POST', `/api/v1/api-keys/${leaked.id}/roll`, {})).json;
  const call = app.clientOf(leaked.key);
  const attempts: [string, string, object | undefined][] = [
    ['POST', '/api/v1/api-keys', { name: 'stays', scopes: ['issues:read'] }],
    ['POST', `/api/v1/api-keys/${rolled.id}/roll`, { graceHours: 0 }],
    ['POST', `/api/v1/api-keys/${bystander.id}/roll`, {}],
    ['DELETE', `/api/v1/api-keys/${rolled.id}`, undefined],
    ['DELETE', `/api/v1/api-keys/${bystander.id}`, undefined],
  ];
  const after = await app.lastSequence();
  for (const [method, path, body] of attempts) {
    const { status, json } = await call(method, path, body);
    expect([method, path, status, json.error.code]).toEqual([method, path, 403, 'forbidden']);
    expect(json.error.message).toContain(rolled.id);
  }
  expect(await app.eventTypes(after)).toEqual([]);
  expect((await call('GET', '/api/v1/issues')).status).toBe(200);
  expect((await mint({}, app.clientOf(rolled.key))).key).toStartWith('ttm_');
  expect((await call('DELETE', `/api/v1/api-keys/${leaked.id}`)).status).toBe(204);
  expect((await call('GET', '/api/v1/issues')).status).toBe(401);
});

test('the key of a removed member can be revoked, but not rolled by the API or the operator', async () => {
  const { id: memberId } = (await app.call('POST', '/api/v1/members', { name: 'Leaving' })).json;
  const { id } = await mint({ memberId });
  await app.call('DELETE', `/api/v1/members/${memberId}`);
  const after = await app.lastSequence();
  const refused = await app.call('POST', `/api/v1/api-keys/${id}/roll`, {});
  expect([refused.status, refused.json.error]).toEqual([
    409,
    expect.objectContaining({ code: 'conflict', message: expect.stringContaining('was removed') }),
  ]);
  const ended = await tatami(['keys', 'roll', id, '--data-dir', app.dataDir]);
  expect([ended.code, ended.err]).toEqual([1, expect.stringContaining('was removed')]);
  expect(await app.eventTypes(after)).toEqual([]);
  expect((await app.call('DELETE', `/api/v1/api-keys/${id}`)).status).toBe(204);
});
