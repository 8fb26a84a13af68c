// docs/spec/durability.md › Damaged files: random damage to every file of a data directory. A server that starts
// answers correctly or not at all, nothing ends the process, and a second start gives no worse result. TATAMI_LONG=1
// runs 1,000 cases.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { FirstWorkspace } from '../../core/app/setup/first-workspace.ts';
import { createClock, createSystemClock, startApp, type TestApp } from '../app.ts';
import { ownCommand } from '../program.ts';
import type { Outcome, Task } from './damage-process.ts';
import { everything } from './oracle.ts';
import { copyAsKilled } from './own-copy.ts';

/** Part of each response. */
const flags = { baseUrl: 'http://localhost' };
const long = process.env.TATAMI_LONG !== undefined;
const cases = long ? 1_000 : 14;
const parent = mkdtempSync(join(tmpdir(), 'tatami-damages-'));
let task: Omit<Task, 'seeds'>;
let first: FirstWorkspace;

afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Varying length, so that some texts span several pages. */
async function write(app: TestApp, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) {
    const title = `Issue ${n}: Größe`;
    const description = `text ${n} ünd mehr `.repeat(n % 9 === 0 ? 1_500 : 12);
    const { json } = await app.call('POST', '/api/v1/issues', {
      team: 'ENG',
      title,
      description,
      labels: ['bug'],
    });
    if (n % 3 === 0)
      await app.call('POST', `/api/v1/issues/${json.id}/comments`, { body: `A comment on ${n}` });
    if (n % 5 === 0) await app.call('PATCH', `/api/v1/issues/${json.id}`, { priority: 'high' });
  }
}

/** Path → response, for everything that the API lists and shows. */
async function answersOf(app: TestApp): Promise<Record<string, string>> {
  const lists = [
    'teams',
    'states',
    'labels',
    'projects',
    'members',
    'api-keys',
    'webhooks',
    'plugins',
    'inbox',
    'audit-log',
  ];
  const issues = await everything(app.call, '/issues');
  const paths = [
    ...lists.map((name) => `/api/v1/${name}`),
    '/api/v1/workspace',
    ...['', '&sort=number', '&sort=updatedAt', '&sort=title', '&filter[priority]=high'].map(
      (query) => `/api/v1/issues?limit=100${query}`,
    ),
    ...['0', '40', '80'].map((after) => `/api/v1/events?limit=100&after=${after}`),
    ...issues.map(({ id }) => `/api/v1/issues/${id}`),
    ...issues
      .filter(({ number }) => number % 4 === 1)
      .flatMap(({ id }) => ['/history', '/comments'].map((part) => `/api/v1/issues/${id}${part}`)),
  ];
  const answers: Record<string, string> = {};
  for (const path of paths) {
    const { status, text } = await app.call('GET', path);
    if (status === 200) answers[path] = text;
  }
  return answers;
}

beforeAll(async () => {
  const dir = join(parent, 'made');
  const clock = createSystemClock();
  const made = await startApp({ dataDir: dir, clock, flags });
  first = made.workspace;
  await write(made, 0, 30);
  await made.stop();
  copyAsKilled(dir, join(parent, 'earlier'));
  const second = await startApp({ dataDir: dir, clock, flags }, first);
  await write(second, 30, 60);
  const right = await answersOf(second);
  copyAsKilled(dir, join(parent, 'killed'));
  await second.stop();
  copyAsKilled(dir, join(parent, 'closed'));
  task = {
    ...{ parent, nowMs: clock.now(), token: first.apiKey, startsAgain: long ? 1 : 4 },
    right: { closed: right, killed: right },
  };
});

interface Run {
  readonly outcomes: readonly Outcome[];
  /** Cases that ended the process. */
  readonly aborted: readonly string[];
}

async function runCases(to: number): Promise<Run> {
  const outcomes: Outcome[] = [];
  const aborted: string[] = [];
  for (let from = 0; from < to;) {
    const file = join(parent, 'task.json');
    writeFileSync(file, JSON.stringify({ ...task, seeds: [from, to] } satisfies Task));
    const child = Bun.spawn(ownCommand('damage', [file]), { stdout: 'pipe', stderr: 'pipe' });
    const lines = (await new Response(child.stdout).text()).trim().split('\n');
    const said = lines
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Outcome | { begins: number; what: string });
    for (const line of said) if ('seed' in line) outcomes.push(line);
    const last = said.at(-1);
    if ((await child.exited) === 0 || !last || !('begins' in last)) break;
    aborted.push(`${last.begins} ${last.what}: ${(await new Response(child.stderr).text()).slice(0, 300)}`);
    from = last.begins + 1;
  }
  return { outcomes, aborted };
}

const countBy = (values: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

test(`${cases} random damages: no wrong response, no abort, no loop`, async () => {
  const { outcomes, aborted } = await runCases(cases);
  if (process.env.TATAMI_LONG)
    console.log(countBy(outcomes.map(({ start, what }) => `${what.split(':')[0]} ${start}`)));
  expect(aborted).toEqual([]);
  expect(
    outcomes.flatMap(({ wrong, what, seed }) => wrong.map((line) => `${seed} ${what}: ${line}`)),
  ).toEqual([]);
  expect(outcomes).toHaveLength(cases);
  const starts = countBy(outcomes.map(({ start }) => start));
  // Much of a damaged database must stay readable, so that the test covers more than refusals.
  expect(starts['only read'] ?? 0).toBeGreaterThan(cases / 5);
  const read = outcomes.filter(({ start }) => start === 'only read');
  expect(read.some(({ answers }) => answers.right > answers.refused)).toBe(true);
}, 1_200_000);

test('damage to the settings of the full-text index leaves issues readable', async () => {
  const dir = copyAsKilled(`${join(parent, 'closed')}/.`, mkdtempSync(join(tmpdir(), 'tatami-damage-')));
  const path = join(dir, 'tatami.db');
  const db = new Database(path, { readonly: true });
  const valueOf = (sql: string): number => Number(Object.values(db.prepare(sql).all([])[0] as object)[0]);
  const page = valueOf("SELECT rootpage FROM sqlite_master WHERE name = 'search_index_config'");
  const pageBytes = valueOf('PRAGMA page_size');
  db.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(pageBytes, 0x5a), 0, pageBytes, (page - 1) * pageBytes);
  closeSync(file);
  const app = await startApp({ dataDir: dir, clock: createClock(task.nowMs), flags }, first);
  expect(app.services.problems.list().map(({ message }) => message)).toEqual([
    expect.stringContaining(`damaged page (${page}) in tatami.db, of search_index_config`),
  ]);
  expect((await app.call('GET', '/api/v1/issues?limit=5')).status).toBe(200);
  expect((await app.call('GET', '/api/v1/search?q=issue')).status).toBe(503);
  await app.stop();
  rmSync(dir, { recursive: true });
});
