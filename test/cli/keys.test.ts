// Access by API key: a first start that is killed before it printed its key does not lock anyone out, and the operator
// can create, roll and revoke keys, with and without a running server.
import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../core/app/config/config.ts';
import { replay } from '../../core/app/doctor/replay.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { createWorkspace } from '../../core/app/setup/first-workspace.ts';
import { operatorSocketOf } from '../../core/app/setup/rpc-schemas.ts';
import { tryLock } from '../../core/platform/store/files/data-dir.ts';
import { createSystemClock, startApp, type Json } from '../app.ts';
import { collect, serveTatami, spawnTatami, tatami, temporary, type CliResult } from './tatami.ts';

const statusWith = async (url: string, key: string): Promise<number> =>
  (await fetch(`${url}/api/v1/api-keys`, { headers: { authorization: `Bearer ${key}` } })).status;

test('a first start that ended before it printed its key is completed by the next one, with another key', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  // The steps of a first start, up to the moment of the kill.
  const app = await startApp({ dataDir, clock: createSystemClock() });
  const { services, committer } = app;
  const input = {
    name: 'Mine',
    teamKey: 'OPS',
    teamName: 'Operations',
    ownerName: 'Owner',
    isShownLater: true,
  };
  const unseen = await createWorkspace(services, committer, input);
  await app.stop();

  const second = await serveTatami(['--data-dir', dataDir, '--first-start', '--json']);
  const startOutput = JSON.parse(second.start);
  expect(startOutput).toMatchObject({
    workspaceId: unseen.workspaceId,
    teamKey: 'OPS',
    userId: unseen.userId,
  });
  expect(await statusWith(second.url, startOutput.apiKey)).toBe(200);
  expect(await statusWith(second.url, unseen.apiKey)).toBe(401);
  const linkStatus = async (url: string) => (await fetch(second.url + new URL(url).pathname)).status;
  expect([await linkStatus(startOutput.setUpUrl), await linkStatus(unseen.setUpUrl)]).toEqual([200, 404]);
  const plugins = await fetch(`${second.url}/api/v1/plugins`, {
    headers: { authorization: `Bearer ${startOutput.apiKey}` },
  });
  expect(await plugins.json()).toMatchObject({ data: [{ pluginId: 'auto-triage' }] });
  second.child.kill('SIGKILL');
  await second.child.exited;

  const third = await serveTatami(['--data-dir', dataDir, '--first-start', '--json']);
  expect(JSON.parse(third.start).apiKey).toBeUndefined();
  expect(JSON.parse(third.start).setUpUrl).toBeUndefined();
  expect(await statusWith(third.url, startOutput.apiKey)).toBe(200);
  third.child.kill('SIGKILL');
  await third.child.exited;
});

test('after a kill during the first start, the next one prints a working key (at 70 moments with TATAMI_LONG=1)', async () => {
  const wrong: string[] = [];
  for (let afterMs = 100; afterMs <= 1_500; afterMs += process.env.TATAMI_LONG ? 20 : 900) {
    using dir = temporary();
    const args = ['--data-dir', dir.path('data'), '--first-start', '--json'];
    const first = spawnTatami(['serve', '--port', '0', ...args]);
    await Bun.sleep(afterMs);
    first.kill('SIGKILL');
    const [seen] = await Promise.all([new Response(first.stdout).text(), first.exited]);
    const next = await serveTatami(args);
    const key = JSON.parse(next.start).apiKey ?? (seen.endsWith('\n') ? JSON.parse(seen).apiKey : undefined);
    const status = key === undefined ? 'no key' : await statusWith(next.url, key);
    if (status !== 200) wrong.push(`${afterMs} ms: ${status}`);
    next.child.kill('SIGKILL');
    await next.child.exited;
  }
  expect(wrong).toEqual([]);
}, 600_000);

