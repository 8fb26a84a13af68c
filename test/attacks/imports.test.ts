// Manipulated exports of workspaces: nothing of them is written, and the error names the line.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { exportedTables, tables as allTables } from '../../core/features/tables.ts';
import { columnsAt, latestSchema } from '../../core/platform/store/engine/looking.ts';
import type { Json } from '../app.ts';
import { tatami, temporary } from '../cli/tatami.ts';
import { added, changed, createTargets, exportSeeded, type Exported, type Target } from './exported.ts';

const dir = temporary();
let file: Exported;
let target: Target;
const newTarget = createTargets(dir.path('targets'));

beforeAll(async () => {
  file = await exportSeeded();
  target = await newTarget();
}, 60_000);
afterAll(async () => {
  await target.close();
  dir[Symbol.dispose]();
});

const lineOf = (lines: readonly string[], table: string): number =>
  lines.findIndex((line) => line.startsWith(`{"table":"${table}"`)) + 1;
async function refused(lines: readonly string[]): Promise<string> {
  const said = await target.import(lines);
  expect([said === null, target.rows()]).toEqual([false, 0]);
  return said!.message;
}

type TableRowJson = Record<string, Json>;
/** A change of the first row of a table, and the expected error message. */
const changes: readonly [title: string, table: string, change: (row: TableRowJson) => void, says: string][] =
  [
    [
      'a column is missing',
      'attachments',
      (row) => delete row.deleted_at,
      'attachments.deleted_at is missing',
    ],
    ['a column is unknown', 'members', (row) => (row.joined_at = 1), 'members has no column "joined_at"'],
    [
      'a column is called __proto__',
      'labels',
      (row) => Object.defineProperty(row, '__proto__', { value: 1, enumerable: true }),
      'no column "__proto__"',
    ],
    ['an id is a path', 'projects', (row) => (row.id = '../../x'), 'projects.id is "../../x"'],
    ['a reference has another prefix', 'issues', (row) => (row.state_id = row.id), 'issues.state_id'],
    [
      'a reference points outside the file',
      'issues',
      (row) => (row.state_id = `wfs_${'0'.repeat(26)}`),
      'issues.state_id refers to a row of states',
    ],
    [
      'an issue is its own parent',
      'issues',
      (row) => (row.parent_id = row.id),
      'issues.parent_id refers to the row itself',
    ],
    [
      'a role is unknown',
      'members',
      (row) => (row.role = 'root'),
      'must be one of guest, member, admin, owner',
    ],
    ['JSON is broken', 'workspaces', (row) => (row.guarded_json = '["delete"'), 'workspaces.guarded_json'],
    [
      'JSON has an unexpected shape',
      'workspaces',
      (row) => (row.guarded_json = '{"delete":true}'),
      'matches the schema of this column',
    ],
    [
      'JSON contains a member twice',
      'workspaces',
      (row) => (row.public_triage_json = '{"a":1,"a":2}'),
      'a name that occurs twice',
    ],
    ['JSON is deep', 'views', (row) => (row.filter_json = '{"and":['.repeat(5_000)), 'at most 64 levels'],
    [
      'JSON contains half a surrogate pair',
      'fields',
      (row) => (row.options_json = '[{"value":"a","name":"\\ud800"}]'),
      'fields.options_json',
    ],
    ['a text contains half a surrogate pair', 'issues', (row) => (row.title = 'x\ud800'), 'issues.title'],
    ['a text contains NUL', 'comments', (row) => (row.body = 'x\0'), 'comments.body'],
    ['a text is longer than its field', 'teams', (row) => (row.name = 'x'.repeat(100_000)), 'teams.name'],
    ['a time is invalid', 'issues', (row) => (row.created_at = 1e300), 'issues.created_at'],
    ['a number is too large', 'issues', (row) => (row.number = 2 ** 60), 'issues.number'],
    ['a number is a text', 'issues', (row) => (row.version = '1'), 'issues.version'],
    ['a date is invalid', 'projects', (row) => (row.target_date = '2027-02-30'), 'projects.target_date'],
    ['a rank is malformed', 'board_cards', (row) => (row.rank = 'h0'), 'board_cards.rank'],
    ['a rank of a sub-issue is malformed', 'issues', (row) => (row.sub_order = 'a00'), 'issues.sub_order'],
    ['a flag is invalid', 'sla_policies', (row) => (row.enabled = 2), 'sla_policies.enabled'],
    [
      'the issue counter of a team is below its issue numbers',
      'teams',
      (row) => (row.issue_count = 0),
      'teams.issue_count',
    ],
    [
      'the total size of files is negative',
      'attachment_usage',
      (row) => (row.bytes = -1e12),
      'attachment_usage.bytes',
    ],
    [
      'a row contradicts the event log',
      'labels',
      (row) => (row.name = 'other'),
      'Rows differ from the event log in labels',
    ],
    [
      'the workspace name differs from the first line',
      'workspaces',
      (row) => (row.name = 'Other'),
      'first line',
    ],
    ['an event refers to an archive file', 'events', (row) => (row.data_json = '@1'), 'events.data_json'],
    ['an event contains packed bytes', 'events', (row) => (row.packed = { hex: '00' }), 'no column "packed"'],
    [
      'an event has the wrong sequence number',
      'events',
      (row) => (row.sequence = 9_000_000),
      'lines are missing',
    ],
    [
      'an event is of the far future',
      'events',
      (row) => (row.created_at = 8.64e15),
      'must not be in the future. If the time is right, correct the clock',
    ],
    ['an event has an unknown type', 'events', (row) => (row.type = 'root.granted'), 'events.type'],
    [
      'the sequence of a reaction is beyond the log',
      'cursors',
      (row) => (row.sequence = 9_000_000),
      'beyond the end',
    ],
    [
      'a sequence belongs to the import itself',
      'cursors',
      (row) => (row.consumer = 'exchange'),
      'cursors.consumer',
    ],
    ['work of a plugin is due', 'due_work', (row) => (row.kind = 'run'), 'due_work.kind'],
  ];

