// A restore starts a new log generation: a reader beyond the common part receives the position to resume from, and
// other readers continue unaffected (docs/spec/events.md › After a restore). The restore is simulated on a stopped
// directory by its writes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import Database from 'libsql';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adoptDatabase } from '../../core/platform/store/integrity/identity.ts';
import { createClock, startApp, type Json, type Reply, type TestApp } from '../app.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-restored-'));
const clock = createClock();
let app: TestApp;
/** Sequence of the last event of the backup. */
let cut: number;
/** Log generations, in order. */
const generations: string[] = [];
/** Read before the restore: the last event of the backup, and the last event overall. */
let retainedEvent: Json;
let lost: Json;
let retainedCursor: string;
let lostCursor: string;

const file = (title: string): Promise<Reply> => app.call('POST', '/api/v1/issues', { team: 'ENG', title });
const feed = (query: string): Promise<Reply> => app.call('GET', `/api/v1/events?limit=100&${query}`);
const stream = (lastEventId: string): Promise<Reply> =>
  app.call('GET', '/api/v1/events/stream', undefined, { 'last-event-id': lastEventId });
const titles = ({ json }: Reply): string[] => json.data.map(({ data }: Json) => data.title);

/** Makes the backup the directory in use. */
async function restore(from: string, generation: string): Promise<void> {
  const to = join(dir, generation);
  cpSync(join(dir, from), to, { recursive: true });
  const db = new Database(join(to, 'tatami.db'));
  const { workspaceId } = app.workspace;
  db.prepare('UPDATE installation SET generation = ?').run([generation]);
  db.prepare(
    `INSERT INTO log_cuts SELECT ?, 1 + (SELECT count(*) FROM log_cuts), ?, max(sequence) FROM events WHERE workspace_id = ?`,
  ).run([workspaceId, generation, workspaceId]);
  db.close();
  adoptDatabase(to);
  app = await startApp({ dataDir: to, clock }, app.workspace);
  generations.push(generation);
}

beforeAll(async () => {
  app = await startApp({ dataDir: join(dir, 'first'), clock });
  await file('kept');
  const page = (await feed('')).json;
  [retainedEvent, retainedCursor] = [page.data.at(-1), page.pageInfo.endCursor];
  generations.push(page.pageInfo.generation);
  cut = retainedEvent.sequence;
  await app.settled();
  await app.stop();
  cpSync(join(dir, 'first'), join(dir, 'backup'), { recursive: true });
  app = await startApp({ dataDir: join(dir, 'first'), clock }, app.workspace);
  await file('lost');
  const behind = (await feed(`after=${cut}`)).json;
  [lost, lostCursor] = [behind.data.at(-1), behind.pageInfo.endCursor];
  await app.stop();
  await restore('backup', 'second');
  for (const title of ['new', 'newer']) await file(title);
});
afterAll(async () => {
  await app.stop();
  rmSync(dir, { recursive: true });
});

test('a page names its log generation', async () => {
  expect((await feed('')).json.pageInfo.generation).toBe('second');
  expect(generations[0]).toMatch(/^[0-9a-f]{16}$/);
});

test('a position common to both generations continues unaffected', async () => {
  const [first] = generations;
  for (const query of [
    `after=${retainedCursor}`,
    `after=${cut}&generation=${first}`,
    `after=${retainedEvent.id}`,
  ])
    expect([query, titles(await feed(query))]).toEqual([query, ['new', 'newer']]);
  expect((await stream(`${cut}:${first}`)).status).toBe(200);
  const page = await feed('after=0&types=issue.created');
  expect(titles(await feed(`types=issue.created&after=${page.json.pageInfo.endCursor}`))).toEqual([]);
});

test('a position after the cut is rejected with the last event common to both generations', async () => {
  const [first] = generations;
  const refused = {
    code: 'history_changed',
    details: [
      { path: 'after', issue: 'conflict', value: String(cut) },
      { path: 'generation', issue: 'conflict', value: 'second' },
    ],
  };
  for (const query of [
    `after=${lostCursor}`,
    `after=${lost.sequence}&generation=${first}`,
    `after=${lost.id}`,
    'after=999999',
    // An unknown generation.
    `after=${lost.sequence}&generation=unknown`,
  ]) {
    const { status, json } = await feed(query);
    expect([query, status]).toEqual([query, 409]);
    expect(json.error).toMatchObject(refused);
  }
  for (const lastEventId of [`${lost.sequence}:${first}`, '999999', lost.id]) {
    const { status, json } = await stream(lastEventId);
    expect([lastEventId, status, json?.error.code]).toEqual([lastEventId, 409, 'history_changed']);
  }
  expect(titles(await feed(`after=${cut}&generation=second`))).toEqual(['new', 'newer']);
});

test('across several restores the lowest cut applies', async () => {
  const { endCursor } = (await feed('')).json.pageInfo;
  await app.stop();
  await restore('second', 'third');
  await file('newest');
  expect(titles(await feed(`after=${endCursor}`))).toEqual(['newest']);
  await app.stop();
  // A backup from before the second restore.
  await restore('backup', 'fourth');
  for (let n = 0; n < 5; n++) await file(`again ${n}`);
  const { status, json } = await feed(`after=${endCursor}`);
  expect([status, json.error.details[0].value]).toEqual([409, String(cut)]);
});