test('the operator creates, lists, rolls and revokes keys, with the same result with and without a server', async () => {
  using dir = temporary();
  // A socket in this directory has a path that is too long for a socket address.
  const dataDir = dir.path('d'.repeat(120));
  const keys = (command: string, ...more: string[]) =>
    tatami(['keys', command, ...more, '--data-dir', dataDir, '--json']);
  const nowhere = await keys('create');
  expect([nowhere.code, nowhere.json.error.message]).toEqual([1, expect.stringContaining('has no database')]);
  const unsealed = await tatami(['master-key', 'rotate', '--data-dir', dataDir, '--json']);
  expect([unsealed.code, existsSync(dataDir)]).toEqual([1, false]);

  const app = await startApp({ dataDir, clock: createSystemClock() });
  await app.call('POST', '/api/v1/members', { name: 'Ana', email: 'ana@acme.example' });
  const after = await app.lastSequence();
  const beside = await roundOf(keys);
  // Each command took effect in the serving process.
  for (const [key, status] of beside.statuses)
    expect([key.name, await statusWith(app.url, key.key)]).toEqual([key.name, status]);
  const happened = await app.eventTypes(after);
  expect(happened).toEqual([
    'api_key.created',
    'api_key.created',
    'api_key.created',
    'api_key.rolled',
    'api_key.revoked',
  ]);
  const { json: audit } = await app.call('GET', '/api/v1/audit-log?limit=1');
  expect(audit.data[0].actor).toEqual({ kind: 'system', id: 'operator', name: 'Operator' });
  await app.stop();

  const alone = await roundOf(keys);
  expect(alone.shape).toEqual(beside.shape);
  const again = await startApp({ dataDir, clock: createSystemClock() }, app.workspace);
  for (const [key, status] of alone.statuses)
    expect([key.name, await statusWith(again.url, key.key)]).toEqual([key.name, status]);
  await again.addWorkspace('Other', 'OTH');
  await again.stop();
  const several = await keys('create');
  expect([several.code, several.json.error.message]).toEqual([1, expect.stringContaining('Other')]);
  // The use of a key is recorded without an event.
  const subject = openSubject(readConfig({ dataDir }, {}), Date.now());
  expect(await replay.look(subject)).toEqual([]);
  await subject.close();
});

/** Creates keys, rolls one, revokes one, and lists all. */
async function roundOf(keys: (command: string, ...more: string[]) => Promise<CliResult>) {
  const all = await keys('create');
  const ci = await keys(
    ...['create', '--name', 'CI', '--member', 'ANA@acme.example', '--scopes', 'issues:read'],
    ...['--expires', '90d'],
  );
  const rolled = await keys('roll', ci.json.id, '--grace', '2h', '--all-scopes');
  const revoked = await keys('revoke', ci.json.prefix);
  const listed = await keys('list');
  expect([all, ci, rolled, revoked, listed].map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  expect(ci.json).toMatchObject({ name: 'CI', scopes: ['issues:read'], member: { name: 'Ana' } });
  expect(rolled.json).toMatchObject({ name: 'CI', scopes: [...allScopes], member: { name: 'Ana' } });
  expect(Date.parse(rolled.json.previous.expiresAt)).toBeWithin(
    Date.now() + 7_000_000,
    Date.now() + 7_200_000,
  );
  expect(listed.json.keys.slice(0, 3).map(({ id }: Json) => id)).toEqual(
    [rolled, ci, all].map(({ json }) => json.id),
  );
  return {
    shape: [all, ci, rolled, revoked].map(({ json }) => Object.keys(json)),
    statuses: [
      [all.json, 200],
      [ci.json, 401],
      [rolled.json, 200],
    ] as const,
  };
}

test('the key list shows short scopes, last use and expiry; an invalid argument names the remedy', async () => {
  const app = await startApp({ clock: createSystemClock() });
  const keys = (...args: string[]) => tatami(['keys', ...args, '--data-dir', app.dataDir]);
  try {
    const created = await keys(
      'create',
      '--name',
      'CI',
      '--scopes',
      'issues:write,labels:read,teams:read,members:read',
    );
    expect(created.out).toMatch(/^key {7}ttm_\w+ {3}\(shown only once\)$/m);
    const [id = ''] = /key_\w+/.exec(created.out) ?? [];
    expect((await keys('roll', 'CI', '--grace', '0')).out).toContain(`${id} is revoked`);
    const { out } = await keys('list');
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ {2,}/).slice(2, 5))).toEqual([
      ['NAME', 'MEMBER', 'SCOPES'],
      ['CI', 'Acme owner', 'issues:write,labels:read and 2 more'],
      ['CI', 'Acme owner', 'issues:write,labels:read and 2 more'],
      ['First key', 'Acme owner', 'all'],
    ]);
    expect(lines[2]).toMatch(/revoked .*Z, rolled$/);
    const wrong: [string[], number, string][] = [
      [['create', '--scopes', 'issues:own'], 2, 'issues:own'],
      [['roll', id], 1, 'Roll its successor'],
    ];
    for (const [args, code, said] of wrong) {
      const ended = await keys(...args);
      expect([args, ended.code, ended.err]).toEqual([args, code, expect.stringContaining(said)]);
    }
  } finally {
    await app.stop();
  }
});