test('a row that violates its table schema is rejected with its line number, and nothing is written', async () => {
  for (const [title, table, change, says] of changes) {
    const said = await refused(changed(file.lines, table, change));
    expect(`${title}: ${said}`).toContain(says);
    if (!/log|first line|lines are missing|issue_count|beyond|future/.test(says))
      expect(said).toContain(`Line ${lineOf(file.lines, table)}: ${table}`);
    expect(said).toContain('Nothing was written.');
  }
}, 60_000);

test('a SHA-256 that is a path is rejected, also for an attachment without deletion columns', async () => {
  const isFile = (row: TableRowJson): boolean => row.kind === 'file';
  for (const sha256 of ['./../master.key', './../tatami.db', 'A'.repeat(64), 'a'.repeat(63), 1]) {
    const said = await refused(changed(file.lines, 'attachments', (row) => (row.sha256 = sha256), isFile));
    expect(said).toContain('64 hexadecimal digits');
  }
  const both = changed(
    file.lines,
    'attachments',
    (row) => {
      row.sha256 = './../master.key';
      delete row.deleted_at;
    },
    isFile,
  );
  expect(await refused(both)).toContain('deleted_at is missing');
  expect(await refused(changed(file.lines, 'attachments', (row) => (row.bytes = 1), isFile))).toContain(
    'length of the content',
  );
});

