// `tatami doctor` changes nothing, and finds what was done to a directory. docs/operations/doctor.md.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { readConfig } from '../../core/config.ts';
import { fingerprintOf } from '../../core/lib/sealing.ts';
import { makeBackup } from '../../core/backup/make.ts';
import type { Consent } from '../../core/doctor/fixes/fix.ts';
import { mend } from '../../core/doctor/mend.ts';
import { checks, examine, type Checked } from '../../core/doctor/doctor.ts';
import { openSubject } from '../../core/doctor/subject.ts';
import { adoptDatabase } from '../../core/store/integrity/adopt.ts';
import { writeIdentity } from '../../core/store/integrity/identity.ts';
import { readLogHead } from '../../core/store/log-head.ts';
import { openStore } from '../../core/store/open-store.ts';
import { readPacked, unpack } from '../upgrade/packed.ts';

const packed = readPacked(join(import.meta.dir, '../upgrade/directories/schema-6.json.zst'));
const parent = mkdtempSync(join(tmpdir(), 'tatami-doctor-'));
const whole = join(parent, 'whole');
beforeAll(async () => {
  unpack(packed, whole);
  await openStore(whole, Date.now).close();
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

let copies = 0;
function copy(): string {
  const dir = join(parent, String(++copies));
  cpSync(whole, dir, { recursive: true });
  chmodSync(dir, 0o700);
  return dir;
}

/** Without the jail, which is not what is broken here. */
async function examined(dir: string, nowMs = Date.now()): Promise<Checked[]> {
  const subject = openSubject(
    readConfig(
      { dataDir: dir, sandboxJail: 'off', backupDir: existsSync(backupsOf(dir)) ? backupsOf(dir) : '' },
      {},
    ),
    nowMs,
  );
  return examine(subject, () => undefined).finally(subject.close);
}

function contentsOf(dir: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.endsWith('-shm') && statSync(join(dir, name)).isFile())
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(dir, name)))
          .digest('hex'),
      ]),
  );
}

const backupsOf = (dir: string): string => `${dir}-backups`;

function flip(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length - 13_000;
  bytes[at] = bytes[at]! ^ 8;
  writeFileSync(path, bytes);
}

/** As `cp -r` finds it while a server runs. */
function asRunning(dir: string): void {
  const kept = { database: join(whole, 'tatami.db'), logHead: join(whole, 'log-head') };
  writeIdentity(join(dir, 'identity'), kept, 'open', readLogHead(kept.logHead));
}

const errorsOf = (results: readonly Checked[]): string[] =>
  results.flatMap(({ check, findings }) =>
    findings.filter(({ level }) => level === 'error').map(({ message }) => `${check}: ${message}`),
  );

test('nothing is wrong with a directory that nobody touched, and nothing is changed in it', async () => {
  const dir = copy();
  const before = contentsOf(dir);
  const results = await examined(dir);
  expect(results.map(({ check }) => check)).toEqual(checks.map(({ name }) => name));
  expect(errorsOf(results)).toEqual([]);
  expect(contentsOf(dir)).toEqual(before);
});

