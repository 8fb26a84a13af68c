// Each trigger starts a rule, exactly when it says.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { createClock, startApp, type Json, type TestApp } from '../../app.ts';
import { onCreate, createIssue, createRule, enabled, getIssue, setHigh, v1 } from './rules.ts';

const clock = createClock();
let app: TestApp;
beforeAll(async () => void (app = await startApp({ clock })));
afterAll(() => app.stop());

afterEach(async () => {
  const { data } = (await app.call('GET', `${v1}/automations?limit=100`)).json;
  for (const { id } of data) await app.call('DELETE', `${v1}/automations/${id}`);
});

async function patch(id: string, body: object): Promise<Json> {
  const { json } = await app.call('PATCH', `${v1}/issues/${id}`, body);
  await app.settled();
  return json;
}
const comment = { type: 'comment', body: 'Seen' } as const;
const comments = async (id: string): Promise<number> => {
  await app.settled();
  return (await app.call('GET', `${v1}/issues/${id}/comments`)).json.data.length;
};
const updated = { type: 'event', event: 'issue.updated' } as const;

test('a trigger with a filter starts only for matching events', async () => {
  await enabled(app, {
    trigger: { type: 'event', event: 'issue.created', filter: { title: { contains: 'crash' } } },
  });
  expect((await createIssue(app, { title: 'A crash' })).priority).toBe('high');
  expect((await createIssue(app, { title: 'A wish' })).priority).toBe('none');
});

test('`changed` starts for a change of one of the fields only', async () => {
  await enabled(app, { trigger: { ...updated, changed: ['priority', 'estimate'] }, actions: [comment] });
  const { id } = await createIssue(app);
  await patch(id, { title: 'Other' });
  expect(await comments(id)).toBe(0);
  await patch(id, { estimate: 3 });
  expect(await comments(id)).toBe(1);
});

test('`to` starts when an object begins to match, `from` when it ceases to, both for the change between them', async () => {
  const { id } = await createIssue(app);
  const to = await enabled(app, {
    trigger: { ...updated, to: { priority: ['high', 'urgent'] } },
    actions: [comment],
  });
  await patch(id, { priority: 'high' });
  await patch(id, { priority: 'urgent' });
  await patch(id, { title: 'Other' });
  expect(await comments(id)).toBe(1);
  await app.call('DELETE', `${v1}/automations/${to.id}`);

  const from = await enabled(app, {
    trigger: { ...updated, from: { priority: 'urgent' } },
    actions: [comment],
  });
  await patch(id, { title: 'Another' });
  await patch(id, { priority: 'low' });
  expect(await comments(id)).toBe(2);
  await app.call('DELETE', `${v1}/automations/${from.id}`);

  const trigger = { ...updated, from: { priority: 'low' }, to: { priority: 'medium' } };
  await enabled(app, { trigger, actions: [comment] });
  await patch(id, { priority: 'medium' });
  await patch(id, { priority: 'low' });
  await patch(id, { priority: 'high' });
  expect(await comments(id)).toBe(3);
});

test('the actor and the time of an event decide whether a rule starts', async () => {
  await enabled(app, { conditions: { actor: { kinds: ['app'] } } });
  await enabled(app, { conditions: { actor: { ids: [app.workspace.userId], not: true } } });
  // The clock shows Friday, 12:00 UTC.
  await enabled(app, { conditions: { time: { days: ['sat', 'sun'] } } });
  await enabled(app, { conditions: { time: { from: '12:30', until: '11:30' } } });
  expect((await createIssue(app)).priority).toBe('none');
  await enabled(app, {
    conditions: { time: { days: ['fri'], from: '06:30', until: '07:30', timeZone: 'America/New_York' } },
  });
  expect((await createIssue(app)).priority).toBe('high');
});

test('a schedule starts a rule at its times, on the issues that it selects', async () => {
  const { id } = await createIssue(app, { title: 'Weekly' });
  await enabled(app, {
    trigger: { type: 'schedule', cron: '0 9 * * *', timeZone: 'Europe/Berlin' },
    issues: { filter: { title: { contains: 'weekly' } } },
  });
  clock.advance(19 * 3_600_000);
  await app.settled();
  expect((await getIssue(app, id)).priority).toBe('none');
  clock.advance(2 * 3_600_000);
  await app.settled();
  expect((await getIssue(app, id)).priority).toBe('high');
});

