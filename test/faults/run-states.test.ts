// Each transition of a run is killed before and after its commit: a server that starts from either state
// brings the run to its right end, with each effect once. `core/features/plugins/runs/state.ts` has the table
// of transitions.
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Op } from '../../core/platform/store/store.ts';
import { createClock, startApp, type Json, type TestApp } from '../app.ts';
import { allTrackerScopes, install, packSource } from '../features/plugins/pack.ts';
import { everything } from './oracle.ts';
import { copyAsKilled } from './own-copy.ts';

const root = mkdtempSync(join(tmpdir(), 'tatami-run-states-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Kills at each occurrence of a transition, instead of at the first one. */
const isLong = process.env.TATAMI_LONG !== undefined;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Brings one run to its end from wherever it is, so that it also continues after a kill. */
interface Scenario {
  readonly name: string;
  /** Body of the handler before its effects. */
  readonly body: string;
  readonly how?: object;
  /** Requests after the event, each only if the run is in the status that they need. */
  drive(on: Driven): Promise<void>;
  /** Status of the run in the end, and the number of times that its effects were applied. */
  readonly end: readonly [status: string, effects: number];
  /** True if a request starts the run of a schedule; default: an issue with the name starts a run. */
  readonly isRequested?: true;
  /** Number of further runs, which succeeded before the one that was cut. */
  readonly before?: number;
}

interface Driven {
  readonly app: TestApp;
  /** Path of the plugin. */
  readonly path: string;
  run(): Promise<Json>;
  /** Sends a request for the run, if it has the status. */
  when(
    statuses: readonly string[],
    method: string,
    path: (run: Json) => string,
    body?: object,
  ): Promise<void>;
  advance(ms: number): Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();
const once = (text: string): string => `if (ctx.run.attempt === 1) throw ${text};`;
const retry = ({ id }: Json): string => `/runs/${id}/retry`;

const scenarios: readonly Scenario[] = [
  { name: 'ends', body: '', drive: nothing, end: ['succeeded', 1] },
  {
    name: 'is put off',
    body: once(`new Error('once')`),
    drive: ({ advance }) => advance(hourMs),
    end: ['succeeded', 1],
  },
  {
    name: 'is dead and retried',
    body: once(`new Drop('once')`),
    drive: async ({ when, run }) => {
      if ((await run()).attempt === 1) await when(['dead'], 'POST', retry);
    },
    end: ['succeeded', 1],
  },
  { name: 'is dead', body: `throw new Drop('always');`, drive: nothing, end: ['dead', 0] },
  {
    name: 'is canceled',
    body: `throw new Error('always');`,
    async drive({ when, advance }) {
      await when(['retrying'], 'POST', ({ id }) => `/runs/${id}/cancel`);
      await advance(hourMs);
    },
    end: ['canceled', 0],
  },
  {
    name: 'waits for a budget',
    body: '',
    how: { budget: { runs: 0 } },
    drive: ({ when, path }) => when(['waiting'], 'PATCH', () => path, { budget: {} }),
    end: ['succeeded', 1],
  },
  {
    name: 'waits for a day',
    body: '',
    how: { budget: { runs: 0 } },
    async drive({ when, advance, path }) {
      await when(['waiting'], 'PATCH', () => path, { budget: { runs: 0, calls: 1_000 } });
      await when(['waiting'], 'PATCH', () => path, { state: 'paused_by_admin' });
      await advance(dayMs);
      await when(['canceled'], 'PATCH', () => path, { state: 'active', budget: {} });
      await when(['canceled'], 'POST', () => `${path}/catch-up`);
    },
    end: ['succeeded', 1],
  },
  {
    name: 'is approved',
    body: '',
    how: { mode: 'propose' },
    drive: ({ when }) => when(['proposed'], 'POST', ({ proposalId }) => `/proposals/${proposalId}/approve`),
    end: ['succeeded', 1],
  },
  {
    name: 'is rejected',
    body: '',
    how: { mode: 'propose' },
    drive: ({ when }) =>
      when(['proposed'], 'POST', ({ proposalId }) => `/proposals/${proposalId}/reject`, { reason: 'no' }),
    end: ['canceled', 0],
  },
  { name: 'is requested', body: '', isRequested: true, drive: nothing, end: ['succeeded', 1] },
  {
    name: 'is cut as a loop',
    // Updates of the issue by this handler trigger it again.
    body: `await ctx.issues.update(id, { estimate: ((await ctx.issues.get(id)).estimate ?? 0) + 1 });`,
    before: 3,
    drive: nothing,
    end: ['dead', 3],
  },
];

const idOf = (name: string): string => `com.test.${name.replaceAll(' ', '-')}`;

const effects = (id: string): string =>
  `await ctx.comments.create(${id}, { body: 'handled' }); await ctx.kv.increment('handled');`;

function handlersOf({ name, body, isRequested, before }: Scenario): string {
  if (isRequested)
    return `schedules: { work: { handle: async (_, ctx) => {
      const { data } = await ctx.issues.list({ limit: 1 });
      ${effects('data[0].id')}
    } } }`;
  const subscription = `self: 'deliver', filter: { title: '${name}' }`;
  const handle = `async ({ data: { id } }, ctx) => { ${body} ${effects('id')} }`;
  return `on: { 'issue.${before ? 'updated' : 'created'}': { ${subscription}, handle: ${handle} } }`;
}

async function installAll(app: TestApp): Promise<void> {
  for (const scenario of scenarios) {
    const id = idOf(scenario.name);
    await install(
      app.call,
      await packSource(
        `{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes}, ${handlersOf(scenario)} }`,
      ),
    );
    await app.call('PATCH', `/api/v1/plugins/${id}`, scenario.how ?? {});
  }
}

/** Starts the run of a scenario, unless it was started before a kill. */
async function start(app: TestApp, { name, isRequested, before }: Scenario): Promise<void> {
  const path = `/plugins/${idOf(name)}`;
  const find = async (): Promise<Json> =>
    (await everything(app.call, '/issues')).find(({ title }) => title === name);
  if (!(await find())) await app.call('POST', '/api/v1/issues', { team: 'ENG', title: name });
  await app.settled();
  if (isRequested && (await everything(app.call, `${path}/runs`)).length === 0)
    await app.call('POST', `/api/v1${path}/schedules/work/run`);
  const { id, priority } = await find();
  if (before && priority === 'none') await app.call('PATCH', `/api/v1/issues/${id}`, { priority: 'low' });
  await app.settled();
}

const rank = ({ status }: Json): number => Number(status === 'succeeded');

function driven(app: TestApp, { name, before = 0 }: Scenario): Driven {
  const path = `/plugins/${idOf(name)}`;
  const run = async (): Promise<Json> => {
    const runs = await everything(app.call, `${path}/runs`);
    // The runs of a loop are created at the same time, so their order in the list says nothing.
    const [last, ...earlier] = runs.toSorted((one, other) => rank(one) - rank(other));
    expect(earlier.map(({ status }) => status)).toEqual(Array(before).fill('succeeded'));
    return last;
  };
  return {
    app,
    path,
    run,
    async when(statuses, method, of, body) {
      const current = await run();
      if (!statuses.includes(current.status)) return;
      const { status, json } = await app.call(method, `/api/v1${of(current)}`, body);
      if (status >= 300)
        throw new Error(`${method} ${of(current)} answered ${status} ${JSON.stringify(json)}`);
      await app.settled();
    },
    async advance(ms) {
      app.clock.advance(ms);
      await app.settled();
    },
  };
}

/** Expects the end of the run, with each effect and each event about it once. */
async function checkEnd(app: TestApp, scenario: Scenario): Promise<void> {
  const { path, run } = driven(app, scenario);
  const { id, status, error } = await run();
  const [issue] = (await everything(app.call, '/issues')).filter(({ title }) => title === scenario.name);
  const bodies = (await everything(app.call, `/issues/${issue.id}/comments`)).map(({ body }) => body);
  const { json } = await app.call('GET', `/api/v1${path}/kv/handled`);
  const [expected, handled] = scenario.end;
  expect([status, bodies.length, json.value ?? 0]).toEqual([expected, handled, handled]);
  expect([status, error === null]).toEqual([status, expected === 'succeeded']);
  const events = (await everything(app.call, '/events')).filter(({ data }) => data.runId === id);
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => type === 'automation.run').length).toBeLessThanOrEqual(1);
  expect(types.filter((type) => type === 'automation.failed').length).toBeLessThanOrEqual(1);
}

interface State {
  readonly scenario: number;
  readonly label: string;
  readonly dir: string;
  readonly nowMs: number;
}

/** Names of the statements of a batch that write a status, with the status if it is a parameter. */
function transitionsIn(ops: readonly Op[]): string {
  const names = ops.flatMap(({ statement: { name, sql }, params }) => {
    if (!/INSERT INTO runs |UPDATE runs SET .*\bstatus = /s.test(sql)) return [];
    if (name === 'runs.decide') return [`${name} ${params.error === null ? 'approved' : 'rejected'}`];
    return ['status' in params ? `${name} ${String(params.status)}` : name];
  });
  return names.toSorted().join(', ');
}

/** Each transition occurs in these batches; `runs.insert_all` is a run of an event that has to wait. */
const transitions = [
  'runs.decide approved',
  'runs.decide rejected',
  'runs.give_up canceled',
  'runs.insert dead',
  'runs.insert queued',
  'runs.insert_all, runs.record retrying',
  'runs.insert_all, runs.wait',
  'runs.insert_ended dead',
  'runs.insert_ended proposed',
  'runs.insert_ended succeeded',
  'runs.record succeeded',
  'runs.requeue',
  'runs.wake',
];

test('a run that is killed at a transition comes to the same end', async () => {
  const states: State[] = [];
  const seen = new Set<string>();
  const dir = join(root, 'live');
  mkdirSync(dir);
  const app = await startApp({ dataDir: dir, clock: createClock() });
  await installAll(app);
  await app.settled();
  const { store } = app.services;
  const { commit } = store;
  let at = 0;
  const keep = (label: string): void =>
    void states.push({
      ...{ scenario: at, label, nowMs: app.clock.now() },
      dir: copyAsKilled(dir, join(root, String(states.length))),
    });
  store.commit = async (ops, settings) => {
    const label = transitionsIn(ops);
    const isNew = label !== '' && (isLong || !seen.has(label));
    seen.add(label);
    if (isNew) keep(`before ${label}`);
    const outcome = await commit(ops, settings);
    if (isNew) keep(`after ${label}`);
    return outcome;
  };
  for (const scenario of scenarios) {
    await start(app, scenario);
    await scenario.drive(driven(app, scenario));
    await checkEnd(app, scenario);
    at++;
  }
  store.commit = commit;
  const { workspace } = app;
  await app.stop();
  seen.delete('');
  expect([...seen].toSorted()).toEqual(transitions);

  for (const { scenario: last, label, dir, nowMs } of states) {
    const again = await startApp({ dataDir: dir, clock: createClock(nowMs) }, workspace);
    const scenario = scenarios[last]!;
    try {
      await start(again, scenario);
      await scenario.drive(driven(again, scenario));
      await checkEnd(again, scenario);
    } catch (cause) {
      throw new Error(`A run that ${scenario.name} and is killed ${label} did not end right.`, { cause });
    } finally {
      await again.stop();
    }
    rmSync(dir, { recursive: true });
  }
}, 300_000);
