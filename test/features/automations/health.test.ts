// The health of a rule names what people overruled, conflicts, failures and loops; a rule that people overrule
// steps down.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createClock, startApp, type Json, type TestApp } from '../../app.ts';
import { createIssue, createRule, enabled, getIssue, onCreate, setHigh, v1 } from './rules.ts';

const clock = createClock();
let app: TestApp;
beforeAll(async () => void (app = await startApp({ clock })));
afterAll(() => app.stop());

const healthOf = async (id: string): Promise<Json> => {
  await app.settled();
  return (await app.call('GET', `${v1}/automations/${id}/health`)).json;
};
const remove = (id: string): Promise<Json> => app.call('DELETE', `${v1}/automations/${id}`);
async function patch(id: string, body: object): Promise<void> {
  await app.call('PATCH', `${v1}/issues/${id}`, body);
  await app.settled();
}

test('a rule that never ran has no runs, and one that ran shows them', async () => {
  const { id } = await enabled(app, {});
  expect(await healthOf(id)).toMatchObject({
    lastRunAt: null,
    lastActedAt: null,
    runs: { total: 0 },
    conflicts: [],
  });
  await createIssue(app);
  expect(await healthOf(id)).toMatchObject({
    basis: 'runs',
    lastActedAt: '2026-11-20T12:00:00.000Z',
    runs: { total: 1, acted: 1, failed: 0, proposed: 0 },
    overruled: { changes: 1, overruled: 0, share: 0 },
  });
  await remove(id);
});

test('a rule whose changes people overrule steps down to proposals, and then to simulation', async () => {
  const stepDown = { share: 0.5, days: 7, least: 2 };
  const { id } = await enabled(app, { stepDown });
  for (const priority of ['low', 'medium']) await patch((await createIssue(app)).id, { priority });
  await createIssue(app);
  expect((await healthOf(id)).overruled).toMatchObject({
    changes: 3,
    overruled: 2,
    share: 0.667,
    examples: [{ field: 'priority', set: 'high', now: 'medium', by: 'First key' }, { now: 'low' }],
  });
  clock.advance(86_400_000 + 60_000);
  await app.settled();
  const get = async (): Promise<Json> => (await app.call('GET', `${v1}/automations/${id}`)).json;
  expect(await get()).toMatchObject({ mode: 'propose', state: 'active' });
  const { data } = (await app.call('GET', `${v1}/inbox?limit=5`)).json;
  expect(data.find(({ kind }: Json) => kind === 'automation_stepped_down').target).toEqual({
    kind: 'automation',
    id,
  });
  for (let at = 0; at < 3; at++) await createIssue(app);
  const open = (await app.call('GET', `${v1}/proposals?install=${id}&status=open`)).json.data;
  for (const one of open) await app.call('POST', `${v1}/proposals/${one.id}/reject`, { reason: 'No.' });
  await app.settled();
  // The reaction to the rejections sets a timer.
  await app.settled();
  expect((await get()).mode).toBe('simulate');
  expect((await createIssue(app)).priority).toBe('none');
  await remove(id);
});

test('an undo of a run overrules one change per issue, however many fields and events the run has', async () => {
  const stepDown = { share: 0.5, days: 7, least: 2 };
  const fields = { priority: 'low', state: 'started', estimate: 3 };
  const { id } = await enabled(app, { stepDown, actions: [{ type: 'set', fields }] });
  await createIssue(app);
  const [run] = (await app.call('GET', `${v1}/plugins/${id}/runs?limit=1`)).json.data;
  await app.call('POST', `${v1}/runs/${run.id}/undo`, {});
  await app.settled();
  await app.settled();
  const { overruled } = await healthOf(id);
  expect(overruled).toMatchObject({ changes: 1, overruled: 1 });
  const named = overruled.examples.map(({ field }: Json) => field);
  expect(named).toEqual([...new Set(named)]);
  expect((await app.call('GET', `${v1}/automations/${id}`)).json.mode).toBe('apply');
  await remove(id);
});

test('two rules that write the same field of an issue are a conflict with an example', async () => {
  const low = { type: 'set', fields: { priority: 'low' } };
  const one = await enabled(app, { name: 'High' });
  const other = await enabled(app, {
    name: 'Low',
    trigger: { type: 'event', event: 'issue.updated', to: { priority: 'high' } },
    actions: [low],
  });
  const issue = await createIssue(app);
  expect(issue.priority).toBe('low');
  expect((await healthOf(one.id)).conflicts).toMatchObject([
    {
      with: { kind: 'automation', id: other.id, name: 'Low' },
      field: 'priority',
      count: 1,
      example: { issue: { id: issue.id }, ours: { value: 'high' }, theirs: { value: 'low' } },
    },
  ]);
  await Promise.all([one.id, other.id].map(remove));
});

test('rules that trigger each other are cut, and the health of each names the chain', async () => {
  const rename = (to: string, from: string) => ({
    name: `To ${to}`,
    trigger: { type: 'event', event: 'issue.updated', to: { title: from } },
    actions: [{ type: 'set', fields: { title: to } }],
  });
  const rules = [await enabled(app, rename('Ping', 'Pong')), await enabled(app, rename('Pong', 'Ping'))];
  const issue = await createIssue(app, { title: 'Start' });
  await patch(issue.id, { title: 'Ping' });
  const loops = (await Promise.all(rules.map(({ id }) => healthOf(id)))).flatMap((health) => health.loops);
  expect(loops[0].message).toContain('To Ping');
  expect(loops[0].message).toContain('To Pong');
  expect((await getIssue(app, issue.id)).version).toBeLessThan(12);
  await Promise.all(rules.map(({ id }) => remove(id)));
});