/** Locks a directory whose server was killed. A process that it was starting has its lock until that runs a program. */
async function lockOf(dataDir: string): Promise<{ release(): void }> {
  for (;;) {
    const lock = tryLock(join(dataDir, 'lock'));
    if (!('lockedBy' in lock)) return lock;
    await Bun.sleep(10);
  }
}

test('the command waits for a directory in use by another program, and ignores the socket of a killed server', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const served = await serveTatami(['--data-dir', dataDir, '--first-start', '--json']);
  served.child.kill('SIGKILL');
  await served.child.exited;
  expect(statSync(operatorSocketOf(dataDir)).mode & 0o777).toBe(0o600);
  const lock = await lockOf(dataDir);
  const child = spawnTatami(['keys', 'list', '--data-dir', dataDir, '--json']);
  const errors = collect(child.stderr);
  await errors.until((text) => text.includes('Waiting until it accepts commands'));
  lock.release();
  const { keys } = JSON.parse(await new Response(child.stdout).text());
  expect([await child.exited, keys.length]).toEqual([0, 1]);
  expect(keys[0].member.id).toBe(JSON.parse(served.start).userId);
});

test('an invalid operator command is answered with its error, and is not logged as a server fault', async () => {
  const app = await startApp();
  const order = async (name: string, body: string, method = 'POST') => {
    const unix = operatorSocketOf(app.dataDir);
    const response = await fetch(`http://operator/orders/${name}`, {
      unix,
      method,
      ...(method === 'POST' ? { body } : {}),
    });
    return [response.status, ((await response.json()) as Json).error.message] as const;
  };
  const roll = { key: 'First key', graceMs: 0, allScopes: false };
  const wrong: [name: string, body: string, status: number, says: string][] = [
    ['revoke', '{"key":"\\u0000"}', 400, 'U+0000'],
    ['revoke', '{"key":', 400, 'JSON'],
    ['revoke', '', 400, 'JSON'],
    ['revoke', '[]', 422, 'object'],
    ['revoke', '{"key":"a","key":"b"}', 400, 'key'],
    ['roll', JSON.stringify({ ...roll, expiresAt: 9_007_199_254_740_991 }), 422, 'expiresAt'],
    ['create', '{"name":"x","scopes":["issues:read"],"expiresAt":9007199254740991}', 422, 'expiresAt'],
    ['create', '{"name":"x","scopes":["issues:read"],"member":"\\ud800"}', 400, ''],
    ['create', '{"name":"x","scopes":["issues:read"],"workspace":5}', 422, 'workspace'],
    ['toString', '{}', 404, 'another version'],
  ];
  try {
    for (const [name, body, status, says] of wrong)
      expect([body, ...(await order(name, body))]).toEqual([body, status, expect.stringContaining(says)]);
    expect(app.logs.filter(({ level }) => level === 'error')).toEqual([]);
  } finally {
    await app.stop();
  }
});