test('a workspace id must be a UUID, every bad line is reported, and a suggested command is quoted', async () => {
  const ids = ['../../x', '$(touch x)', `${file.workspaceId}; rm -rf /`, '', file.workspaceId.toUpperCase()];
  for (const id of ids) {
    const head = JSON.parse(file.lines[0]!);
    const lines = file.lines.with(0, JSON.stringify({ ...head, workspace: { ...head.workspace, id } }));
    expect(await refused(lines)).toContain('UUID');
  }
  const strange = dir.path("it's $(here)");
  expect(
    (await tatami(['init', '--data-dir', strange, '--workspace', 'Other', '--team', 'OPS', '--json'])).code,
  ).toBe(0);
  const bad = file.lines.map((line) =>
    line.replace('{"table":"states","row":{', '{"table":"states","row":{"x":1,'),
  );
  writeFileSync(dir.path('bad.jsonl'), bad.join('\n'));
  const { code, err } = await tatami(['import', dir.path('bad.jsonl'), '--data-dir', strange]);
  const reportedLines = err.match(/Line \d+: states has no column "x"/g);
  expect([code, reportedLines?.length]).toEqual([1, bad.filter((line) => line.includes('"x":1')).length]);
  writeFileSync(dir.path('file.jsonl'), file.lines.join('\n'));
  const { out } = await tatami(['import', dir.path('file.jsonl'), '--data-dir', strange]);
  expect(out).toContain(`--data-dir '${strange.replaceAll("'", `'\\''`)}' --workspace ${file.workspaceId}`);
}, 30_000);

test('no row of a table with keys, grants, tokens, invitations, webhooks or plugins is imported', async () => {
  const left = allTables.filter(({ exported }) => 'not' in exported).map(({ name }) => name);
  const tables = [...left, 'sqlite_schema', '__proto__', 'constructor'];
  for (let at = 0; at < tables.length; at += 20) {
    const some = tables.slice(at, at + 20);
    const lines = some.reduce(
      (tableNames: readonly string[], table) => added(tableNames, table, { id: 'x' }),
      file.lines,
    );
    const reportedLines = (await target.import(lines))?.lines ?? [];
    expect(
      reportedLines.filter((line) => line.includes('is not part of an exported workspace')),
    ).toHaveLength(some.length);
    expect(target.rows()).toBe(0);
  }
});

test('no exported column contains a secret or the hash of one', () => {
  const known = new Set([
    ...['teams.key', 'fields.key', 'attachments.sha256'],
    'member_preferences.single_key_shortcuts',
  ]);
  const secrets = exportedTables.flatMap(({ name, exported }) =>
    columnsAt(latestSchema)
      .get(name)!
      .map((column) => column.name)
      .filter((column) => exported.columns?.includes(column) ?? true)
      .filter((column) => /secret|hash|sha256|token|password|passkey|credential|sealed|key/.test(column))
      .map((column) => `${name}.${column}`),
  );
  expect(secrets.filter((column) => !known.has(column))).toEqual([]);
});

test('an address in another spelling creates no second member', async () => {
  const isAna = (row: TableRowJson): boolean => row.email === 'ana@acme.example';
  const ana = JSON.parse(file.lines.find((line) => line.includes('"email":"ana@acme.example"'))!).row;
  const spelled = [
    'an\u200ba@acme.example',
    '\u0430na@acme.example',
    'ａna@acme.example',
    'a\u00adna@acme.example',
    'ana@\u200dacme.example',
  ];
  for (const email of spelled)
    expect(await refused(changed(file.lines, 'members', (row) => (row.email = email), isAna))).toContain(
      'normal form',
    );
  const twin = { ...ana, id: ana.id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')) };
  for (const email of ['Ana@acme.example', 'ana@ACME.example', 'ana@xn--acme.example'])
    expect(await refused(added(file.lines, 'members', { ...twin, email }))).toContain('members');
  const bucher = changed(file.lines, 'members', (row) => (row.email = 'ana@bücher.example'), isAna);
  expect(await refused(added(bucher, 'members', { ...twin, email: 'ana@xn--bcher-kva.example' }))).toContain(
    'another spelling',
  );
});

test('a workspace without an owner is rejected', async () => {
  const nobody = changed(
    file.lines,
    'members',
    (row) => (row.role = 'admin'),
    (row) => row.role === 'owner',
  );
  expect(await refused(nobody)).toContain('no owner');
});
