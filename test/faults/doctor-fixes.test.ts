// `tatami doctor fix` changes exactly the reported items, and refuses irreversible changes. docs/operations/doctor.md.
import { expect, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { readConfig } from '../../core/app/config/config.ts';
import { makeBackup } from '../../core/platform/backup/make.ts';
import type { FixConsent } from '../../core/app/doctor/mend.ts';
import { mend } from '../../core/app/doctor/mend.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { adoptDatabase } from '../../core/platform/store/integrity/identity.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import {
  asRunning,
  backupsOf,
  contentsOf,
  copy,
  errorsOf,
  examined,
  flip,
  makeDirectory,
  parent,
} from './doctor-directory.ts';

makeDirectory();

const subjectOf = (dir: string) => openSubject(readConfig({ dataDir: dir }, {}), Date.now());
const consented = { backup: null, yes: false, altered: false };

test('fixable problems are fixed, and nothing else is changed', async () => {
  const dir = copy();
  const db = new Database(join(dir, 'tatami.db'));
  db.exec('DROP INDEX issues_state');
  db.close();
  adoptDatabase(dir);
  chmodSync(join(dir, 'log-head'), 0o640);
  writeFileSync(join(dir, 'master.key.new'), '', { mode: 0o600 });
  for (const id of ['permissions', 'leftovers', 'indexes']) await mend(subjectOf(dir), id, consented);
  expect(
    (await examined(dir)).flatMap(({ findings }) => findings.filter(({ fix }) => fix !== undefined)),
  ).toEqual([]);
  expect(errorsOf(await examined(dir))).toEqual([]);
  await openStore(dir, Date.now).close();
});

test('a fix of permissions that changes nothing raises no warning', async () => {
  expect(await mend(subjectOf(copy()), 'permissions', consented)).toBe('nothing to change.');
});

test('without a backup the directory is copied first, except for the socket of a killed server', async () => {
  const dir = copy();
  const socket = join(dir, 'operator.sock');
  const server = Bun.serve({ unix: `${socket}.bound`, fetch: () => new Response() });
  renameSync(`${socket}.bound`, socket);
  await server.stop(true);
  chmodSync(socket, 0o600);
  asRunning(dir);
  const aside = mkdtempSync(join(parent, 'aside-'));
  expect(await mend(subjectOf(dir), 'accept', { backup: aside, yes: true, altered: false })).toContain(
    'accepted the database. Log generation',
  );
  const [name = ''] = readdirSync(aside);
  expect(readdirSync(join(aside, name))).toContain('tatami.db');
});

test('a destructive fix requires an intact backup of this installation, and a confirmation', async () => {
  const dir = copy();
  const { path } = await makeBackup({
    ...{ dataDir: dir, folder: backupsOf(dir), withKey: false, version: 'test' },
    nowMs: Date.now,
    onStep: () => undefined,
  });
  asRunning(dir);
  expect(() => openStore(dir, Date.now)).toThrow('copy of a data directory whose server was running');
  const refused = async (consent: FixConsent): Promise<string> =>
    mend(subjectOf(dir), 'accept', consent).then(String, (error: unknown) => String(error));
  expect(await refused(consented)).toContain('Pass --backup FILE with a backup of this installation');
  expect(await refused({ ...consented, backup: path })).toContain('--yes to confirm');
  const hidden = copy();
  flip(join(hidden, 'tatami.db'));
  for (const id of ['indexes', 'orphans'])
    expect(
      await mend(subjectOf(hidden), id, { backup: path, yes: true, altered: false }).catch(String),
    ).toMatch(/1 damaged page .* restore a backup/);
  const damaged = `${path}.damaged`;
  cpSync(path, damaged);
  flip(damaged);
  expect(await refused({ ...consented, backup: damaged, yes: true })).toContain('is not a valid backup');
  expect(() => openStore(dir, Date.now)).toThrow('copy of a data directory whose server was running');

  const consent = { backup: path, yes: true, altered: false };
  const whole = readFileSync(join(dir, 'tatami.db'));
  flip(join(dir, 'tatami.db'));
  expect(await refused(consent)).toMatch(/1 damaged page .* Pass --altered/);
  writeFileSync(join(dir, 'tatami.db'), whole);
  expect(await mend(subjectOf(dir), 'accept', consent)).toContain('accepted the database. Log generation');
  await openStore(dir, Date.now).close();
  expect(errorsOf(await examined(dir))).toEqual([]);
});

const refusalOf = async (dir: string, id: string, consent: FixConsent): Promise<string> =>
  mend(subjectOf(dir), id, consent).then(
    (done) => `mended: ${done}`,
    (error: unknown) => String(error),
  );

/** Changes the database with another program. */
function changeBehind(dir: string, sql: string): void {
  const db = new Database(join(dir, 'tatami.db'));
  db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
}

test('a database that cannot be accepted is refused with a reason, stays unchanged, and is not copied', async () => {
  const damaged = copy();
  flip(join(damaged, 'tatami.db'));
  const emptied = copy();
  writeFileSync(join(emptied, 'tatami.db'), '');
  const foreign = copy();
  rmSync(join(foreign, 'tatami.db'));
  changeBehind(foreign, 'CREATE TABLE notes (id INTEGER); PRAGMA user_version = 1');
  const newer = copy();
  changeBehind(newer, 'PRAGMA user_version = 99');
  const dangling = copy();
  changeBehind(dangling, 'DELETE FROM issues WHERE number = 1');
  for (const [dir, altered, said] of [
    [emptied, false, /tatami\.db is missing, empty or not a Tatami database\. Restore a backup/],
    [foreign, true, /tatami\.db lacks .* of schema 1\. Restore a backup/],
    [newer, true, /tatami\.db has schema 99, but this version supports up to \d+\. Restore a backup/],
    [dangling, true, /is damaged and cannot be accepted: \d+ rows refer to a missing row: \w+ → issues/],
    [damaged, false, /1 damaged page .* Pass --altered/],
  ] as const) {
    const aside = mkdtempSync(join(parent, 'aside-'));
    const before = contentsOf(dir);
    expect(await refusalOf(dir, 'accept', { backup: aside, yes: true, altered })).toMatch(said);
    expect(contentsOf(dir)).toEqual(before);
    expect(readdirSync(aside)).toEqual([]);
  }
  for (const id of ['indexes', 'search'])
    expect(await refusalOf(emptied, id, consented)).toContain('is missing, empty or not a Tatami database');
});

test('`accept` is offered for a database, and not for an empty file', async () => {
  const emptied = copy();
  writeFileSync(join(emptied, 'tatami.db'), '');
  const running = copy();
  asRunning(running);
  const offered = async (dir: string): Promise<unknown[]> =>
    (await examined(dir)).flatMap(({ check, findings }) =>
      check === 'identity' ? findings.map(({ level, fix }) => [level, fix]) : [],
    );
  expect(await offered(emptied)).toEqual([['error', undefined]]);
  expect(await offered(running)).toEqual([['error', 'accept']]);
});

test('a problem that leaves the tables readable does not prevent the other checks', async () => {
  const dir = copy();
  changeBehind(
    dir,
    `CREATE TABLE foo (x); CREATE TABLE "a table" ("a text" TEXT); DROP INDEX issues_state; UPDATE issues SET state_id = 'wfs_x' WHERE number = 2`,
  );
  adoptDatabase(dir);
  const results = await examined(dir);
  expect(results.filter(({ skipped }) => skipped !== null)).toEqual([]);
  const errors = errorsOf(results);
  expect(errors).toEqual([
    expect.stringMatching(/^structure: 1 rows refer .* issues → states/),
    expect.stringContaining('schema: Missing from the database: index issues_state'),
    expect.stringContaining(
      'schema: Not part of the schema: table a table, table foo. Another program changed the database, and an upgrade may fail because of that. Stop the server, run `DROP TABLE "a table"; DROP TABLE "foo";` in sqlite3, then run `tatami doctor fix accept --altered`.',
    ),
    expect.stringMatching(/^replay: Rows differ from the event log in issues: iss_\w+ \(state\)/),
  ]);
  changeBehind(dir, 'DROP TABLE issue_labels');
  adoptDatabase(dir);
  expect((await examined(dir)).filter(({ skipped }) => skipped === 'damaged').length).toBeGreaterThan(5);
});
