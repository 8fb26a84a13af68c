// A plugin run is a transaction, at every step: the database as each commit left it is what a kill at that moment leaves, and a server
// that starts from it comes to the same end as one that nobody killed. The end is worked out from the event log alone.
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClock, startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../plugins/pack.ts';
import { sidecarPids } from '../sandbox/harness.ts';
import { everything } from './oracle.ts';
import { copyAsKilled } from './own-copy.ts';
import { seededRandom } from './server.ts';

const seeds = process.env.TATAMI_LONG ? Array.from({ length: 60 }, (_, at) => at + 1) : [1];
/** Of the states of one seed, so many are gone on from. */
const statesTried = process.env.TATAMI_LONG ? Infinity : 6;
const issuesFiled = 5;
/** How often a commit is followed by the death of the sidecars. */
const sidecarDeaths = 0.1;

const root = mkdtempSync(join(tmpdir(), 'tatami-crash-states-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const plugin = `{
  id: 'com.test.steps', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
  on: {
    'issue.created': { handle: async (event, ctx) => {
      const { estimate } = await ctx.issues.get(event.data.id);
      await ctx.comments.create(event.data.id, { body: 'handled' });
      await ctx.issues.update(event.data.id, { estimate: (estimate ?? 0) + 1 });
      await ctx.kv.increment(event.data.id);
    } },
    'comment.added': { self: 'deliver', handle: async (event, ctx) => {
      await ctx.issues.update(event.data.issue.id, { priority: 'high' });
    } },
  },
}`;

/** Runs the plugin on a few issues, and copies the data directory after each commit. @returns the copies */
async function states(seed: number, random: () => number): Promise<{ dirs: string[]; app: TestApp }> {
  const dir = join(root, `live-${seed}`);
  mkdirSync(dir);
  const app = await startApp({ dataDir: dir, clock: createClock() });
  await install(app.call, await packSource(plugin));
  const dirs: string[] = [];
  const { store } = app.services;
  const { commit } = store;
  store.commit = async (...given) => {
    const outcome = await commit(...given);
    dirs.push(copyAsKilled(dir, join(root, `${seed}-${dirs.length}`)));
    if (random() < sidecarDeaths) for (const pid of sidecarPids()) process.kill(pid, 'SIGKILL');
    return outcome;
  };
  for (let filed = 0; filed < issuesFiled; filed++)
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Issue ${filed}` });
  await app.settled();
  store.commit = commit;
  return { dirs, app };
}

/** What the log says of each issue; nothing of it comes from the tables that the server answers from. */
function modelOf(events: readonly Json[]): Map<string, Json> {
  const issues = new Map<string, Json>();
  for (const { type, data } of events) {
    if (type === 'issue.created')
      issues.set(data.id, { estimate: data.estimate, priority: data.priority, comments: 0 });
    else if (type === 'comment.added') issues.get(data.issue.id)!.comments++;
    else if (data.previous && issues.has(data.id))
      for (const name of ['estimate', 'priority'] as const)
        if (name in data.previous) {
          expect(issues.get(data.id)![name]).toEqual(data.previous[name]);
          issues.get(data.id)![name] = data[name];
        }
  }
  return issues;
}

async function checkEnd({ call }: TestApp): Promise<void> {
  const events = await everything(call, '/events');
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const model = modelOf(events);
  const issues = await everything(call, '/issues');
  expect(issues.map(({ id }) => id).sort()).toEqual([...model.keys()].sort());
  for (const { id, estimate, priority } of issues) {
    expect(model.get(id)).toEqual({ estimate, priority, comments: 1 });
    expect([estimate, priority]).toEqual([1, 'high']);
    expect((await call('GET', `/api/v1/plugins/com.test.steps/kv/${id}`)).json.value).toBe(1);
  }
  const runs = await everything(call, '/plugins/com.test.steps/runs');
  expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'succeeded'));
  expect(runs.length).toBe(2 * issues.length);
}

for (const seed of seeds)
  test(`from each commit of a plugin's work, killed there, the end is the same (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const { dirs, app } = await states(seed, random);
    await checkEnd(app);
    const { workspace } = app;
    await app.stop();
    const tried = dirs.toSorted(() => random() - 0.5).slice(0, statesTried);
    for (const dir of tried) {
      const again = await startApp({ dataDir: dir, clock: createClock() }, workspace);
      await again.settled();
      await checkEnd(again);
      await again.stop();
    }
    expect(dirs.length).toBeGreaterThan(issuesFiled);
  }, 600_000);
