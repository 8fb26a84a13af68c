// Databases of the first builds pass each migration with their data intact.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { insertPlaceholderRow } from '../../../../test/faults/placeholder-row.ts';
import { migrate } from '../migrate.ts';
import { migrations } from './index.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-migrations-'));
afterAll(() => rmSync(dir, { recursive: true }));

const at = {
  path: join(dir, 'tatami.db'),
  snapshots: join(dir, 'snapshots'),
  nowMs: () => 1_800_000_000_000,
};
const never = 8_640_000_000_000_000;

test('work retains its subject, waiting work keeps waiting for the same event, and deleted values leave only their versions', () => {
  migrate(at, migrations.slice(0, 1));
  const before = new Database(at.path);
  before.exec(`
    INSERT INTO runs (workspace_id, id, install_id, handler_kind, handler, order_key, sequence, depth, status, mode, attempt, created_at)
      VALUES ('ws', 'run_1', 'plg_1', 'event', 'e', 'k', 1, 0, 'queued', 'apply', 0, 1);
    INSERT INTO deliveries (workspace_id, id, endpoint_id, event_id, event_type, sequence, origin, status, attempts, created_at)
      VALUES ('ws', 'dlv_1', 'whe_1', 'evt_1', 'e', 1, 'event', 'pending', 0, 1), ('ws', 'dlv_2', 'whe_1', 'evt_1', 'e', 1, 'event', 'pending', 0, 1);
    INSERT INTO due_work (workspace_id, id, kind, due_at) VALUES
      ('ws', 'run_1', 'run', ${never}), ('ws', 'dlv_1', 'delivery', ${never}), ('ws', 'dlv_2', 'delivery', ${never + 1}),
      ('ws', 'plg_1/nightly', 'schedule', 5), ('ws', 'gone', 'run', 7);
    INSERT INTO plugin_kv (workspace_id, id, install_id, key, bytes, version, created_at, updated_at, value_json)
      VALUES ('ws', 'plg_1/a', 'plg_1', 'a', 3, 2, 1, 1, '"x"'), ('ws', 'plg_1/b', 'plg_1', 'b', 0, 9, 1, 1, NULL);`);
  before.close();
  migrate(at);
  const after = new Database(at.path);
  const all = (sql: string): unknown[] => after.prepare(sql).all();
  expect(all('SELECT id, subject, due_at FROM due_work ORDER BY id')).toEqual([
    { id: 'dlv_1', subject: 'whe_1', due_at: never + 1 },
    { id: 'dlv_2', subject: 'whe_1', due_at: never },
    { id: 'gone', subject: '', due_at: 7 },
    { id: 'plg_1/nightly', subject: 'plg_1', due_at: 5 },
    { id: 'run_1', subject: 'plg_1', due_at: never },
  ]);
  expect(all('SELECT key FROM plugin_kv')).toEqual([{ key: 'a' }]);
  expect(all('SELECT * FROM plugin_kv_usage')).toEqual([
    { workspace_id: 'ws', id: 'plg_1', bytes: 104, keys: 1, version: 9, changes: 0 },
  ]);
  after.close();
});

test('the events that plugins missed before backfills existed are counted from the position of their consumer', () => {
  const path = join(dir, 'gaps.db');
  migrate({ ...at, path }, migrations.slice(0, 4));
  const before = new Database(path);
  const install = (id: string, state: string): string =>
    `('ws', '${id}', 1, '${id}', '1.0.0', 'sha', '{}', '[]', '{}', 'apply', '${state}', 1, 1)`;
  before.exec(`
    INSERT INTO plugins (workspace_id, id, version, plugin_id, plugin_version, sha256, manifest_json, grant_json, settings_json, mode, state, created_at, updated_at)
      VALUES ${install('plg_off', 'disabled_sandbox')}, ${install('plg_paused', 'paused_by_admin')}, ${install('plg_on', 'active')}, ${install('plg_well', 'active')};
    INSERT INTO cursors (workspace_id, consumer, sequence) VALUES ('ws', 'plugins', 7);
    INSERT INTO runs (workspace_id, id, install_id, handler_kind, handler, order_key, sequence, depth, status, mode, attempt, created_at, error_json)
      VALUES ('ws', 'run_1', 'plg_on', 'event', 'e', 'k', 1, 0, 'dead', 'apply', 0, 1, '{"code":"plugin_inactive"}');`);
  before.close();
  migrate({ ...at, path });
  const after = new Database(path);
  expect(
    after
      .prepare(
        `SELECT g.install_id AS id, g.cause, g.after_sequence AS after, g.status, w.kind, w.subject, w.due_at AS due
         FROM plugin_gaps AS g JOIN due_work AS w ON w.workspace_id = g.workspace_id AND w.id = g.id ORDER BY 1`,
      )
      .all(),
  ).toEqual([
    {
      id: 'plg_off',
      cause: 'system',
      after: 7,
      status: 'off',
      kind: 'catch-up',
      subject: 'plg_off',
      due: never,
    },
    {
      id: 'plg_on',
      cause: 'system',
      after: 7,
      status: 'counting',
      kind: 'catch-up',
      subject: 'plg_on',
      due: 0,
    },
    {
      id: 'plg_paused',
      cause: 'person',
      after: 7,
      status: 'off',
      kind: 'catch-up',
      subject: 'plg_paused',
      due: never,
    },
  ]);
  after.close();
});

