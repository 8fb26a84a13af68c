// Every entity that docs/plugins/undo.md lists as reversible is reverted: a change through an approved proposal, and its undo.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { contracts } from '../../../core/features/contracts.ts';
import type { Contract } from '../../../core/kernel/contract/contract.ts';
import { endpointModel, openAddress } from '../../../core/features/webhooks/index.ts';
import { allScopes } from '../../../core/kernel/rights/table.ts';
import { composedStatement, type SqlRow } from '../../../core/platform/store/statement.ts';
import { scopeOf } from '../../../core/platform/store/store.ts';
import { seed, type Seeds } from '../../api/seeds.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

const endpointById = composedStatement<SqlRow>(
  `SELECT ${endpointModel.select} FROM endpoints WHERE workspace_id = :ws AND id = :id`,
);

const v1 = '/api/v1';
let app: TestApp;
let seeds: Seeds;
/** Another owner, who approves the proposals of the first and undoes them. */
let other: Client;

beforeAll(async () => {
  app = await startApp();
  seeds = await seed(app, app.call, 'ENG', 'https://9.9.9.9/hook?token=first');
  const { id: memberId } = await create('members', { name: 'Olga', role: 'owner' });
  other = app.clientOf((await create('api-keys', { name: 'other', memberId, scopes: allScopes })).key);
});
afterAll(() => app.stop());

async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', `${v1}/${path}`, body);
  expect({ path, status, error: json.error }).toEqual({ path, status: 201, error: undefined });
  return json;
}

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Path that shows the object; default `path`. */
  readonly shown?: string;
}

/** Changes of entities that are not changed by the example of their contract. */
const steps: Readonly<Record<string, (id: string) => Step>> = {
  workspace: () => ({ method: 'PATCH', path: 'workspace', body: { name: 'Acme Two' } }),
  state: (id) => ({
    ...{ method: 'PATCH', path: `workflows/${id}`, body: { name: 'Sorting' } },
    shown: 'workflows?team=ENG',
  }),
  attachment: (id) => ({ method: 'DELETE', path: `attachments/${id}` }),
  relation: (id) => ({ method: 'DELETE', path: `relations/${id}` }),
  reaction: (id) => ({ method: 'DELETE', path: `reactions/${id}` }),
  subscriber: () => ({
    ...{ method: 'DELETE', path: `subscribers/${seeds.issue}/${seeds.member}` },
    shown: `issues/${seeds.issue}/subscribers`,
  }),
  webhook: (id) => ({
    method: 'PATCH',
    path: `webhooks/${id}`,
    body: {
      ...{ url: 'https://9.9.9.9/moved?token=second', description: 'Moved', enabled: false },
      ...{ events: ['comment.*'], ordering: 'entity' },
    },
  }),
  plugin: (id) => ({
    method: 'PATCH',
    path: `plugins/${id}`,
    body: {
      ...{ mode: 'propose', modes: { comment: 'simulate' }, state: 'paused_by_admin', grant: [] },
      ...{ probation: true, budget: { runs: 5, whenSpent: 'propose' } },
    },
  }),
};

function stepOf(contract: Contract): Step {
  const id = seeds[contract.name]!;
  const own = steps[contract.name]?.(id);
  return own ?? { method: 'PATCH', path: `${contract.path}/${id}`, body: contract.examples?.update ?? {} };
}

/** @returns id of the approved proposal */
async function approved({ method, path, body }: Step): Promise<string> {
  const proposed = await app.call(method, `${v1}/${path}`, body, { 'tatami-mode': 'propose' });
  expect({ path, status: proposed.status, error: proposed.json.error }).toMatchObject({ status: 202 });
  const { status, json } = await other('POST', `${v1}/proposals/${proposed.json.id}/approve`, {});
  expect({ path, status, error: json.error }).toMatchObject({ status: 200 });
  return proposed.json.id;
}

/** Response without the values that every write changes. */
async function show(path: string): Promise<Json> {
  const { text } = await app.call('GET', `${v1}/${path}`);
  const changing = ['version', 'updatedAt', 'requestId'];
  return JSON.parse(text, (name, value) => (changing.includes(name) ? undefined : value));
}

const reversible = contracts.filter(({ undo }) => typeof undo === 'string');
test.each(reversible.map((contract) => [contract.name, contract] as const))(
  'a change of a %s is undone',
  async (_, contract) => {
    const step = stepOf(contract);
    const { shown = step.path } = step;
    const before = await show(shown);
    const id = await approved(step);
    expect(await show(shown)).not.toEqual(before);
    const { status, json } = await other('POST', `${v1}/proposals/${id}/undo`);
    expect({ status, skipped: json.skipped, message: json.message ?? json.error }).toEqual({
      ...{ status: 200, skipped: [], message: '1 object reverted.' },
    });
    expect(await show(shown)).toEqual(before);
  },
);