test('a failing action is reported with its reason', async () => {
  const { id } = await enabled(app, { actions: [{ type: 'set', fields: { state: '{{ "Nowhere" }}' } }] });
  await createIssue(app);
  expect((await healthOf(id)).failures[0]).toMatchObject({
    count: 1,
    message: expect.stringContaining('no such state'),
  });
  await remove(id);
});

test('a paused rule is judged by its backtest: agreement with people, and conflicts', async () => {
  const issues = [];
  for (let at = 0; at < 3; at++) issues.push(await createIssue(app, { title: `Past ${at}` }));
  await patch(issues[0].id, { priority: 'high' });
  await patch(issues[1].id, { priority: 'low' });
  const trigger = { ...onCreate, filter: { title: { startsWith: 'Past' } } };
  const { id, backtest } = await createRule(app, { trigger, actions: [setHigh] });
  await app.settled();
  expect((await app.call('GET', `${v1}/automations/${id}`)).json.backtest).toEqual({
    id: backtest.id,
    status: 'done',
  });
  const { report } = (await app.call('GET', `${v1}/backtests/${backtest.id}`)).json;
  expect(report.fields).toMatchObject([
    { field: 'priority', wouldChange: 3, same: 1, opposite: 1, nothing: 1 },
  ]);
  // People set another priority before the rule existed, which overrules nothing that it did.
  expect(await healthOf(id)).toMatchObject({
    basis: 'backtest',
    overruled: { changes: 0, overruled: 0, share: null, examples: [] },
  });
  await remove(id);
});

test('approved proposals count as changes, and an undo overrules them, comments and new objects included', async () => {
  const greet = { type: 'comment', body: 'Welcome' };
  const { id } = await enabled(app, {
    mode: 'propose',
    actions: [greet],
    stepDown: { share: 0.5, days: 7, least: 2 },
  });
  const approve = async (): Promise<string> => {
    await createIssue(app);
    const { data } = (await app.call('GET', `${v1}/proposals?install=${id}&status=open`)).json;
    await app.call('POST', `${v1}/proposals/${data[0].id}/approve`, {});
    return data[0].id;
  };
  const approved = [await approve(), await approve(), await approve()];
  const counts = async (): Promise<Json> => {
    const { basis, runs, overruled, lastActedAt } = await healthOf(id);
    return [basis, runs.acted, overruled.changes, overruled.overruled, lastActedAt !== null];
  };
  expect(await counts()).toEqual(['runs', 3, 3, 0, true]);
  const undone = await app.call('POST', `${v1}/proposals/${approved[0]}/undo`, {});
  expect(undone.status).toBe(200);
  expect(await counts()).toEqual(['runs', 3, 3, 1, true]);
  const mode = async (): Promise<string> => (await app.call('GET', `${v1}/automations/${id}`)).json.mode;
  expect(await mode()).toBe('propose');
  await app.call('POST', `${v1}/proposals/${approved[1]}/undo`, {});
  await app.settled();
  await app.settled();
  expect(await mode()).toBe('simulate');
  await remove(id);
});

test('a proposal that the server closes, because nothing is left to change, overrules nothing', async () => {
  const { id } = await enabled(app, { mode: 'propose' });
  const issue = await createIssue(app);
  await patch(issue.id, { priority: 'high' });
  const { data } = (await app.call('GET', `${v1}/proposals?install=${id}&status=open`)).json;
  const approved = await app.call('POST', `${v1}/proposals/${data[0].id}/approve`, {});
  const { json } = await app.call('GET', `${v1}/proposals/${data[0].id}`);
  expect([approved.status, json.status, json.decidedBy]).toEqual([409, 'rejected', null]);
  expect((await healthOf(id)).overruled).toMatchObject({ changes: 0, overruled: 0 });
  await remove(id);
});

test('a rule that stepped down to proposals is not judged again by what it applied before', async () => {
  const { id } = await enabled(app, { stepDown: { share: 0.5, days: 7, least: 2 } });
  for (const priority of ['low', 'medium']) await patch((await createIssue(app)).id, { priority });
  const mode = async (): Promise<string> => (await app.call('GET', `${v1}/automations/${id}`)).json.mode;
  for (let day = 0; day < 3; day++) {
    clock.advance(86_400_000 + 60_000);
    await app.settled();
  }
  expect(await mode()).toBe('propose');
  await remove(id);
});

test('a label beside the label of a rule neither conflicts with it nor overrules it, but its removal does', async () => {
  for (const name of ['customer', 'other']) await app.call('POST', `${v1}/labels`, { name });
  const add = (label: string) => ({
    name: label,
    actions: [{ type: 'add', field: 'labels', values: [label] }],
  });
  const { id } = await enabled(app, add('customer'));
  const other = await enabled(app, add('other'));
  const issue = await createIssue(app);
  await patch(issue.id, { addLabels: ['bug'] });
  expect(await healthOf(id)).toMatchObject({ conflicts: [], overruled: { changes: 1, overruled: 0 } });
  await patch(issue.id, { removeLabels: ['customer'] });
  expect((await healthOf(id)).overruled).toMatchObject({ changes: 1, overruled: 1 });
  await Promise.all([id, other.id].map(remove));
});
