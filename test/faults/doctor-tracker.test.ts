// `tatami doctor` checks the search index and attached files, and fixes the index. docs/operations/doctor.md.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { readConfig } from '../../core/app/config/config.ts';
import { fileCheck } from '../../core/features/attachments/checks.ts';
import { replay } from '../../core/app/doctor/replay.ts';
import { derived, orphans } from '../../core/app/doctor/row-checks.ts';
import { mend } from '../../core/app/doctor/mend.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { blobPath, digestIn } from '../../core/platform/store/files/blobs.ts';
import { adoptDatabase } from '../../core/platform/store/integrity/identity.ts';
import { createClock, startApp, type Json, type TestApp } from '../app.ts';

const parent = mkdtempSync(join(tmpdir(), 'tatami-doctor-tracker-'));
const dataDir = join(parent, 'data');
const clock = createClock();
let workspace: TestApp['workspace'];
let sum: string;

beforeAll(async () => {
  const app = await startApp({ clock, dataDir });
  ({ workspace } = app);
  const post = async (path: string, body: unknown, type = 'application/json'): Promise<Json> =>
    (await app.call('POST', `/api/v1${path}`, body, { 'content-type': type })).json;
  const issue = await post('/issues', { team: 'ENG', title: 'Zebra crossing' });
  await post('/issues', { team: 'ENG', title: 'Zebra stripes' });
  const gone = await post('/issues', { team: 'ENG', title: 'Zebra gone' });
  await post(`/issues/${issue.id}/comments`, { body: 'A giraffe' });
  sum = (await post(`/issues/${issue.id}/attachments/upload?name=a.txt`, 'its content', 'text/plain')).sha256;
  const star = { type: 'issue', targetId: issue.id };
  const { id } = await post('/favorites', star);
  await app.call('PATCH', `/api/v1/favorites/${id}`, { position: -1 });
  await app.call('DELETE', `/api/v1/favorites/${id}`);
  clock.advance(1_000);
  await post('/favorites', star);
  await app.call('PUT', '/api/v1/me/preferences', { theme: 'dark' });
  await app.call('DELETE', `/api/v1/issues/${gone.id}`);
  // A search indexes what is pending.
  await app.call('GET', '/api/v1/search?q=zebra');
  await app.stop();
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const subject = () => openSubject(readConfig({ dataDir }, {}), clock.now());
async function findingsOf(
  check: typeof fileCheck | typeof derived | typeof orphans | typeof replay,
): Promise<string[]> {
  const looking = subject();
  const findings = await check.look(looking);
  looking.close();
  return findings.map(({ level, message }) => `${level}: ${message}`);
}
function change(sql: string): void {
  const db = new Database(join(dataDir, 'tatami.db'));
  db.exec(sql);
  db.close();
  adoptDatabase(dataDir);
}

test('a favorite that was added again matches its last event, and its order belongs to the member', async () => {
  expect(await findingsOf(replay)).toEqual([]);
  expect(await findingsOf(orphans)).toEqual([]);
});

test('an index that contradicts the rows is reported and rebuilt, and pending updates are no contradiction', async () => {
  expect(await findingsOf(derived)).toEqual([]);
  change(`DELETE FROM search_index WHERE rowid = (SELECT doc FROM search_documents WHERE id LIKE 'cmt_%');
    DELETE FROM search_documents WHERE id = (SELECT id FROM issues WHERE title = 'Zebra stripes');
    UPDATE search_documents SET team_id = 'tea_other' WHERE id = (SELECT id FROM issues WHERE title = 'Zebra crossing');`);
  expect(await findingsOf(derived)).toEqual([
    'warning: 1 issues are missing from the search index.',
    'warning: 1 index entries belong to deleted texts or to another team.',
    'warning: 1 index entries have no words.',
    'warning: 1 word lists have no index entry.',
  ]);
  await expect(mend(subject(), 'search', { backup: null, yes: false, altered: false })).resolves.toBe(
    'cleared the index. The server indexes 3 texts after its next start.',
  );
  // All texts are pending now.
  expect(await findingsOf(derived)).toEqual([]);
  const app = await startApp({ clock, dataDir }, workspace);
  for (const [q, count] of [
    ['zebra', 2],
    ['giraffe', 1],
  ])
    expect((await app.call('GET', `/api/v1/search?q=${q}`)).json.data).toHaveLength(Number(count));
  await app.stop();
  expect(await findingsOf(derived)).toEqual([]);
});

test('missing, damaged and orphaned contents are reported', async () => {
  expect(await findingsOf(fileCheck)).toEqual([]);
  const path = blobPath(join(dataDir, 'blobs'), digestIn(sum)!);
  writeFileSync(path, 'its c0ntent');
  expect(await findingsOf(fileCheck)).toEqual([
    expect.stringContaining(`error: The contents of attachments are missing or damaged: att_`),
  ]);
  rmSync(path);
  expect(await findingsOf(fileCheck)).toEqual([expect.stringContaining(sum)]);
  writeFileSync(path, 'its content');
  writeFileSync(join(path, '..', `${sum.slice(0, 2)}${'0'.repeat(62)}`), '');
  expect(await findingsOf(fileCheck)).toEqual([
    expect.stringContaining('note: 1 files belong to no attachment'),
  ]);
});
