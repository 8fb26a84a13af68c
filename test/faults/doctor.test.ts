// `tatami doctor` changes nothing, and finds every damage of a directory. docs/operations/doctor.md.
import { expect, test } from 'bun:test';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { fingerprintOf } from '../../core/platform/lib/secrets/sealing.ts';
import { checks } from '../../core/app/doctor/doctor.ts';
import { adoptDatabase } from '../../core/platform/store/integrity/identity.ts';
import {
  asRunning,
  backupsOf,
  contentsOf,
  copy,
  errorsOf,
  examined,
  flip,
  makeDirectory,
} from './doctor-directory.ts';

makeDirectory();

test('an intact directory has no findings, and is not changed', async () => {
  const dir = copy();
  const before = contentsOf(dir);
  const results = await examined(dir);
  expect(results.map(({ check }) => check)).toEqual(checks.map(({ name }) => name));
  expect(errorsOf(results)).toEqual([]);
  expect(contentsOf(dir)).toEqual(before);
});

function changeDatabase(dir: string, sql: string): void {
  const db = new Database(join(dir, 'tatami.db'));
  db.exec('PRAGMA foreign_keys = OFF');
  db.prepare(sql).run();
  db.close();
  // Otherwise the page checksums alone would reveal the change.
  adoptDatabase(dir);
}

const faults: readonly (readonly [
  what: string,
  check: string,
  said: RegExp,
  cause: string | ((dir: string) => void),
])[] = [
  [
    'an issue changed without an event',
    'replay',
    /in issues: iss_\w+ \(title\)/,
    "UPDATE issues SET title = 'other' WHERE number = 3",
  ],
  [
    'a label removed without an event',
    'replay',
    /in issue_labels: iss_/,
    'DELETE FROM issue_labels WHERE label_id = (SELECT min(label_id) FROM issue_labels)',
  ],
  [
    'an issue without an event',
    'replay',
    /no events in the log, in issues: iss_x/,
    "INSERT INTO issues (workspace_id, id, team_id, number, title, state_id, priority, assignee_id, creator_kind, creator_id, creator_name, project_id, parent_id, estimate, due_date, external_source, external_id, version, created_at, updated_at, deleted_at, description) SELECT workspace_id, 'iss_x', team_id, 99, title, state_id, priority, assignee_id, creator_kind, creator_id, creator_name, project_id, parent_id, estimate, due_date, NULL, NULL, 1, created_at, updated_at, NULL, '' FROM issues WHERE number = 1",
  ],
  [
    'an issue deleted without an event',
    'replay',
    /Rows are missing from issues, but the log has no deletion of them: iss_\w+\./,
    'DELETE FROM issues WHERE number = 3',
  ],
  [
    'a comment deleted without an event',
    'replay',
    /Rows are missing from comments, but the log has no deletion of them: cmt_\w+\./,
    'DELETE FROM comments WHERE id = (SELECT min(id) FROM comments)',
  ],
  ['a deleted event', 'log', /Events are missing/, 'DELETE FROM events WHERE sequence = 9'],
  ['an index dropped', 'schema', /Missing from the database: index issues_state/, 'DROP INDEX issues_state'],
  ['a foreign table', 'schema', /Not part of the schema: table notes/, 'CREATE TABLE notes (id INTEGER)'],
  [
    'a text with invalid UTF-8',
    'texts',
    /Texts are damaged in comments: 1 of body/,
    "UPDATE comments SET body = CAST(x'c328' AS TEXT) WHERE id = (SELECT min(id) FROM comments)",
  ],
  [
    'invalid JSON',
    'texts',
    /Texts are damaged in plugins: 1 of manifest_json/,
    "UPDATE plugins SET manifest_json = '{'",
  ],
  [
    'a dangling reference',
    'structure',
    /issues → states/,
    "UPDATE issues SET state_id = 'wfs_x' WHERE number = 2",
  ],
  [
    'the key of another directory, with an unknown fingerprint',
    'key',
    /not the one they were encrypted with/,
    (dir) => {
      changeDatabase(dir, 'UPDATE installation SET key_fingerprint = NULL');
      writeFileSync(join(dir, 'master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
    },
  ],
  [
    'the key of another directory, without stored secrets',
    'key',
    /its fingerprint is \w{32}, but the database needs f{32}/,
    "UPDATE installation SET key_fingerprint = 'ffffffffffffffffffffffffffffffff'",
  ],
  ['no key', 'key', /master\.key is missing/, (dir) => rmSync(join(dir, 'master.key'))],
  [
    'a page with unexpected content',
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
  ['an empty backup folder', 'backups', /has no valid backup/, (dir) => void mkdirSync(backupsOf(dir))],
  ['no log head', 'log', /log-head is missing/, (dir) => rmSync(join(dir, 'log-head'))],
  [
    'a directory with access for other users',
    'permissions',
    /Other users may read/,
    (dir) => chmodSync(join(dir, 'master.key'), 0o644),
  ],
  [
    'a link to a folder with access for other users',
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
  if (typeof cause === 'string') changeDatabase(dir, cause);
  else cause(dir);
  const errors = errorsOf(await examined(dir));
  expect(
    errors.some((message) => message.startsWith(`${check}: `) && said.test(message)),
    errors.join('\n'),
  ).toBe(true);
});

test('a key that a killed rotation left beside the earlier one is recognized as the right one', async () => {
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

test('leftovers, and work that never runs, are reported', async () => {
  const dir = copy();
  const db = new Database(join(dir, 'tatami.db'));
  db.exec(
    `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, epoch) SELECT workspace_id, 'run_x', 'run', '', 1, 1 FROM workspaces`,
  );
  db.close();
  adoptDatabase(dir);
  const reported = (await examined(dir)).flatMap(({ check, findings }) =>
    findings.map(({ message }) => `${check}: ${message}`),
  );
  expect(reported).toContain('orphans: Orphaned rows: 1 work items of missing runs.');
  expect(
    reported.some((message) => message.startsWith('work: 1 work items of type run are overdue since 1970')),
  ).toBe(true);
});

test('a clock behind the latest writes is found', async () => {
  expect(errorsOf(await examined(copy(), Date.parse('2026-01-01T00:00:00.000Z'))).join()).toContain(
    'clock: The clock of this machine is',
  );
});