const undo = (by: Client, id: string) => by('POST', `${v1}/proposals/${id}/undo`);

/** Address that deliveries of the webhook are sent to, which no response shows. */
async function fullAddress(id: string): Promise<string> {
  const { store, sealing } = app.services;
  const scope = scopeOf(app.workspace.workspaceId);
  const row = await store.readOne(scope, endpointById, { id });
  return openAddress(sealing, scope.workspaceId, endpointModel.fromRow(row!));
}

test('an undo restores the masked part of an address and keeps a newer signing secret, and shows neither', async () => {
  const { id, secret } = await create('webhooks', {
    ...{ url: 'https://9.9.9.9/hook?token=first', events: ['issue.*'] },
  });
  const moved = await approved({
    ...{ method: 'PATCH', path: `webhooks/${id}`, body: { url: 'https://9.9.9.9/hook?token=second' } },
  });
  const rotated = await app.call('POST', `${v1}/webhooks/${id}/rotate`, {});
  const { secretSince } = (await app.call('GET', `${v1}/webhooks/${id}`)).json;
  const { json, text } = await undo(other, moved);
  const shown = 'https://9.9.9.9/hook?token=…';
  expect(json.changes).toEqual([
    {
      kind: 'webhook',
      id,
      issue: null,
      action: 'update',
      fields: [{ field: 'url', from: shown, to: shown }],
    },
  ]);
  expect(await fullAddress(id)).toBe('https://9.9.9.9/hook?token=first');
  expect((await app.call('GET', `${v1}/webhooks/${id}`)).json).toMatchObject({ url: shown, secretSince });
  const events = await app.call('GET', `${v1}/events?limit=100`);
  for (const hidden of ['first', 'second', secret, rotated.json.secret])
    expect(text + events.text).not.toContain(hidden);

  const again = await app.call('POST', `${v1}/undos/${json.id}/undo`);
  expect(again.json).toMatchObject({ skipped: [], message: '1 object reverted.' });
  expect(await fullAddress(id)).toBe('https://9.9.9.9/hook?token=second');
});

test('an undo of a webhook needs the scopes to subscribe to its events', async () => {
  const { id } = await create('webhooks', { url: 'https://9.9.9.9/hook', events: ['issue.*'] });
  const moved = await approved({
    ...{ method: 'PATCH', path: `webhooks/${id}`, body: { events: ['webhook.*'] } },
  });
  const { key } = await create('api-keys', { name: 'narrow', scopes: ['plugins:write', 'webhooks:write'] });
  const { status, json } = await undo(app.clientOf(key), moved);
  expect({ status, code: json.error?.code }).toEqual({ status: 403, code: 'insufficient_scope' });
  expect((await app.call('GET', `${v1}/webhooks/${id}`)).json.events).toEqual(['webhook.*']);
});

test('a later change of a webhook stays, and is listed by the name of its field', async () => {
  const { id } = await create('webhooks', { url: 'https://9.9.9.9/hook', events: ['issue.*'] });
  const moved = await approved({
    method: 'PATCH',
    path: `webhooks/${id}`,
    body: { url: 'https://9.9.9.9/moved', description: 'Moved' },
  });
  await app.call('PATCH', `${v1}/webhooks/${id}`, { url: 'https://9.9.9.9/later' });
  const { json } = await undo(other, moved);
  expect(json.changes[0].fields.map(({ field }: Json) => field)).toEqual(['description']);
  expect(json.skipped).toMatchObject([
    { field: 'url', reason: 'changed', ranSet: 'https://9.9.9.9/moved', now: 'https://9.9.9.9/later' },
  ]);
});

test('a new version of a plugin is final, with the grant that came with it', async () => {
  const versionOf = (version: string, scope: string) =>
    packSource(
      `{ id: 'com.test.final', version: '${version}', engines: { tatami: '*' }, scopes: { '${scope}': { why: 'test' } }, actions: { go: { title: 'Go', target: 'none', handle() {} } } }`,
    );
  const { id } = await install(app.call, await versionOf('1.0.0', 'issues:read'));
  const upgrade = await approved({
    ...{ method: 'POST', path: 'plugins', shown: `plugins/${id}` },
    body: { package: await versionOf('2.0.0', 'labels:read'), grant: ['labels:read'] },
  });
  const { status, json } = await undo(other, upgrade);
  expect({ status, error: json.error }).toMatchObject({
    status: 409,
    error: { code: 'conflict', message: expect.stringContaining('Revert it by hand.') },
  });
  expect((await app.call('GET', `${v1}/plugins/${id}`)).json.pluginVersion).toBe('2.0.0');
});