test('the labels of an issue get the creation time of the link', () => {
  const path = join(dir, 'labels.db');
  migrate({ ...at, path }, migrations.slice(0, 5));
  const before = new Database(path);
  before.exec(`
    PRAGMA foreign_keys = OFF;
    INSERT INTO issues (workspace_id, id, team_id, number, title, state_id, priority, creator_kind, creator_id, creator_name, version, created_at, updated_at, description)
      VALUES ('ws', 'iss_1', 't', 1, 'One', 's', 4, 'user', 'u', 'U', 1, 17, 18, ''), ('ws', 'iss_2', 't', 2, 'Two', 's', 4, 'user', 'u', 'U', 1, 23, 24, '');
    INSERT INTO issue_labels (workspace_id, issue_id, label_id)
      VALUES ('ws', 'iss_1', 'lbl_1'), ('ws', 'iss_1', 'lbl_2'), ('ws', 'iss_2', 'lbl_1');`);
  before.close();
  migrate({ ...at, path });
  const after = new Database(path);
  expect(
    after
      .prepare('SELECT issue_id AS id, label_id AS label, created_at AS at FROM issue_labels ORDER BY 1, 2')
      .all(),
  ).toEqual([
    { id: 'iss_1', label: 'lbl_1', at: 17 },
    { id: 'iss_1', label: 'lbl_2', at: 17 },
    { id: 'iss_2', label: 'lbl_1', at: 23 },
  ]);
  after.close();
});

test('the resolver of a thread is stored by entity and name', () => {
  const path = join(dir, 'resolved.db');
  migrate({ ...at, path }, migrations.slice(0, 10));
  const before = new Database(path);
  const comment = (id: string, by: string | null): string =>
    `('ws', '${id}', 1, 'iss_1', 'user', 'usr_1', 'Ana', '', ${by === null ? 'NULL' : `'${by}'`}, 1, 1)`;
  before.exec(`
    PRAGMA foreign_keys = OFF;
    INSERT INTO members (workspace_id, id, version, name, role, created_at, updated_at) VALUES ('ws', 'usr_1', 1, 'Ana', 'owner', 1, 1);
    INSERT INTO comments (workspace_id, id, version, issue_id, author_kind, author_id, author_name, body, resolved_by, created_at, updated_at)
      VALUES ${comment('cmt_1', 'usr_1')}, ${comment('cmt_2', null)}, ${comment('cmt_3', 'plg_1')};`);
  before.close();
  migrate({ ...at, path });
  const after = new Database(path);
  expect(
    after
      .prepare(
        'SELECT resolved_by_kind AS kind, resolved_by_id AS id, resolved_by_name AS name FROM comments ORDER BY comments.id',
      )
      .all(),
  ).toEqual([
    { kind: 'user', id: 'usr_1', name: 'Ana' },
    { kind: null, id: null, name: null },
    { kind: 'plugin', id: 'plg_1', name: 'plg_1' },
  ]);
  after.close();
});

test('older issues get only the times that the types and times of events prove', () => {
  const path = join(dir, 'state-times.db');
  const first = migrations.findIndex(({ name }) => name.endsWith('state-times'));
  migrate({ ...at, path }, migrations.slice(0, first));
  const before = new Database(path);
  const types = ['backlog', 'started', 'completed', 'canceled', 'duplicate'];
  for (const team_id of ['solo', 'many'])
    for (const type of [...types, ...(team_id === 'many' ? ['completed'] : [])]) {
      const { n } = before
        .prepare('SELECT count(*) AS n FROM states WHERE team_id = ? AND type = ?')
        .get([team_id, type]) as { n: number };
      const id = `${team_id} ${type}${n}`;
      insertPlaceholderRow(before, 'states', { workspace_id: 'ws', id, name: id, type, team_id });
    }
  let sequence = 0;
  /**
   * @param changes times of state changes
   * @param created creation time of the issue, if an import set another time than that of its event
   */
  const issue = (
    id: string,
    state: string,
    changes: number[],
    { created = 100_000, moved = false } = {},
  ): void => {
    insertPlaceholderRow(before, 'issues', {
      workspace_id: 'ws',
      id,
      team_id: state.split(' ')[0]!,
      number: ++sequence,
      state_id: state,
      created_at: created,
      deleted_at: null,
      parent_id: null,
      external_id: null,
    });
    const event = (type: string, time: number): void =>
      insertPlaceholderRow(before, 'events', {
        workspace_id: 'ws',
        sequence: ++sequence,
        id: `evt_${sequence}`,
        type,
        created_at: time,
        entity_kind: 'issue',
        entity_id: id,
        issue_id: id,
      });
    event('issue.created', 100_000);
    if (moved) event('issue.moved', 150);
    for (const time of changes) event('issue.state_changed', time);
  };
  issue('open', 'solo backlog0', [200, 300]);
  issue('begun', 'solo started0', [200]);
  issue('begun again', 'solo started0', [200, 300, 400]);
  issue('done', 'solo completed0', [200, 300]);
  issue('done at once', 'solo completed0', []);
  issue('imported done', 'solo completed0', [], { created: 5 });
  issue('moved', 'solo completed0', [200], { moved: true });
  issue('one of two', 'many completed1', [200]);
  issue('dropped', 'many canceled0', [200]);
  issue('double', 'many duplicate0', [200]);
  before.close();
  migrate({ ...at, path });
  const after = new Database(path);
  const rows = after.prepare('SELECT id, started_at, completed_at, canceled_at FROM issues').raw(true).all();
  after.close();
  expect(Object.fromEntries((rows as [string, ...unknown[]][]).map(([id, ...times]) => [id, times]))).toEqual(
    {
      open: [null, null, null],
      begun: [200, null, null],
      'begun again': [null, null, null],
      done: [null, 300, null],
      'done at once': [null, 100_000, null],
      'imported done': [null, null, null],
      moved: [null, null, null],
      'one of two': [null, null, null],
      dropped: [null, null, 200],
      double: [null, null, 200],
    },
  );
});