const faults: readonly (readonly [
  what: string,
  check: string,
  said: RegExp,
  cause: string | ((dir: string) => void),
])[] = [
  [
    'an issue changed behind the log',
    'replay',
    /in issues: iss_\w+ \(title\)/,
    "UPDATE issues SET title = 'other' WHERE number = 3",
  ],
  [
    'a label taken behind the log',
    'replay',
    /in issue_labels: iss_/,
    'DELETE FROM issue_labels WHERE label_id = (SELECT min(label_id) FROM issue_labels)',
  ],
  [
    'an issue nobody heard of',
    'replay',
    /never heard of these in issues: iss_x/,
    "INSERT INTO issues (workspace_id, id, team_id, number, title, state_id, priority, assignee_id, creator_kind, creator_id, creator_name, project_id, parent_id, estimate, due_date, external_source, external_id, version, created_at, updated_at, deleted_at, description) SELECT workspace_id, 'iss_x', team_id, 99, title, state_id, priority, assignee_id, creator_kind, creator_id, creator_name, project_id, parent_id, estimate, due_date, NULL, NULL, 1, created_at, updated_at, NULL, '' FROM issues WHERE number = 1",
  ],
  [
    'an issue taken out behind the log',
    'replay',
    /Missing from issues, though the log does not end them: iss_\w+\./,
    'DELETE FROM issues WHERE number = 3',
  ],
  [
    'a comment taken out behind the log',
    'replay',
    /Missing from comments, though the log does not end them: cmt_\w+\./,
    'DELETE FROM comments WHERE id = (SELECT min(id) FROM comments)',
  ],
  ['an event taken out', 'log', /Events are missing/, 'DELETE FROM events WHERE sequence = 9'],
  ['an index dropped', 'schema', /Missing: index issues_state/, 'DROP INDEX issues_state'],
  [
    'a table of somebody else',
    'schema',
    /Not made by this build: table notes/,
    'CREATE TABLE notes (id INTEGER)',
  ],
  [
    'a text that is no UTF-8',
    'texts',
    /Damaged texts in comments: 1 of body/,
    "UPDATE comments SET body = CAST(x'c328' AS TEXT) WHERE id = (SELECT min(id) FROM comments)",
  ],
  [
    'JSON that is none',
    'texts',
    /Damaged texts in plugins: 1 of manifest_json/,
    "UPDATE plugins SET manifest_json = '{'",
  ],
  [
    'a reference to nothing',
    'structure',
    /issues → states/,
    "UPDATE issues SET state_id = 'wfs_x' WHERE number = 2",
  ],
  [
    'the key of another directory',
    'key',
    /not the one they were sealed with/,
    (dir) => writeFileSync(join(dir, 'master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`),
  ],
  [
    'the key of another directory that holds no secret',
    'key',
    /it has the fingerprint \w{32}, and the database wants f{32}/,
    "UPDATE installation SET key_fingerprint = 'ffffffffffffffffffffffffffffffff'",
  ],
  ['no key', 'key', /master\.key is missing/, (dir) => rmSync(join(dir, 'master.key'))],
  [
    'a page that is not what was written',
    'pages',
    /1 damaged page \(\d+\)/,
    (dir) => flip(join(dir, 'tatami.db')),
  ],
  [
    'a copy of a running directory',
    'identity',
    /copy of a data directory whose server was running/,
    asRunning,
  ],
  [
    'a folder of backups that is empty',
    'backups',
    /There is no good backup/,
    (dir) => void mkdirSync(backupsOf(dir)),
  ],
  ['no log head', 'log', /log-head is missing/, (dir) => rmSync(join(dir, 'log-head'))],
  [
    'a directory that others may look into',
    'permissions',
    /Other users may read/,
    (dir) => chmodSync(join(dir, 'master.key'), 0o644),
  ],
  [
    'a link to a folder that others may look into',
    'permissions',
    /snapshots is a symbolic link, whose target is open to other users \(mode 755\)/,
    (dir) => {
      mkdirSync(`${dir}-elsewhere`, { mode: 0o755 });
      rmSync(join(dir, 'snapshots'), { recursive: true, force: true });
      symlinkSync(`${dir}-elsewhere`, join(dir, 'snapshots'));
    },
  ],
];

test.each(faults)('%s is found', async (_, check, said, cause) => {
  const dir = copy();
  if (typeof cause === 'string') {
    const db = new Database(join(dir, 'tatami.db'));
    db.exec('PRAGMA foreign_keys = OFF');
    db.prepare(cause).run();
    db.close();
    // Else the pages alone would tell that somebody else wrote them.
    adoptDatabase(dir);
  } else cause(dir);
  const errors = errorsOf(await examined(dir));
  expect(
    errors.some((message) => message.startsWith(`${check}: `) && said.test(message)),
    errors.join('\n'),
  ).toBe(true);
});

test('a key that a killed rotation left beside the earlier one is the right one', async () => {
  const dir = copy();
  const next = Buffer.alloc(32, 7);
  writeFileSync(join(dir, 'master.key.next'), next.toString('base64'), { mode: 0o600 });
  const db = new Database(join(dir, 'tatami.db'));
  db.prepare('UPDATE installation SET key_fingerprint = ?').run(fingerprintOf(next));
  db.exec('DELETE FROM endpoints');
  db.close();
  adoptDatabase(dir);
  expect(errorsOf(await examined(dir)).filter((message) => message.startsWith('key: '))).toEqual([]);
});

test('what is left over, and work that nobody gets to, is told', async () => {
  const dir = copy();
  const db = new Database(join(dir, 'tatami.db'));
  db.exec(
    `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, epoch) SELECT workspace_id, 'run_x', 'run', '', 1, 1 FROM workspaces`,
  );
  db.close();
  adoptDatabase(dir);
  const found = (await examined(dir)).flatMap(({ check, findings }) =>
    findings.map(({ message }) => `${check}: ${message}`),
  );
  expect(found).toContain('orphans: 1 pieces of work for runs that are gone.');
  expect(found.some((message) => message.startsWith('work: 1 of kind run are due since 1970'))).toBe(true);
});

test('a clock that is behind what was written is found', async () => {
  expect(errorsOf(await examined(copy(), Date.parse('2026-01-01T00:00:00.000Z'))).join()).toContain(
    'clock: The clock of this machine is',
  );
});

const subjectOf = (dir: string) => openSubject(readConfig({ dataDir: dir }, {}), Date.now());
const consented = { backup: null, yes: false, altered: false };

test('what can be mended is mended, and nothing else is changed', async () => {
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

test('a fix of permissions that changes nothing raises no alarm', async () => {
  expect(await mend(subjectOf(copy()), 'permissions', consented)).toBe('nothing to change.');
});

test('where there is no backup, the directory is copied aside first, but for the socket of a server that was killed', async () => {
  const dir = copy();
  const socket = join(dir, 'operator.sock');
  const server = Bun.serve({ unix: `${socket}.bound`, fetch: () => new Response() });
  renameSync(`${socket}.bound`, socket);
  await server.stop(true);
  chmodSync(socket, 0o600);
  asRunning(dir);
  const aside = mkdtempSync(join(parent, 'aside-'));
  expect(await mend(subjectOf(dir), 'accept', { backup: aside, yes: true, altered: false })).toContain(
    'accepted. A history',
  );
  const [name = ''] = readdirSync(aside);
  expect(readdirSync(join(aside, name))).toContain('tatami.db');
});

test('a fix that destroys something wants a whole backup of this installation, and a yes', async () => {
  const dir = copy();
  const { path } = await makeBackup({
    ...{ dataDir: dir, folder: backupsOf(dir), withKey: false, version: 'test' },
    nowMs: Date.now,
    onStep: () => undefined,
  });
  asRunning(dir);
  expect(() => openStore(dir, Date.now)).toThrow('copy of a data directory whose server was running');
  const refused = async (consent: Consent): Promise<string> =>
    mend(subjectOf(dir), 'accept', consent).then(String, (error: unknown) => String(error));
  expect(await refused(consented)).toContain('Give a backup of this installation with --backup FILE');
  expect(await refused({ ...consented, backup: path })).toContain('say --yes');
  const hidden = copy();
  flip(join(hidden, 'tatami.db'));
  for (const id of ['indexes', 'orphans'])
    expect(
      await mend(subjectOf(hidden), id, { backup: path, yes: true, altered: false }).catch(String),
    ).toMatch(/1 damaged page .* restore a backup/);
  const damaged = `${path}.damaged`;
  cpSync(path, damaged);
  flip(damaged);
  expect(await refused({ ...consented, backup: damaged, yes: true })).toContain('is no way back');
  expect(() => openStore(dir, Date.now)).toThrow('copy of a data directory whose server was running');

  const consent = { backup: path, yes: true, altered: false };
  const whole = readFileSync(join(dir, 'tatami.db'));
  flip(join(dir, 'tatami.db'));
  expect(await refused(consent)).toMatch(/1 damaged page .* say --altered/);
  writeFileSync(join(dir, 'tatami.db'), whole);
  expect(await mend(subjectOf(dir), 'accept', consent)).toContain('accepted. A history');
  await openStore(dir, Date.now).close();
  expect(errorsOf(await examined(dir))).toEqual([]);
});

const refusalOf = async (dir: string, id: string, consent: Consent): Promise<string> =>
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

test('a database that cannot be accepted is refused in words, stays as it is, and is not copied aside', async () => {
  const damaged = copy();
  flip(join(damaged, 'tatami.db'));
  const emptied = copy();
  writeFileSync(join(emptied, 'tatami.db'), '');
  const foreign = copy();
  rmSync(join(foreign, 'tatami.db'));
  changeBehind(foreign, 'CREATE TABLE notes (id INTEGER); PRAGMA user_version = 9');
  const early = copy();
  changeBehind(early, 'PRAGMA user_version = 6');
  const dangling = copy();
  changeBehind(dangling, 'DELETE FROM issues WHERE number = 1');
  for (const [dir, altered, said] of [
    [emptied, false, /tatami\.db is missing, empty or no database of Tatami\. Restore a backup/],
    [foreign, true, /tatami\.db lacks .* of schema 9\. Restore a backup/],
    [early, true, /tatami\.db has schema 6, and only 7 to \d+ can be accepted\. Restore a backup/],
    [dangling, true, /is damaged: \d+ rows refer to something that is not there: \w+ → issues/],
    [damaged, false, /1 damaged page .* say --altered/],
  ] as const) {
    const aside = mkdtempSync(join(parent, 'aside-'));
    const before = contentsOf(dir);
    expect(await refusalOf(dir, 'accept', { backup: aside, yes: true, altered })).toMatch(said);
    expect(contentsOf(dir)).toEqual(before);
    expect(readdirSync(aside)).toEqual([]);
  }
  for (const id of ['indexes', 'search'])
    expect(await refusalOf(emptied, id, consented)).toContain('is missing, empty or no database of Tatami');
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

test('what leaves the tables readable keeps no other check from looking at them', async () => {
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
    expect.stringContaining('schema: Missing: index issues_state'),
    expect.stringContaining(
      'schema: Not made by this build: table a table, table foo. Somebody else wrote to the database; an upgrade may fail over it. Remove it with sqlite3 while the server is stopped (`DROP TABLE "a table"; DROP TABLE "foo";`), then run `tatami doctor fix accept --altered`.',
    ),
    expect.stringMatching(/^replay: Not as the log says, in issues: iss_\w+ \(state\)/),
  ]);
  changeBehind(dir, 'DROP TABLE issue_labels');
  adoptDatabase(dir);
  expect((await examined(dir)).filter(({ skipped }) => skipped === 'damaged').length).toBeGreaterThan(5);
});
