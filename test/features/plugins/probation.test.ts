// Probation of a new plugin ends only by runs that a person approved or by a person's decision.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../../core/app/config/config.ts';
import { replay } from '../../../core/app/doctor/replay.ts';
import { openSubject } from '../../../core/app/doctor/subject.ts';
import type { RowSubject } from '../../../core/kernel/checks.ts';
import type { Principal } from '../../../core/kernel/http/principal.ts';
import { allScopes, expandScopes } from '../../../core/kernel/rights/table.ts';
import { scopeOf } from '../../../core/platform/store/store.ts';
import { sha256Hex, type PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { createClock, startApp, type Json, type TestApp } from '../../app.ts';
import { asText, routeAt } from '../../value-client.ts';
import { install, packSource } from './pack.ts';

const v1 = '/api/v1';
const dataDir = mkdtempSync(join(tmpdir(), 'tatami-probation-'));
const clock = createClock();
let app: TestApp;
let number = 0;

beforeAll(async () => void (app = await startApp({ clock, dataDir })));
afterAll(async () => {
  await app.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Adds a comment and a priority to each issue, and writes in every other kind of run. */
const definition = `{
  id: 'com.test.trial', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
  on: { 'issue.created': { filter: { title: { contains: 'For' } }, handle: async ({ data }, ctx) => {
    await ctx.issues.update(data.id, { priority: 'high' });
    await ctx.comments.create(data.id, { body: 'Seen' });
  } } },
  actions: { mark: { target: 'issue', handle: async ({ target }, ctx) => {
    await ctx.issues.update(target.id, { priority: 'urgent' });
  } }, plan: { target: 'issue', handle: async ({ target }, ctx) => {
    await ctx.schedule.once('later', ctx.now() + 60_000, { issue: target.id });
  } } },
  schedules: { later: { handle: async ({ data }, ctx) => {
    await ctx.issues.update(data.issue, { priority: 'urgent' });
  } }, nightly: { cron: '0 3 * * *', handle: async (_, ctx) => {
    for (const { id } of (await ctx.issues.list({ limit: 5 })).data) await ctx.issues.update(id, { priority: 'low' });
  } } },
}`;

/** Packed once: another id or version differs in its manifest, and another version in its code. */
async function packed(id: string, version = '1.0.0'): Promise<PluginPackage> {
  const document = await packSource(definition);
  const code = `${document.code}\n// ${version}`;
  const on = { 'issue.created': { filter: { title: { contains: id } } } };
  return {
    ...document,
    code,
    sha256: await sha256Hex(code),
    manifest: { ...document.manifest, id, version, on },
  };
}

interface Trial {
  readonly id: string;
  readonly installId: string;
  readonly path: string;
}

/** A separate plugin for each test, on probation like a new install. */
async function trial(): Promise<Trial> {
  const id = `com.test.trial${++number}`;
  const created = await install(app.call, await packed(id), { probation: undefined });
  expect(created).toMatchObject({ state: 'probation', probation: { runsLeft: 20 } });
  return { id, installId: created.id, path: `${v1}/plugins/${id}` };
}

const get = async (path: string): Promise<Json> => (await app.call('GET', path)).json;
const left = async ({ path }: Trial): Promise<number | null> => (await get(path)).probation?.runsLeft ?? null;

async function create({ id }: Trial, count = 1): Promise<Json[]> {
  const issues = Array.from({ length: count }, () => ({ team: 'ENG', title: `For ${id}` }));
  const { json } = await app.call('POST', `${v1}/issues/bulk`, { issues });
  await app.settled();
  return json.data;
}

/** Open proposals, newest first. */
const proposals = async ({ installId }: Trial): Promise<Json[]> =>
  (await get(`${v1}/proposals?install=${installId}&status=open&limit=100`)).data;
const decide = (id: string, how: string, body: object = {}) =>
  app.call('POST', `${v1}/proposals/${id}/${how}`, body);

async function ask(actor: Principal['actor'], method: string, path: string, body: object): Promise<number> {
  const [route, params] = routeAt(app, method, path);
  const scope = scopeOf(app.workspace.workspaceId);
  const rights = { scopes: expandScopes(allScopes), narrowed: null, tokenId: actor.id };
  const outcome = await app.app.caller(asText)(route, {
    principal: { scope, actor, ...rights },
    ...{ isCounted: false, params, body },
  });
  return outcome.error ? outcome.error.status : outcome.status;
}

test('many unreviewed runs do not end probation, and write nothing', async () => {
  const at = await trial();
  const created = await create(at, 25);
  expect(await left(at)).toBe(20);
  expect((await get(at.path)).state).toBe('probation');
  expect((await proposals(at)).length).toBe(25);
  const [more] = await create(at);
  for (const { id } of [created[24], more]) expect((await get(`${v1}/issues/${id}`)).version).toBe(1);
});

test('probation ends with the twentieth run that a person approved in full, also with concurrent approvals', async () => {
  const at = await trial();
  await create(at, 23);
  const [rejected, part, ...whole] = await proposals(at);
  await decide(rejected.id, 'reject', { reason: 'No.' });
  expect((await decide(part.id, 'approve', { effects: [part.effects[0].id] })).json.status).toBe(
    'partly_approved',
  );
  expect(await left(at)).toBe(20);
  const approved = await Promise.all(whole.slice(0, 19).map(({ id }) => decide(id, 'approve')));
  expect(approved.map(({ status }) => status)).toEqual(approved.map(() => 200));
  expect(await left(at)).toBe(1);
  // A repeated decision is not counted.
  expect((await decide(whole[0].id, 'approve')).status).toBe(409);
  expect(await left(at)).toBe(1);

  const from = await app.lastSequence();
  expect((await decide(whole[19].id, 'approve')).status).toBe(200);
  expect((await app.eventTypes(from)).filter((type) => !type.startsWith('inbox.'))).toEqual([
    'issue.updated',
    'comment.added',
    'automation.approved',
    'plugin.updated',
  ]);
  expect(await get(at.path)).toMatchObject({ state: 'active', probation: null });
  const inbox = (await get(`${v1}/inbox?limit=5&reason=plugin`)).data.map(({ kind }: Json) => kind);
  expect(inbox).toContain('plugin_probation_ended');
  const [trusted] = await create(at);
  expect((await get(`${v1}/issues/${trusted.id}`)).priority).toBe('high');
});

test('approvals by apps and by the plugin itself neither count nor end probation', async () => {
  const at = await trial();
  await create(at);
  const [open] = await proposals(at);
  const actors = [
    { kind: 'app', id: 'app_1', name: 'Helper', memberId: app.workspace.userId },
    { kind: 'plugin', id: at.installId, name: at.id },
  ] as const;
  for (const actor of actors) {
    expect(await ask(actor, 'POST', `${v1}/proposals/${open.id}/approve`, {})).toBe(403);
    expect(await ask(actor, 'PATCH', at.path, { probation: false })).toBe(403);
  }
  expect(await left(at)).toBe(20);
  // A key of a member acts for the member.
  expect((await decide(open.id, 'approve')).status).toBe(200);
  expect(await left(at)).toBe(19);
});

test('an undo of an approved run subtracts its approval, alone and with others', async () => {
  const at = await trial();
  await create(at, 3);
  const open = await proposals(at);
  for (const { id } of open) await decide(id, 'approve');
  expect(await left(at)).toBe(17);
  expect((await decide(open[0].id, 'undo')).status).toBe(200);
  expect(await left(at)).toBe(18);
  const since = new Date(clock.nowMs() - 1000).toISOString();
  expect((await app.call('POST', `${at.path}/undo`, { since })).json.undid.length).toBe(2);
  expect(await left(at)).toBe(20);
});

test('the count persists across upgrade, rollback, pause and backfill, and a new installation resets it', async () => {
  const at = await trial();
  await create(at, 2);
  const [first, second] = await proposals(at);
  await decide(first.id, 'approve');
  await install(app.call, await packed(at.id, '1.1.0'), { probation: undefined });
  expect(await left(at)).toBe(19);
  await app.call('POST', `${at.path}/rollback`, {});
  expect(await left(at)).toBe(19);
  await app.call('PATCH', at.path, { state: 'paused_by_admin' });
  const [missed] = await create(at);
  expect((await decide(second.id, 'approve')).status).toBe(409);
  await app.call('PATCH', at.path, { state: 'active' });
  expect((await app.call('POST', `${at.path}/catch-up`)).status).toBe(202);
  await app.settled();
  expect((await get(`${v1}/issues/${missed.id}`)).version).toBe(1);
  expect((await proposals(at)).length).toBe(2);
  expect(await left(at)).toBe(19);
  await app.call('DELETE', at.path);
  await install(app.call, await packed(at.id), { probation: undefined });
  expect(await left(at)).toBe(20);
});

test('schedules, actions and one-time jobs on probation propose, and a replay writes nothing', async () => {
  const at = await trial();
  const [issue] = await create(at);
  for (const { id } of await proposals(at))
    await decide(id, 'reject', { reason: 'Other runs are looked at.' });
  for (const action of ['mark', 'plan'])
    expect((await app.call('POST', `${at.path}/actions/${action}`, { target: issue.id })).status).toBe(200);
  expect((await app.call('POST', `${at.path}/schedules/nightly/run`)).status).toBeLessThan(300);
  await app.settled();
  clock.advance(60_000);
  await app.settled();
  const open = await proposals(at);
  expect(open.length).toBe(3);
  for (const { runId } of open) await app.call('POST', `${v1}/runs/${runId}/replay`, {});
  expect((await get(`${v1}/issues/${issue.id}`)).version).toBe(1);
  expect(await left(at)).toBe(20);
});

test('the install, its list and the inbox show the missing approvals and how to end probation', async () => {
  const at = await trial();
  const { message } = (await get(at.path)).probation;
  expect(message).toContain('until people have approved 20 more runs');
  expect(message).toContain(`tatami plugins update ${at.id} --no-probation`);
  await create(at);
  const [item] = (await get(`${v1}/inbox?limit=1`)).data;
  expect(item).toMatchObject({ kind: 'proposal_made', body: expect.stringContaining(message) });
  const { json } = await app.call('PATCH', at.path, { probation: false });
  expect(json).toMatchObject({ state: 'active', probation: null });
  const [issue] = await create(at);
  expect((await get(`${v1}/issues/${issue.id}`)).priority).toBe('high');
  await app.call('PATCH', at.path, { probation: true });
  expect(await left(at)).toBe(20);
});

test('the log and the row of every plugin agree after probation ended by approvals or by a person', async () => {
  // Plugins on probation are tested in test/faults/doctor-random.test.ts.
  const all = (await get(`${v1}/plugins?limit=100`)).data;
  for (const { id } of all) await app.call('PATCH', `${v1}/plugins/${id}`, { probation: false });
  await app.stop();
  const subject = openSubject(readConfig({ dataDir }, {}), clock.now());
  const findings = JSON.stringify(await replay.look(subject as RowSubject));
  subject.close();
  for (const { id } of all) expect(findings).not.toContain(id);
});
