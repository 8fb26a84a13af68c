// `tatami doctor` covers every change of rows: after random operations a directory is clean, and a changed cell is
// found. The seed is printed, and taken from TATAMI_SEED; TATAMI_LONG=1 runs more steps and changes every column.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { readConfig } from '../../core/app/config/config.ts';
import { contracts } from '../../core/features/contracts.ts';
import { replay } from '../../core/app/doctor/replay.ts';
import { examine } from '../../core/app/doctor/doctor.ts';
import { storedModels } from '../../core/app/features.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { contractsOfServer, tableOf, tables } from '../../core/features/tables.ts';
import { factsOf, referencesOf } from '../../core/app/doctor/facts.ts';
import { createSystemClock, startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { printedSeed, randomOf } from '../random.ts';
import { missedChange, missedDeletion, determinedColumns, loggedTables } from './changed-cells.ts';
import { createWorld } from './random-operations.ts';

const seed = printedSeed();
const isLong = process.env.TATAMI_LONG !== undefined;
const parent = mkdtempSync(join(tmpdir(), 'tatami-doctor-random-'));
const v1 = '/api/v1';
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** @param of limits the result to findings of these checks, of any level; default: all errors */
async function findProblems(dataDir: string, nowMs: number, of?: readonly string[]): Promise<string[]> {
  const subject = openSubject(readConfig({ dataDir, sandboxJail: 'off', backupDir: '' }, {}), nowMs);
  const results = await examine(subject, () => undefined).finally(subject.close);
  return results.flatMap(({ check, findings }) =>
    findings
      .filter(({ level }) => of?.includes(check) ?? level === 'error')
      .map(({ message }) => `${check}: ${message}`),
  );
}

describe('rows that change without their own event match the log', () => {
  const clock = createSystemClock();
  const dataDir = join(parent, 'each');
  let app: TestApp;
  beforeAll(async () => void (app = await startApp({ clock, dataDir })));
  afterAll(() => app.stop());
  const findProblems = async (): Promise<string[]> => {
    await app.settled();
    const subject = openSubject(readConfig({ dataDir }, {}), clock.now());
    const findings = replay.look(subject);
    subject.close();
    return findings.map(({ message }) => message);
  };
  const ask = async (method: string, path: string, body?: unknown, headers = {}): Promise<Json> => {
    const { status, json, text } = await app.call(method, v1 + path, body, headers);
    if (status >= 400) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return json;
  };
  const packed = (name: string) =>
    packSource(`{
      id: 'com.test.${name}', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'test' } },
      on: { 'issue.created': { async handle(event, ctx) { await ctx.issues.update(event.data.id, { priority: 'high' }); } } },
    }`);

  test('a plugin on probation, before and after a counted approval', async () => {
    const { id, state } = await install(app.call, await packed('new'), { probation: true });
    expect([state, await findProblems()]).toEqual(['probation', []]);
    for (const title of ['One', 'Two']) await ask('POST', '/issues', { team: 'ENG', title });
    expect(await findProblems()).toEqual([]);
    const { data } = await ask('GET', '/proposals?status=open');
    await ask('POST', `/proposals/${data[0].id}/approve`, {});
    expect((await ask('GET', `/plugins/${id}`)).probation.runsLeft).toBe(19);
    expect(await findProblems()).toEqual([]);
  });

  test('a plugin that waits for consent', async () => {
    await install(app.call, await packed('asks'));
    const wider = await packSource(
      "{ id: 'com.test.asks', version: '2.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'test' }, 'labels:read': { why: 'test' } }, on: { 'issue.created': { handle() {} } } }",
    );
    const { state } = await ask('POST', '/plugins', { package: wider });
    expect([state, await findProblems()]).toEqual(['needs_consent', []]);
  });

  test('a removed plugin, running or paused before', async () => {
    await ask('PATCH', '/plugins/com.test.asks', { state: 'paused_by_admin' });
    for (const name of ['new', 'asks']) {
      await ask('DELETE', `/plugins/com.test.${name}`);
      expect([name, await findProblems()]).toEqual([name, []]);
    }
  });

  test('an issue with a value of a deleted custom field, also after another field took its key', async () => {
    const field = { key: 'area', name: 'Area', type: 'text' };
    const { id } = await ask('POST', '/fields', field);
    await ask('POST', '/issues', { team: 'ENG', title: 'Kept', fields: { area: 'disk' } });
    const changed = await ask('POST', '/issues', { team: 'ENG', title: 'Changed', fields: { area: 'disk' } });
    await ask('DELETE', `/fields/${id}`);
    await ask('POST', '/fields', field);
    await ask('PATCH', `/issues/${changed.id}`, { title: 'Changed since', fields: { area: 'net' } });
    expect(await findProblems()).toEqual([]);
  });

  test('a deleted issue of a milestone that was deleted later', async () => {
    const project = await ask('POST', '/projects', { name: 'Spring' });
    const milestone = await ask('POST', `/projects/${project.id}/milestones`, { name: 'Beta' });
    const projectFields = { projectId: project.id, milestoneId: milestone.id };
    const gone = await ask('POST', '/issues', { team: 'ENG', title: 'Gone', ...projectFields });
    await ask('DELETE', `/issues/${gone.id}`);
    await ask('DELETE', `/milestones/${milestone.id}`);
    expect(await findProblems()).toEqual([]);
    await app.call('POST', `${v1}/issues/${gone.id}/restore`);
    expect(await findProblems()).toEqual([]);
  });

  test('proposals, and inbox items that quote them, of a purged issue', async () => {
    const propose = async (id: string, title: string): Promise<Json> =>
      ask('PATCH', `/issues/${id}`, { title }, { 'tatami-mode': 'propose' });
    const { id } = await ask('POST', '/issues', { team: 'ENG', title: 'Secret' });
    const rejected = await propose(id, 'Secret of A');
    await ask('POST', `/proposals/${rejected.id}/reject`, { reason: 'No.' });
    const open = await propose(id, 'Secret of B');
    await app.settled();
    await ask('DELETE', `/issues/${id}`);
    await ask('POST', `/issues/${id}/purge`);
    expect(await findProblems()).toEqual([]);
    expect((await ask('GET', `/proposals/${open.id}`)).status).toBe('rejected');
  });
});

test('side effects on other objects match the log: comments, removed labels, purges, bulk changes', async () => {
  const clock = createSystemClock();
  const dataDir = join(parent, 'lived');
  const app = await startApp({ clock, dataDir });
  const { id: labelId } = (await app.call('POST', `${v1}/labels`, { name: 'leaving' })).json;
  for (const title of ['Kept', 'Purged', 'Deleted', 'Restored'])
    await app.call('POST', `${v1}/issues`, { team: 'ENG', title, labels: ['leaving', 'bug'] });
  await app.call('POST', `${v1}/issues/ENG-1/comments`, { body: 'Seen' });
  const { json } = await app.call('POST', `${v1}/issues/ENG-2/comments`, { body: 'Goes with its issue' });
  await app.call('POST', `${v1}/comments/${json.id}/resolve`);
  await app.call('POST', `${v1}/issues/bulk-delete`, { ids: ['ENG-2', 'ENG-3', 'ENG-4'] });
  await app.call('DELETE', `${v1}/labels/${labelId}`);
  await app.call('POST', `${v1}/issues/ENG-2/purge`);
  await app.call('POST', `${v1}/issues/ENG-4/restore`);
  await app.call('PUT', `${v1}/issues/external/elsewhere/1`, { team: 'ENG', title: 'From elsewhere' });
  await app.call('POST', `${v1}/issues/bulk-update`, {
    filter: { team: 'ENG' },
    set: { removeLabels: ['bug'] },
  });
  await app.settled();
  await app.stop();
  expect(await findProblems(dataDir, clock.now(), ['replay', 'orphans', 'structure'])).toEqual([]);
});

test('every stored object names its table, and its table names the contract', () => {
  const models = contracts.flatMap(({ name }) => storedModels.get(name) ?? []);
  const declared = Object.values(tableOf).filter(
    ({ contract }) => contract && storedModels.has(contract.name),
  );
  expect(declared.map(({ name, contract }) => `${contract!.name} ${name}`).sort()).toEqual(
    models.map(({ name, table }) => `${name} ${table}`).sort(),
  );
  expect(contractsOfServer.toSorted()).toEqual([
    'api_key',
    'automation',
    'automation_host',
    'grant',
    'oauth_app',
    'plugin',
    'proposal',
    'webhook',
  ]);
});

test('every column of a table that the log or other rows determine is compared, or declared as unlogged', () => {
  const references = referencesOf({ rows: () => [], database: () => new Database(':memory:') }, () => false);
  for (const { name, contract, columns, key, log, unlogged, derived } of tables) {
    if (typeof log === 'object' || name === 'search_index') continue;
    const facts = contract ? factsOf(contract, references).flatMap((fact) => fact.columns) : key;
    const compared = new Set([
      ...key,
      ...facts,
      ...derived.flatMap((one) => one.columns),
      ...Object.keys(unlogged),
    ]);
    expect([name, columns.filter((column) => !compared.has(column))]).toEqual([name, []]);
  }
});

test('after random operations the doctor finds nothing, and then it finds a changed cell and a deleted row', async () => {
  const random = randomOf(seed);
  const clock = createSystemClock();
  const dataDir = join(parent, 'random');
  const app = await startApp({ clock, dataDir, flags: { egressAllow: '127.0.0.0/8' } });
  const world = await createWorld(app, random, 'http://127.0.0.1:1/');
  for (let step = 0; step < (isLong ? 600 : 60); step++) await world.step();
  // No later operation follows that would emit events for these objects.
  const steps = isLong ? 200 : 20;
  let undone = 0;
  for (let step = 0; step < steps; step++) if (await world.rework()) undone++;
  expect(undone).toBeGreaterThan(steps / 4);
  await app.settled();
  await app.stop();
  expect(await findProblems(dataDir, clock.now())).toEqual([]);
  const db = new Database(join(dataDir, 'tatami.db'));
  db.exec('PRAGMA foreign_keys = OFF');
  const columns = determinedColumns(db);
  const tried = isLong ? columns : Array.from({ length: 15 }, () => random.of(columns));
  expect(tried.flatMap((column) => missedChange(db, column, random) ?? [])).toEqual([]);
  const emptied = isLong ? loggedTables : Array.from({ length: 5 }, () => random.of(loggedTables));
  expect(emptied.flatMap((table) => missedDeletion(db, table, random) ?? [])).toEqual([]);
  db.close();
}, 1_800_000);
