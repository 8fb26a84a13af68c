// Archived events are read like those in the database: the same bytes, in the same order, for the same readers; a
// damaged file is reported, and wrong data is never returned.
import { afterEach, expect, test } from 'bun:test';
import Database from 'libsql';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../core/app/config/config.ts';
import { replay } from '../../core/app/doctor/replay.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { createHousekeeping } from '../../core/app/housekeeping/housekeeping.ts';
import { startApp, type Json, type TestApp } from '../app.ts';

const day = 86_400_000;
let app: TestApp;
afterEach(() => app.stop());

async function archive(): Promise<void> {
  const { store, log, blobs } = app.services;
  const retentionDays = {
    runs: null,
    recordings: null,
    undo: null,
    deliveries: null,
    deleted: null,
    snapshots: null,
    events: 30,
  };
  await createHousekeeping({
    store,
    log,
    clock: app.clock,
    retention: retentionDays,
    blobs,
    snapshots: join(app.dataDir, 'snapshots'),
  }).sweep();
}

/** Creates 600 events or the given hundreds; some are long, some share texts, and the last ones are recent. */
async function history(hundreds = 6): Promise<{ issue: string; reader: string }> {
  app = await startApp();
  await app.call('POST', '/api/v1/labels', { name: 'one' });
  const ids: string[] = [];
  for (let n = 0; n < hundreds; n++) {
    const issues = Array.from({ length: 100 }, (_, i) => ({
      team: 'ENG',
      title: `Issue ${n} ${i}`,
      description: 'long '.repeat(i),
    }));
    const { json } = await app.call('POST', '/api/v1/issues/bulk', { issues });
    ids.push(...json.data.map(({ id }: { id: string }) => id));
    if (n % 4 === 0)
      await app.call('PATCH', `/api/v1/issues/${ids[0]}`, {
        labels: n % 8 === 0 ? ['one'] : [],
        title: `Again ${n}`,
      });
  }
  app.clock.advance(31 * day);
  await app.call('PATCH', `/api/v1/issues/${ids[0]}`, { title: 'Young' });
  return { issue: ids[0]!, reader: await app.mintKey(['events:read', 'labels:read']) };
}

async function feed(token = app.workspace.apiKey): Promise<Json[]> {
  const call = app.clientOf(token);
  const events: Json[] = [];
  for (let after = '0'; ;) {
    const { json, status } = await call('GET', `/api/v1/events?limit=100&after=${after}`);
    if (status !== 200) throw new Error(`The feed answered ${status}.`);
    events.push(...json.data);
    if (!json.pageInfo.hasNextPage) return events;
    after = json.pageInfo.endCursor;
  }
}

const filesOf = (): string[] => {
  const folder = join(app.dataDir, 'archive', app.workspace.workspaceId);
  return readdirSync(folder).map((name) => join(folder, name));
};