test('an issue that is unchanged for the days of a trigger starts it once', async () => {
  const { id } = await createIssue(app, { title: 'Stale' });
  const other = await createIssue(app, { title: 'Fresh' });
  await enabled(app, {
    trigger: { type: 'unchanged', days: 3 },
    conditions: { issue: { title: 'Stale' } },
    actions: [comment],
  });
  clock.advance(2 * 86_400_000);
  await app.settled();
  expect(await comments(id)).toBe(0);
  clock.advance(1.1 * 86_400_000);
  await app.settled();
  expect([await comments(id), await comments(other.id)]).toEqual([1, 0]);
  clock.advance(1 * 86_400_000);
  await app.settled();
  expect(await comments(id)).toBe(1);
  // The comment changed the issue, so that it is due again three days later.
  clock.advance(2.1 * 86_400_000);
  await app.settled();
  expect(await comments(id)).toBe(2);
});

test('a signed request to the address of a rule starts it', async () => {
  const rule = await enabled(app, {
    trigger: { type: 'webhook' },
    actions: [
      { type: 'create', as: 'issue', issues: [{ team: 'ENG', title: 'Build {{ webhook.number }} failed' }] },
    ],
  });
  const { url, secret } = (await app.call('POST', `${v1}/automations/${rule.id}/webhook`)).json;
  const body = JSON.stringify({ number: 7 });
  const seconds = Math.floor(clock.nowMs() / 1000);
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  const send = (signature: string): Promise<Response> =>
    fetch(app.url + new URL(url).pathname, {
      method: 'POST',
      body,
      headers: { 'x-webhook-signature': signature, 'content-type': 'application/json' },
    });
  expect((await send(`t=${seconds},v1=${mac.replace(/^../, '00')}`)).status).toBe(401);
  const answer = await send(`t=${seconds},v1=${mac}`);
  expect([answer.status, await answer.json()]).toMatchObject([200, { acted: [] }]);
  await app.settled();
  const { data } = (await app.call('GET', `${v1}/issues?limit=100`)).json;
  expect(data.filter(({ title }: Json) => title === 'Build 7 failed')).toHaveLength(1);
  await app.call('DELETE', `${v1}/automations/${rule.id}/webhook`);
  expect((await send(`t=${seconds},v1=${mac}`)).status).toBe(404);
});

test('a rule runs by hand on an issue, and a simulation shows its effects without any', async () => {
  const { id } = await createIssue(app);
  const rule = await enabled(app, { trigger: { type: 'manual' }, actions: [setHigh] });
  const simulated = await app.call('POST', `${v1}/automations/${rule.id}/simulate`, { issue: id });
  expect(simulated.json).toMatchObject({
    error: null,
    effects: [
      { kind: 'issue', outcome: 'simulated', values: { priority: { before: 'none', after: 'high' } } },
    ],
  });
  expect((await getIssue(app, id)).priority).toBe('none');
  const run = await app.call('POST', `${v1}/automations/${rule.id}/run`, { issue: id });
  expect(run.json).toMatchObject({ status: 'succeeded', pluginId: rule.id });
  expect((await getIssue(app, id)).priority).toBe('high');
});

test('an effect on the subscription of a member names the member', async () => {
  const { id } = await createIssue(app);
  const { json: ana } = await app.call('POST', `${v1}/members`, { name: 'Ana', role: 'member' });
  const actions = [{ type: 'subscribe', members: [ana.id] }];
  const rule = await createRule(app, { trigger: { type: 'manual' }, actions });
  const simulated = await app.call('POST', `${v1}/automations/${rule.id}/simulate`, { issue: id });
  expect(simulated.json.effects).toMatchObject([{ kind: 'subscriber', action: 'create', name: 'Ana' }]);
});

test('a paused rule can be simulated, and does not run', async () => {
  const { id } = await createIssue(app);
  const rule = await createRule(app, { trigger: { type: 'manual' } });
  const simulated = await app.call('POST', `${v1}/automations/${rule.id}/simulate`, { issue: id });
  expect(simulated.json.effects).toHaveLength(1);
  const run = await app.call('POST', `${v1}/automations/${rule.id}/run`, { issue: id });
  expect([run.status, run.json.error.message]).toEqual([
    409,
    'The automation is paused: The automation has not been enabled yet. Enable it, then retry.',
  ]);
});

test('a run by hand names its caller as the actor of its event', async () => {
  const { id } = await createIssue(app);
  const comment = { type: 'comment', body: 'Asked by {{ event.actor.name }} ({{ event.type }})' };
  const rule = await enabled(app, {
    trigger: { ...onCreate, filter: { title: 'Another' } },
    actions: [comment],
  });
  const simulated = await app.call('POST', `${v1}/automations/${rule.id}/simulate`, { issue: id });
  expect(simulated.json.effects[0].values.body.after).toBe('Asked by First key (manual)');
});
