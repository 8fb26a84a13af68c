// A plugin run is a transaction at every step: the database after each commit is the state after a kill at that moment,
// and a server that starts from it reaches the same final state as an uninterrupted one. The expected state is derived
// from the event log alone.
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClock, startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { sidecarPids } from '../sandbox/harness.ts';
import { everything } from './oracle.ts';
import { copyAsKilled } from './own-copy.ts';
import { createReceiver, type ReceivedCounts } from './receiver.ts';
import { seededRandom } from './server.ts';

const seeds = process.env.TATAMI_LONG ? Array.from({ length: 60 }, (_, at) => at + 1) : [1];
/** Fraction of the states after commits that are continued. */
const statesTried = process.env.TATAMI_LONG ? 1 : 0.1;
const issuesFiled = 4;
/** Probability that the sidecars are killed at a commit. */
const sidecarDeaths = 0.1;
const remindedAfterMs = 60_000;
const flags = { egressAllow: '127.0.0.1/32' };

const root = mkdtempSync(join(tmpdir(), 'tatami-crash-states-'));
const receiver = createReceiver();
afterAll(async () => {
  await receiver.stop();
  rmSync(root, { recursive: true, force: true });
});

const plugin = `{
  id: 'com.test.steps', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' } },
  net: [{ origin: '${receiver.origin}', methods: ['POST'], path: '/', why: 'test' }],
  on: {
    'issue.created': { handle: async ({ data: { id } }, ctx) => {
      const { estimate } = await ctx.issues.get(id);
      const answer = await ctx.fetch('${receiver.origin}/', { method: 'POST', body: id });
      await ctx.comments.create(id, { body: await answer.text() });
      await ctx.issues.update(id, { estimate: (estimate ?? 0) + 1 });
      await ctx.issues.create({ team: 'ENG', title: 'after ' + id });
      await ctx.schedule.once('remind:' + id, ctx.now() + ${remindedAfterMs}, id);
      await ctx.kv.increment(id);
    } },
    'comment.added': { self: 'deliver', handle: async (event, ctx) => {
      await ctx.issues.update(event.data.issue.id, { priority: 'high' });
    } },
  },
  schedules: { remind: { handle: async ({ data: id }, ctx) => {
    const { title } = await ctx.issues.get(id);
    await ctx.issues.update(id, { title: title + ' (reminded)' });
  } } },
}`;

/** State after a kill at one commit: the data directory, the time, and the contents of the receiver and the journal. */
interface State {
  readonly dir: string;
  readonly nowMs: number;
  readonly received: ReceivedCounts;
  readonly journaled: ReadonlySet<string>;
}

/** Waits until all runs of the plugin are finished, including one-time jobs. */
async function comeToAnEnd(app: TestApp): Promise<void> {
  await app.settled();
  app.clock.advance(remindedAfterMs);
  await app.settled();
}