test('feed, history, audit log and each event are identical after archiving, and after a restart', async () => {
  const { issue, reader } = await history(11);
  const look = async (): Promise<unknown[]> => {
    const events = await feed();
    const some = events.filter((_, index) => index % 97 === 0);
    return [
      events,
      await feed(reader),
      (await app.call('GET', `/api/v1/issues/${issue}/history?limit=100`)).text,
      (await app.call('GET', `/api/v1/audit-log?limit=100&target=${issue}`)).text,
      await Promise.all(some.map(async ({ id }) => (await app.call('GET', `/api/v1/events/${id}`)).json)),
    ];
  };
  const before = await look();
  await archive();
  expect(
    filesOf()
      .map((file) => file.slice(file.lastIndexOf('/') + 1))
      .sort(),
  ).toEqual(['1-500.jsonl.zst', '501-1000.jsonl.zst']);
  expect(filesOf().map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(await look()).toEqual(before);
  app = await app.restart();
  expect(await look()).toEqual(before);
  await archive();
  expect(filesOf()).toHaveLength(2);

  const db = new Database(join(app.dataDir, 'tatami.db'));
  const asStored = db.prepare('SELECT count(*) AS n FROM events WHERE packed IS NOT NULL').all() as {
    n: number;
  }[];
  db.close();
  expect(asStored[0]!.n).toBeLessThan(400);
});

test('the doctor compares archived events, and reports the number of unreadable ones', async () => {
  const { issue } = await history();
  await app.call('POST', `/api/v1/issues/${issue}/attachments`, {
    url: 'https://example.org/',
    title: 'Link',
  });
  await app.settled();
  await archive();
  const findProblems = (): string[] => {
    const subject = openSubject(readConfig({ dataDir: app.dataDir }, {}), app.clock.now());
    const findings = replay.look(subject);
    subject.close();
    return findings.map(({ level, message }) => `${level}: ${message}`);
  };
  const changed = (sql: string): void => {
    const db = new Database(join(app.dataDir, 'tatami.db'));
    // The server may commit background work meanwhile.
    db.exec('PRAGMA busy_timeout = 10000');
    db.exec(sql);
    db.close();
  };
  expect(findProblems()).toEqual([]);
  changed(`UPDATE issues SET title = 'other' WHERE number IN (7, 8);
    INSERT INTO issue_labels (workspace_id, issue_id, label_id, created_at)
      SELECT i.workspace_id, i.id, l.id, 1 FROM issues AS i, labels AS l WHERE i.number = 9 AND l.name = 'one'`);
  expect(findProblems()).toEqual([
    expect.stringMatching(
      /^error: Rows differ from the event log in issues: iss_\w+ \(title\), iss_\w+ \(title\)\. Restore a backup\.$/,
    ),
    expect.stringMatching(
      /^error: Rows differ from the event log in issue_labels: iss_\w+\. Restore a backup\.$/,
    ),
  ]);
  rmSync(filesOf()[0]!);
  expect(findProblems()).toEqual([
    expect.stringMatching(
      /^warning: \d{3} events were not compared with their objects, because their archive files cannot be read\. Restore the files from a backup\.$/,
    ),
  ]);
});

test('a file without its row, as after a kill, is written again', async () => {
  await history();
  const before = await feed();
  await app.services.store.archive.write(app.workspace.workspaceId, new Map([[1, '["","half"]']]));
  const { commit } = app.services.store;
  app.services.store.commit = () => Promise.reject(new Error('killed'));
  await archive();
  app.services.store.commit = commit;
  expect(await feed()).toEqual(before);
  await archive();
  expect(await feed()).toEqual(before);
  expect(filesOf().some((file) => file.endsWith('/1-500.jsonl.zst'))).toBe(true);
});

const damages: Readonly<Record<string, (file: string, whole: Buffer) => void>> = {
  flipped: (file, whole) =>
    writeFileSync(
      file,
      whole.map((byte, at) => (at === 100 ? byte ^ 1 : byte)),
    ),
  cut: (file, whole) => writeFileSync(file, whole.subarray(0, 50)),
  gone: (file) => rmSync(file),
};

test('a corrupted, truncated or missing file is logged by name, no wrong data is returned, and the other events stay readable', async () => {
  const { issue } = await history();
  const events = await feed();
  await archive();
  const [file = ''] = filesOf();
  const whole = readFileSync(file);
  const of = (sequence: number) => app.call('GET', `/api/v1/events/${events[sequence - 1].id}`);
  for (const damage of Object.values(damages)) {
    app = await app.restart();
    damage(file, whole);
    expect((await of(100)).status).toBe(503);
    expect(app.services.problems.list()).toMatchObject([{ kind: 'archive' }]);
    expect((await app.call('GET', '/readyz')).status).toBe(200);
    expect(JSON.stringify(app.logs)).toContain('1-500.jsonl.zst is missing or damaged');
    expect((await of(550)).json).toEqual(events[549]);
    expect((await app.call('GET', `/api/v1/events?after=500&limit=10`)).json.data).toEqual(
      events.slice(500, 510),
    );
    expect((await app.call('GET', `/api/v1/issues/${issue}`)).status).toBe(200);
    writeFileSync(file, whole);
    expect((await of(100)).json).toEqual(events[99]);
    expect(app.services.problems.list()).toEqual([]);
  }
});