test('only texts with signs, emoji or letters beyond ASCII are indexed again', () => {
  const path = join(dir, 'signs.db');
  const first = migrations.findIndex(({ name }) => name.endsWith('archived-teams'));
  migrate({ ...at, path }, migrations.slice(0, first));
  const before = new Database(path);
  const bodies = ['Port to C++', 'uses c# too', 'Ship 🚀', 'Schön', '# Steps + more', 'plain'];
  before.pragma('foreign_keys = OFF');
  const insert = before.prepare(
    `INSERT INTO comments (workspace_id, id, issue_id, body, author_kind, author_id, author_name, version, created_at, updated_at)
     VALUES ('ws', ?, 'iss', ?, 'user', 'usr', 'Ana', 1, 1, 1)`,
  );
  for (const [index, body] of bodies.entries()) insert.run(`cmt_${index}`, body);
  before.exec("DELETE FROM search_pending; INSERT INTO search_pending VALUES ('ws', 'cmt_0', 4)");
  before.close();
  migrate({ ...at, path });
  const after = new Database(path);
  expect(after.prepare('SELECT id, revision FROM search_pending ORDER BY id').all()).toEqual([
    { id: 'cmt_0', revision: 5 },
    ...[1, 2, 3].map((index) => ({ id: `cmt_${index}`, revision: 1 })),
  ]);
  after.close();
});

test('a running replay continues at the position that it had before progress had a column', () => {
  const path = join(dir, 'replays.db');
  migrate({ ...at, path }, migrations.slice(0, 50));
  const before = new Database(path);
  before.exec(`INSERT INTO replays (workspace_id, id, endpoint_id, only_undelivered, status, after_sequence, last_sequence, deliveries, created_at)
    VALUES ('ws', 'rpl_1', 'whe_1', 0, 'running', 7, 9, 3, 1)`);
  before.close();
  migrate({ ...at, path });
  const after = new Database(path);
  expect(after.prepare('SELECT after_sequence, current_sequence FROM replays').all()).toEqual([
    { after_sequence: 7, current_sequence: 7 },
  ]);
  after.close();
});

test('only texts with letters that search now folds differently are indexed again', () => {
  const path = join(dir, 'folded.db');
  migrate({ ...at, path }, migrations.slice(0, 51));
  const before = new Database(path);
  let number = 0;
  for (const [id, title, description, deleted_at] of [
    ['title', 'Straße', '', null],
    ['description', '', 'ΟΔΟΣ, οδος', null],
    ['plain', 'Ärger', 'Crash', null],
    ['deleted', 'Straße', '', 1],
  ] as const)
    insertPlaceholderRow(before, 'issues', {
      workspace_id: 'ws',
      id,
      number: ++number,
      external_id: id,
      title,
      description,
      deleted_at,
    });
  for (const [id, body] of [
    ['comment', 'STRAẞE'],
    ['other', 'Strasse'],
  ] as const)
    insertPlaceholderRow(before, 'comments', { workspace_id: 'ws', id, body });
  before.exec(`DELETE FROM search_pending; INSERT INTO search_pending VALUES ('ws', 'title', 3)`);
  before.close();
  migrate({ ...at, path }, migrations.slice(0, 52));
  const after = new Database(path);
  expect(after.prepare('SELECT id, revision FROM search_pending ORDER BY id').all()).toEqual([
    { id: 'comment', revision: 1 },
    { id: 'description', revision: 1 },
    { id: 'title', revision: 4 },
  ]);
  after.close();
});
