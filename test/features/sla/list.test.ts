import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { askAs, rightsBut } from '../../rights/asking.ts';
import { hourMs, startSla, type SlaApp } from './setting.ts';

let sla: SlaApp;
let policies: Json[];
const issues: Record<string, Json> = {};
beforeAll(async () => {
  sla = await startSla();
  const policyFor = (name: string): object => ({ name, filter: { title: { startsWith: name } } });
  policies = [
    await sla.make('/sla-policies', { ...policyFor('Slow'), targetMinutes: 600, atRiskMinutes: 60 }),
    await sla.make('/sla-policies', {
      ...policyFor('Quick'),
      targetMinutes: 120,
      pausedIn: ['completed', 'backlog'],
    }),
  ];
  await sla.make('/teams', { key: 'OPS' });
  const { member } = (await sla.app.call('GET', '/api/v1/me')).json;
  const states: Json[] = (await sla.app.call('GET', '/api/v1/workflows?team=OPS')).json.data;
  const begun = (team: Json[]): string => team.find(({ type }) => type === 'started').id;
  const ofEng: Json[] = (await sla.app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const stateId = begun(ofEng);
  issues.slow = await sla.file({ title: 'Slow', assigneeId: member.id });
  issues.paused = await sla.file({ title: 'Quick, but not begun' });
  issues.met = await sla.file({ title: 'Slow and done' });
  await sla.move(issues.met!, 'completed');
  await sla.pass(8 * hourMs);
  issues.quick = await sla.file({ title: 'Quick', stateId });
  issues.other = await sla.file({ title: 'Quick elsewhere', team: 'OPS', stateId: begun(states) });
  issues.gone = await sla.file({ title: 'Slow and gone' });
  await sla.app.call('DELETE', `/api/v1/issues/${issues.gone.id}`);
  await sla.pass(hourMs);
});
afterAll(() => sla.app.stop());

const namesOf = (data: Json[]): string[] =>
  data.map(({ issue }) => Object.entries(issues).find(([, { id }]) => id === issue.id)![0]);
const listed = async (query: string): Promise<string[]> => {
  const { json } = await sla.app.call('GET', `/api/v1/sla-clocks${query}`);
  expect([query, json.error]).toEqual([query, undefined]);
  return namesOf(json.data);
};

test('running clocks are listed by due time, with paused clocks last', async () => {
  expect(await listed('')).toEqual(['slow', 'quick', 'other', 'paused']);
});

test('lists are filtered by state, policy, team, assignee and time', async () => {
  const [slow, quick] = policies;
  for (const [query, names] of [
    ['state=running', ['quick', 'other']],
    ['state=at_risk', ['slow']],
    ['state=paused', ['paused']],
    ['state=met', ['met']],
    ['state=canceled', []],
    [`policy=${slow.id}`, ['slow']],
    [`policy=${encodeURIComponent(quick.name)}&team=OPS`, ['other']],
    ['team=ENG', ['slow', 'quick', 'paused']],
    ['assignee=me', ['slow']],
    ['assignee=none&state=running', ['quick', 'other']],
    ['kind=first_response', []],
    ['dueBefore=PT30M', []],
    ['dueBefore=PT2H', ['slow', 'quick', 'other']],
  ] as const)
    expect([query, await listed(`?${query}`)]).toEqual([query, [...names]]);
  const { status, json } = await sla.app.call('GET', '/api/v1/sla-clocks?dueBefore=soon');
  expect([status, json.error.details[0].path]).toEqual([422, 'dueBefore']);
});

test('pages continue without gaps, also among clocks with the same due time', async () => {
  const collected: string[] = [];
  for (let after = ''; ;) {
    const { json } = await sla.app.call('GET', `/api/v1/sla-clocks?limit=1${after}`);
    collected.push(...namesOf(json.data));
    if (!json.pageInfo.hasNextPage) break;
    after = `&after=${json.pageInfo.endCursor}`;
  }
  expect(collected).toEqual(await listed(''));
});

test('a key limited to one team sees the clocks of its issues only', async () => {
  const rights = rightsBut({
    'issues:read': { where: { team: ['OPS'] } },
    'issues:write': { where: { team: ['OPS'] } },
  });
  const { text } = await askAs(sla.app, rights, 'GET', '/api/v1/sla-clocks');
  expect(namesOf(JSON.parse(text).data)).toEqual(['other']);
});

test('the breach filter also finds clocks that were met late', async () => {
  await sla.pass(2 * hourMs);
  await sla.move(issues.slow!, 'completed');
  expect(await listed('?state=breached')).toEqual(['slow', 'quick', 'other']);
  expect(await listed('')).toEqual(['quick', 'other', 'paused']);
});
