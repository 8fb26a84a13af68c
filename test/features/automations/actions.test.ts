// Each action takes effect in an enabled rule, within the scopes that the rule needs for it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { createIssue, enabled, getIssue, v1 } from './rules.ts';

let app: TestApp;
let ana: Json;
beforeAll(async () => {
  app = await startApp();
  const post = async (path: string, body: object): Promise<Json> => {
    const { status, json } = await app.call('POST', `${v1}/${path}`, body);
    expect([path, status]).toEqual([path, 201]);
    return json;
  };
  await post('teams', { key: 'OPS', name: 'Operations' });
  await post('labels', { name: 'seen' });
  await post('boards', { name: 'Sprint', team: 'ENG' });
  const { id } = await post('pipelines', { name: 'Main' });
  await post('releases', { name: 'Spring', tag: '1.0.0', pipelineId: id });
  const day = (days: number): string => new Date(app.clock.nowMs() + days * 86_400_000).toISOString();
  await post('cycles', { team: 'ENG', startsAt: day(2), endsAt: day(9) });
  await post('issues', { team: 'ENG', title: 'First' });
  ana = await post('members', { name: 'Ana', email: 'ana@acme.example' });
});
afterAll(() => app.stop());

const actions: readonly (readonly [object, string])[] = [
  [{ type: 'set', fields: { assignee: 'Ana', state: 'Done', labels: ['seen'] } }, 'issue.updated'],
  [{ type: 'set', fields: { assignee: '{{ event.data.title }}' } }, 'issue.assigned'],
  [{ type: 'add', field: 'labels', values: ['seen'] }, 'issue.labeled'],
  [{ type: 'move', team: 'OPS', state: 'Todo' }, 'issue.moved'],
  [{ type: 'comment', body: 'Seen', once: true }, 'comment.added'],
  [{ type: 'create', issues: [{ title: 'Test: {{ issue.title }}' }] }, 'issue.created'],
  [{ type: 'relate', relation: 'relates_to', issue: 'ENG-1' }, 'issue.relation_added'],
  [{ type: 'relate', relation: 'duplicate_of', issue: 'ENG-1' }, 'issue.relation_added'],
  [{ type: 'assign', how: 'round_robin', members: ['Ana'] }, 'issue.assigned'],
  [{ type: 'assign', how: 'least_open', members: ['ana@acme.example'] }, 'issue.assigned'],
  [{ type: 'subscribe', members: ['Ana'] }, 'issue.subscribed'],
  [{ type: 'board', board: 'Sprint', column: 'Done' }, 'board.card_moved'],
  [{ type: 'cycle', cycle: 'next' }, 'issue.updated'],
  [{ type: 'release', release: 'Spring' }, 'release.updated'],
];

test('each action takes effect with the narrowed scopes of its rule, and its events name the rule', async () => {
  for (const [action, event] of actions) {
    const trigger = { type: 'event', event: 'issue.created', filter: { number: { gt: 1 } } };
    const rule = await enabled(app, {
      trigger,
      conditions: { parent: { exists: false } },
      actions: [action],
    });
    const since = await app.lastSequence();
    await createIssue(app, { title: 'Ana' });
    const [run] = (await app.call('GET', `${v1}/plugins/${rule.id}/runs?limit=1`)).json.data;
    expect([action, run?.status, run?.error]).toEqual([action, 'succeeded', null]);
    const { data } = (await app.call('GET', `${v1}/events?after=${since}&limit=100`)).json;
    const own = data.filter(({ actor }: Json) => actor.id === rule.id).map(({ type }: Json) => type);
    expect([action, own]).toEqual([action, expect.arrayContaining([event])]);
    await app.call('DELETE', `${v1}/automations/${rule.id}`);
  }
});

test('objects that an action names must exist', async () => {
  for (const [action, path, word] of [
    [{ type: 'set', fields: { state: 'In Progres' } }, 'actions.0.fields.state', 'In Progress'],
    [{ type: 'set', fields: { labels: ['sen'] } }, 'actions.0.fields.labels', 'seen'],
    [{ type: 'set', fields: { assignee: 'An' } }, 'actions.0.fields.assignee', 'Ana'],
    [{ type: 'add', field: 'labels', values: ['sen'] }, 'actions.0.values', 'seen'],
    [{ type: 'move', team: 'OPPS' }, 'actions.0.team', 'OPS'],
    [{ type: 'create', issues: [{ title: 'A', state: 'Dune' }] }, 'actions.0.issues.0.state', 'Done'],
  ] as const) {
    const trigger = { type: 'event', event: 'issue.created' };
    const { status, json } = await app.call('POST', `${v1}/automations`, {
      ...{ name: 'Wrong', trigger, conditions: { parent: { exists: false } } },
      actions: [action],
    });
    expect([status, json.error?.details]).toEqual([422, [expect.objectContaining({ path })]]);
    expect(json.error.message).toStartWith(`${path}: `);
    expect(json.error.message).toContain(word);
  }
});

test('a rule whose actions need no issue is run by hand without one', async () => {
  const rule = await enabled(app, {
    trigger: { type: 'webhook' },
    actions: [{ type: 'create', as: 'issue', issues: [{ team: 'ENG', title: 'By hand' }] }],
  });
  const { status, json } = await app.call('POST', `${v1}/automations/${rule.id}/run`, {});
  expect([status, json.status]).toEqual([200, 'succeeded']);
  const filter = encodeURIComponent(JSON.stringify({ title: 'By hand' }));
  const found = await app.call('GET', `${v1}/issues?filter=${filter}`);
  expect(found.json.data).toHaveLength(1);
  expect((await getIssue(app, found.json.data[0].id)).creator.id).not.toBe(ana.id);
});
