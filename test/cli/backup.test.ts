// `tatami backup`, `backups`, `restore` and `release`, run beside a live server.
import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createSystemClock, startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { hooksOf, startReceiver } from '../features/webhooks/receiver.ts';
import { tatami, temporary } from './tatami.ts';

const flags = { egressAllow: '127.0.0.0/8' };
const titles = async (app: TestApp): Promise<string[]> =>
  (await app.call('GET', '/api/v1/issues?sort=number')).json.data.map(({ title }: Json) => title);
const mode = (path: string): number => statSync(path).mode & 0o777;

test('a backup of a running server is restored, and acts only after the operator releases it', async () => {
  using dir = temporary();
  const receiver = startReceiver();
  const app = await startApp({ flags, clock: createSystemClock(), dataDir: dir.path('data') });
  const hooks = hooksOf(app);
  await hooks.register(receiver.url);
  await install(
    app.call,
    await packSource(
      `{ id: 'com.test.seen', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
         on: { 'issue.created': async (event, ctx) => { await ctx.kv.increment('seen'); } },
         schedules: { work: { cron: '0 3 * * *', handle: async (_, ctx) => { await ctx.kv.increment('done'); } } } }`,
    ),
  );
  await hooks.file('before');
  await app.settled();
  const sent = receiver.received.length;

  const backup = await tatami(['backup', dir.path('backups'), '--data-dir', app.dataDir, '--json']);
  expect([backup.code, backup.json.withKey, backup.json.workspaces]).toEqual([0, false, 1]);
  expect([mode(dir.path('backups')), mode(backup.json.path)]).toEqual([0o700, 0o600]);
  // Remains of a killed verification do not block the next one, and are removed.
  mkdirSync(dir.path('backups/.verifying'));
  writeFileSync(dir.path('backups/.verifying/tatami.db'), 'left');
  const verified = await tatami(['backups', 'verify', '--deep', dir.path('backups'), '--json']);
  expect([verified.code, verified.json.backups]).toEqual([0, [{ path: backup.json.path, problem: null }]]);
  expect(readdirSync(dir.path('backups')).sort()).toEqual(['.lock', basename(backup.json.path)]);
  await hooks.file('after');
  await app.settled();
  await app.stop();
  expect(readFileSync(backup.json.path).includes(readFileSync(join(app.dataDir, 'master.key')))).toBe(false);

  const restored = await tatami([
    ...['restore', backup.json.path, '--data-dir', dir.path('new'), '--json'],
    ...['--key', join(app.dataDir, 'master.key')],
  ]);
  expect([restored.code, restored.json.hasKey, restored.json.position]).toEqual([
    0,
    true,
    backup.json.position,
  ]);
  expect(restored.json.generation).not.toBe(backup.json.generation);
  const again = await startApp(
    { flags, clock: createSystemClock(), dataDir: dir.path('new') },
    app.workspace,
  );
  expect(await titles(again)).toEqual(['before']);
  receiver.received.length = 0;
  await hooksOf(again).file('held back');
  const run = await again.call('POST', '/api/v1/plugins/com.test.seen/schedules/work/run');
  expect(run.status).toBe(202);
  again.clock.advance(90_000_000);
  await again.settled();
  expect((await again.call('GET', '/api/v1/deliveries')).json.data.length).toBe(sent);
  expect((await again.call('GET', `/api/v1/runs/${run.json.id}`)).json.status).toBe('queued');
  expect(receiver.received).toEqual([]);
  expect(again.services.problems.list().map(({ kind }) => kind)).toContain('held');

  let ended = false;
  const word = tatami(['release', '--data-dir', again.dataDir, '--json']).finally(() => (ended = true));
  while (!ended) {
    again.clock.advance(500);
    await Bun.sleep(20);
  }
  expect((await word).json.released).toBe(true);
  await again.settled();
  expect(again.services.problems.list()).toEqual([]);
  expect(receiver.received.map(({ event }) => event.data.title)).toContain('held back');
  expect(sent).toBeGreaterThan(0);
  const kv = async (key: string): Promise<number> =>
    (await again.call('GET', `/api/v1/plugins/com.test.seen/kv/${key}`)).json.value;
  expect([await kv('seen'), await kv('done')]).toEqual([2, 1]);
  const later = await again.restart();
  expect(later.services.problems.list()).toEqual([]);
  await later.stop();
  await receiver.stop();
}, 60_000);

