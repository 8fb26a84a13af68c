// References to keys, members and workspaces at the operator socket: a name chosen by a member never matches as an id
// or address.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { operatorSocketOf } from '../../core/app/setup/rpc-schemas.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { tatami } from '../cli/tatami.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

async function order(name: string, body: object): Promise<Json> {
  const response = await fetch(`http://operator/orders/${name}`, {
    unix: operatorSocketOf(app.dataDir),
    method: 'POST',
    body: JSON.stringify(body),
  });
  return response.json();
}
const makeKey = async (call: TestApp['call'], name: string): Promise<Json> => {
  const { status, json } = await call('POST', '/api/v1/api-keys', { name, scopes: ['issues:read'] });
  expect(status).toBe(201);
  return json;
};

test('a key is revoked by its id or prefix, regardless of equally named keys of any workspace', async () => {
  const other = app.clientOf((await app.addWorkspace('Other', 'OTH')).apiKey);
  for (const part of ['id', 'prefix']) {
    const stolen = await makeKey(app.call, 'stolen');
    for (const call of [app.call, other]) await makeKey(call, stolen[part]);
    const { answer, error } = await order('revoke', { key: stolen[part] });
    expect([part, error, answer?.id]).toEqual([part, undefined, stolen.id]);
    expect((await app.call('GET', `/api/v1/api-keys/${stolen.id}`)).json.revokedAt).not.toBeNull();
  }
});

test('a member who is named like the address or id of another member gets no key in their place', async () => {
  const ana = (await app.call('POST', '/api/v1/members', { name: 'Ana', email: 'ana@acme.example' })).json;
  for (const name of ['ana@acme.example', ana.id, 'nobody@acme.example'])
    await app.call('POST', '/api/v1/members', { name });
  const workspace = app.workspace.workspaceId;
  const key = { workspace, name: 'of the operator', scopes: ['issues:read'] };
  for (const member of ['ana@acme.example', ana.id]) {
    const { answer, error } = await order('create', { ...key, member });
    expect([error, answer?.member?.id]).toEqual([undefined, ana.id]);
  }
  const { error } = await order('create', { ...key, member: 'nobody@acme.example' });
  expect(error.message).toContain('There is no member nobody@acme.example');
});

test('a workspace that is named like the id of another one is not selected in its place', async () => {
  const { workspaceId } = app.workspace;
  await app.addWorkspace(workspaceId, 'TWO');
  const { answer, error } = await order('create', {
    ...{ workspace: workspaceId, name: 'of the operator', scopes: ['issues:read'] },
  });
  expect([error, answer?.workspaceId]).toEqual([undefined, workspaceId]);
  const out = join(app.dataDir, 'out.jsonl');
  const exported = await tatami([
    ...['export', out, '--workspace', workspaceId],
    ...['--data-dir', app.dataDir, '--json'],
  ]);
  expect([exported.code, exported.json.workspace?.id]).toEqual([0, workspaceId]);
  rmSync(out);
});