/** Runs the plugin on a few issues, and saves states after its commits. */
async function states(seed: number, random: () => number): Promise<{ states: State[]; app: TestApp }> {
  const dir = join(root, `live-${seed}`);
  mkdirSync(dir);
  receiver.goOnFrom(new Map());
  const app = await startApp({ dataDir: dir, clock: createClock(), flags });
  await install(app.call, await packSource(plugin), { modes: { create: 'propose' } });
  const states: State[] = [];
  const journaled = new Set<string>();
  const { store } = app.services;
  const { commit } = store;
  store.commit = async (ops, ...more) => {
    const outcome = await commit(ops, ...more);
    const isFirstAnswer =
      journaled.size === 0 && ops.some(({ statement }) => statement.name === 'journal.store');
    for (const { statement, params } of ops)
      if (outcome.ok && statement.name === 'journal.store') journaled.add(String(params.id));
    // Always tried: the state in which a request is answered and nothing else of its run is stored.
    if (isFirstAnswer || random() < statesTried)
      states.push({
        dir: copyAsKilled(dir, join(root, `${seed}-${states.length}`)),
        ...{ nowMs: app.clock.now(), received: receiver.received(), journaled: new Set(journaled) },
      });
    if (random() < sidecarDeaths) for (const pid of sidecarPids()) process.kill(pid, 'SIGKILL');
    return outcome;
  };
  for (let filed = 0; filed < issuesFiled; filed++)
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Issue ${filed}` });
  await comeToAnEnd(app);
  store.commit = commit;
  return { states, app };
}

const fields = ['estimate', 'priority', 'title'] as const;
const stateOf = (of: Json): Json => Object.fromEntries(fields.map((name) => [name, of[name]]));

/** The issues according to the log, independent of the tables that the server reads. */
function modelOf(events: readonly Json[]): Map<string, Json> {
  const issues = new Map<string, Json>();
  for (const { type, data } of events) {
    if (type === 'issue.created') issues.set(data.id, { ...stateOf(data), comments: [] });
    else if (type === 'comment.added') issues.get(data.issue.id).comments.push(data.body);
    else if (type === 'comment.deleted') issues.get(data.issue.id).comments.pop();
    else if (data.previous && issues.has(data.id))
      for (const name of fields)
        if (name in data.previous) {
          expect(issues.get(data.id)[name]).toEqual(data.previous[name]);
          issues.get(data.id)[name] = data[name];
        }
  }
  return issues;
}

/**
 * Expects that the issues match the log.
 * @returns the model
 */
async function checkAgainstLog({ call }: TestApp): Promise<{ events: Json[]; model: Map<string, Json> }> {
  const events = await everything(call, '/events');
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const model = modelOf(events);
  const issues = await everything(call, '/issues');
  expect(issues.map(({ id }) => id).sort()).toEqual([...model.keys()].sort());
  for (const issue of issues) {
    const comments = await everything(call, `/issues/${issue.id}/comments`);
    expect({ ...stateOf(issue), comments: comments.map(({ body }) => body) }).toEqual(model.get(issue.id));
  }
  return { events, model };
}

async function checkEnd(app: TestApp): Promise<void> {
  const { call } = app;
  const { model } = await checkAgainstLog(app);
  for (const [id, { estimate, priority, title, comments }] of model) {
    expect([estimate, priority]).toEqual([1, 'high']);
    expect(title).toMatch(/^Issue \d \(reminded\)$/);
    // The run continued with the last response.
    expect(comments).toEqual([receiver.lastAnswer(id)]);
    expect((await call('GET', `/api/v1/plugins/com.test.steps/kv/${id}`)).json.value).toBe(1);
  }
  const runs = await everything(call, '/plugins/com.test.steps/runs');
  expect(runs.map(({ status }) => status)).toEqual(
    runs.map(({ proposalId }) => (proposalId ? 'proposed' : 'succeeded')),
  );
  expect(runs.length).toBe(3 * model.size);
  expect((await call('GET', '/api/v1/plugins/com.test.steps/scheduled')).json.data).toEqual([]);
  const proposals = await everything(call, '/proposals?status=open');
  expect(proposals.map(({ effects }) => effects.length)).toEqual(proposals.map(() => 1));
  const proposed = proposals.map(({ runId }) => runId);
  const created = runs.filter(({ handler }) => handler === 'issue.created').map(({ id }) => id);
  expect(proposed.sort()).toEqual(created.sort());
}

/** Expects that an undo restores the state before the run and changes nothing else. */
async function checkUndo(app: TestApp, random: () => number): Promise<void> {
  const { events, model } = await checkAgainstLog(app);
  const written = events.filter(
    ({ actor, type }) => actor.kind === 'plugin' && ['comment.added', 'issue.updated'].includes(type),
  );
  if (written.length === 0) return;
  const run = written[Math.floor(random() * written.length)].cause.parentRunId;
  for (const { type, data } of written.filter(({ cause }) => cause.parentRunId === run).reverse())
    if (type === 'comment.added') model.get(data.issue.id).comments.pop();
    else Object.assign(model.get(data.id), data.previous);
  const { status, json } = await app.call('POST', `/api/v1/runs/${run}/undo`);
  expect([status, json.skipped]).toEqual([200, []]);
  await app.settled();
  expect((await checkAgainstLog(app)).model).toEqual(model);
}

/**
 * Expects that a request is sent once, and once more only if the server ended before its response was in the journal.
 */
function checkRequests(received: ReceivedCounts, journaled: ReadonlySet<string>): void {
  for (const [key, { times }] of receiver.received()) {
    const before = received.get(key)?.times ?? 0;
    expect(times - before).toBeLessThanOrEqual(journaled.has(key) ? 0 : 1);
    expect(times).toBeGreaterThan(0);
  }
  const issues = [...receiver.received().values()].map(({ issue }) => issue);
  expect(new Set(issues).size).toBe(issues.length);
}

for (const seed of seeds)
  test(`a kill at each commit of a plugin's work leads to the same final state (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const { states: all, app } = await states(seed, random);
    await checkEnd(app);
    checkRequests(new Map(), new Set());
    await checkUndo(app, random);
    const { workspace } = app;
    await app.stop();
    for (const { dir, nowMs, received, journaled } of all) {
      receiver.goOnFrom(received);
      const again = await startApp({ dataDir: dir, clock: createClock(nowMs), flags }, workspace);
      await comeToAnEnd(again);
      await checkEnd(again);
      checkRequests(received, journaled);
      await checkUndo(again, random);
      await again.stop();
      rmSync(dir, { recursive: true });
    }
    expect(all.length).toBeGreaterThan(1);
  }, 600_000);