test('a server makes due backups, reports failures, and continues after a restart', async () => {
  using dir = temporary();
  const folder = dir.path('backups');
  const clock = createSystemClock();
  const scheduled = { ...flags, backupDir: folder, backupSchedule: '0 3 * * *', backupKeep: 'last=2' };
  const app = await startApp({ flags: scheduled, clock, dataDir: dir.path('data') });
  const there = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.backup'));
  const until = async (what: () => boolean): Promise<void> => {
    while (!what()) {
      clock.advance(5_000);
      await Bun.sleep(20);
    }
  };
  const said = (message: string): number => app.logs.filter((entry) => entry.message === message).length;

  // Without any backup the first one is due at once; the next ones follow the schedule.
  await until(() => said('a backup was made') === 1);
  expect(there().length).toBe(1);
  clock.advance(86_400_000);
  await until(() => said('a backup was made') === 2);
  expect(app.services.problems.list()).toEqual([]);

  // A failed backup raises a problem, which the next success clears.
  renameSync(folder, dir.path('moved'));
  writeFileSync(folder, 'in the way');
  await until(() => app.services.problems.list().length > 0);
  expect(app.services.problems.list()[0]).toMatchObject({ kind: 'backup' });
  rmSync(folder);
  renameSync(dir.path('moved'), folder);
  await until(() => app.services.problems.list().length === 0);
  clock.advance(86_400_000);
  await until(() => said('a backup was made') === 3);
  expect(app.services.problems.list()).toEqual([]);

  // A start reads the time of the last backup from the folder.
  const later = await app.restart();
  later.clock.advance(30_000);
  expect(there().length).toBe(2);
  await later.stop();
}, 60_000);

test('a continuous copy is restored to a point in time, and only with the right key', async () => {
  using dir = temporary();
  const copyTo = dir.path('copy');
  const app = await startApp({ flags: { copyTo }, clock: createSystemClock(), dataDir: dir.path('data') });
  const round = async (title: string): Promise<string> => {
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
    await app.copier?.round();
    while (app.copier?.status().base !== null) await Bun.sleep(5);
    const at = new Date(app.clock.nowMs()).toISOString();
    app.clock.advance(60_000);
    return at;
  };
  const first = await round('first');
  await round('second');
  await app.stop();

  const key = join(app.dataDir, 'master.key');
  const restore = (to: string, ...more: string[]) =>
    tatami(['restore', copyTo, '--data-dir', dir.path(to), '--json', ...more]);
  const wrongKey = dir.path('other.key');
  writeFileSync(wrongKey, Buffer.alloc(32, 7).toString('base64'));
  const refused = await restore('refused', '--key', wrongKey);
  expect([refused.code, refused.json.error.message]).toEqual([
    1,
    expect.stringContaining('does not match this database'),
  ]);
  expect(readdirSync(dir.path('.')).filter((name) => name.startsWith('refused'))).toEqual([]);

  for (const [to, more, wanted] of [
    ['at', ['--to', first], ['first']],
    ['newest', [], ['first', 'second']],
  ] as const) {
    expect((await restore(to, '--key', key, ...more)).code).toBe(0);
    const again = await startApp({ clock: createSystemClock(), dataDir: dir.path(to) }, app.workspace);
    expect(await titles(again)).toEqual([...wanted]);
    expect(again.services.problems.list().map(({ kind }) => kind)).toEqual(['held']);
    await again.stop();
  }
  const never = await restore('never', '--to', '2020-01-01T00:00:00Z');
  expect([never.code, never.json.error.message]).toEqual([1, expect.stringContaining('covers')]);
}, 60_000);

test('pruning preserves the last good backup, regardless of the rule, and damaged ones', async () => {
  using dir = temporary();
  const folder = dir.path('backups');
  const app = await startApp({ clock: createSystemClock(), dataDir: dir.path('data') });
  await app.stop();
  const backup: string[] = [];
  for (let i = 0; i < 3; i++)
    backup.push((await tatami(['backup', folder, '--data-dir', app.dataDir, '--json'])).json.path);
  const [oldest = '', good = '', newest = ''] = backup;
  const bytes = readFileSync(newest);
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(newest, bytes);

  const { code, json } = await tatami(['backups', 'prune', folder, '--keep-last', '1', '--json']);
  expect([code, json]).toEqual([0, { kept: [newest, good], deleted: [oldest], damaged: [newest] }]);
  const verified = await tatami(['backups', 'verify', folder, '--json']);
  expect([verified.code, verified.json.backups.map(({ problem }: Json) => problem)]).toEqual([
    1,
    ['The database in the backup is damaged. Use another backup.', null],
  ]);
  expect((await tatami(['backups', 'prune', folder, '--json'])).code).toBe(2);
}, 60_000);
