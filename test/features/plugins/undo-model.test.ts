// Undo against an independent model: plugins and people write at random, a random run is undone, and a model built from
// the event log predicts each field. A failure shows its seed; TATAMI_LONG=1 tries more, TATAMI_SEED sets the first
// one.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

const seeds = process.env.TATAMI_LONG ? 1_000 : 20;
const firstSeed = Number(process.env.TATAMI_SEED ?? 1);
const steps = 5;

let app: TestApp;
let team: string;

beforeAll(async () => {
  app = await startApp();
  team = (await app.call('GET', '/api/v1/teams')).json.data[0].key;
  // In one run, the plugin performs the writes that a comment lists.
  await install(
    app.call,
    await packSource(`{
      id: 'com.test.obeys', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'comment.added': { handle: async (event, ctx) => {
        for (const patch of JSON.parse(event.data.body)) await ctx.issues.update(event.data.issue.id, patch);
      } } },
    }`),
  );
});
afterAll(() => app.stop());

/** mulberry32. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 0x9e3779b9;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const labels = ['bug', 'feature', 'improvement'];
const values = {
  priority: ['none', 'low', 'high', 'urgent'],
  title: ['One', 'Two', 'Three'],
  estimate: [null, 1, 2, 3],
  dueDate: [null, '2026-12-01', '2026-12-24'],
  description: ['', 'Some words.', 'Other words.'],
};

function randomPatch(random: (below: number) => number): object {
  const patch: Record<string, unknown> = {};
  for (const [field, of] of Object.entries(values)) if (random(3) === 0) patch[field] = of[random(of.length)];
  const index = random(3);
  if (index === 0) patch.addLabels = [labels[random(labels.length)]];
  if (index === 1) patch.removeLabels = [labels[random(labels.length)]];
  return Object.keys(patch).length === 0 ? { title: values.title[random(3)] } : patch;
}

async function step(id: string, random: (below: number) => number): Promise<void> {
  const isPerson = random(2) === 0;
  const { status, text } = isPerson
    ? await app.call('PATCH', `/api/v1/issues/${id}`, randomPatch(random))
    : await app.call('POST', `/api/v1/issues/${id}/comments`, {
        body: JSON.stringify(Array.from({ length: 1 + random(2) }, () => randomPatch(random))),
      });
  if (status >= 300) throw new Error(text);
}

const fields = [...Object.keys(values), 'labels'];
const names = (of: Json): string[] => of.map(({ name }: Json) => name).sort();
const stateOf = (data: Json): Json =>
  Object.fromEntries(fields.map((field) => [field, field === 'labels' ? names(data.labels) : data[field]]));

/** Expected result of undoing a run, from the events of the issue alone. */
function modelOf(events: Json[], runId: string): { state: Json; skipped: string[] } {
  const own = events.filter(({ type }) => type === 'issue.created' || type === 'issue.updated');
  const state = stateOf(own.at(-1).data);
  const written = own.find(({ cause, actor }) => cause.parentRunId === runId && actor.kind === 'plugin');
  const ran = stateOf(written.data);
  const skipped: string[] = [];
  for (const [field, was] of Object.entries(written.data.previous as Json)) {
    if (field === 'labels') {
      const old = names(was);
      const [added, removed] = [
        ran.labels.filter((one: string) => !old.includes(one)),
        old.filter((one) => !ran.labels.includes(one)),
      ];
      state.labels = [
        ...new Set([...state.labels.filter((one: string) => !added.includes(one)), ...removed]),
      ].sort();
    } else if (state[field] === ran[field]) state[field] = was;
    else if (state[field] !== was) skipped.push(field);
  }
  return { state, skipped: skipped.sort() };
}

const historyOf = async (id: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/issues/${id}/history?limit=100`)).json.data;

async function check(seed: number, id: string, random: (below: number) => number): Promise<boolean> {
  const events = await historyOf(id);
  const runs = [
    ...new Set(events.filter(({ actor }) => actor.kind === 'plugin').map(({ cause }) => cause.parentRunId)),
  ];
  if (runs.length === 0) return false;
  const run = runs[random(runs.length)];
  const model = modelOf(events, run);
  const before = stateOf((await app.call('GET', `/api/v1/issues/${id}`)).json);
  const { status, json: undone } = await app.call('POST', `/api/v1/runs/${run}/undo`);
  expect([seed, status]).toEqual([seed, 200]);
  const after = stateOf((await app.call('GET', `/api/v1/issues/${id}`)).json);
  expect({ seed, state: after }).toEqual({ seed, state: model.state });
  expect({ seed, skipped: undone.skipped.map(({ field }: Json) => field).sort() }).toEqual({
    seed,
    skipped: model.skipped,
  });
  if (undone.id === null) return false;
  // The log agrees, and the undo of the undo is exact.
  expect({
    seed,
    told: stateOf((await historyOf(id)).findLast(({ type }) => type === 'issue.updated').data),
  }).toEqual({ seed, told: after });
  expect((await app.call('POST', `/api/v1/undos/${undone.id}/undo`)).status).toBe(200);
  expect({ seed, again: stateOf((await app.call('GET', `/api/v1/issues/${id}`)).json) }).toEqual({
    seed,
    again: before,
  });
  return true;
}

test(
  `the undo of a random run has the result predicted from the log (seeds ${firstSeed} to ${firstSeed + seeds - 1})`,
  async () => {
    for (const name of labels) await app.call('POST', '/api/v1/labels', { name });
    const tried = [];
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      const { json } = await app.call('POST', '/api/v1/issues', { team, title: 'One' });
      tried.push({ seed, id: json.id, random: randomOf(seed) });
    }
    for (let index = 0; index < steps; index++) {
      await Promise.all(tried.map(({ id, random }) => step(id, random)));
      await app.settled();
    }
    let undone = 0;
    for (const { seed, id, random } of tried) {
      if (await check(seed, id, random)) undone++;
    }
    // Most seeds have a run with something to undo.
    expect(undone).toBeGreaterThan(seeds * 0.7);
  },
  process.env.TATAMI_LONG ? 600_000 : 60_000,
);
