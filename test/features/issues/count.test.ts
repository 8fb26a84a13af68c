// Counts of issues, and issues by their titles.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { askAs, rightsBut } from '../../rights/asking.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await post('/teams', { key: 'OPS', name: 'Ops' });
  await post('/labels', { name: 'urgent stuff' });
  const cycle = { team: 'ENG', startsAt: '2026-12-01T00:00:00Z', endsAt: '2026-12-08T00:00:00Z' };
  const { id: cycleId } = await post('/cycles', cycle);
  await post('/issues', { team: 'ENG', title: 'Crash on save', priority: 'high', labels: ['bug'], cycleId });
  await post('/issues', { team: 'ENG', title: 'Crash on load', labels: ['bug', 'urgent stuff'] });
  await post('/issues', { team: 'OPS', title: 'Save the backups', assigneeId: app.workspace.userId });
  const gone = await post('/issues', { team: 'OPS', title: 'Crash that is gone' });
  await app.call('DELETE', `/api/v1/issues/${gone.id}`);
});
afterAll(() => app.stop());

const post = async (path: string, body: object): Promise<Json> =>
  (await app.call('POST', `/api/v1${path}`, body)).json;
const get = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1/issues/${path}`)).json;

async function groups(groupBy: string, query = ''): Promise<[string | null, number][]> {
  const { groups: all } = await get(`count?groupBy=${groupBy}${query}`);
  return all.map(({ name, count }: Json) => [name, count]);
}

test('the total counts the issues of the list with the same filters', async () => {
  expect(await get('count')).toEqual({ count: 3, groups: null });
  expect((await get('count?team=ENG&label=bug')).count).toBe(2);
  const filter = encodeURIComponent('{"title":{"contains":"crash"}}');
  expect((await get(`count?filter=${filter}`)).count).toBe(2);
  expect((await get(`count?filter=${filter}&deleted=include`)).count).toBe(3);
});

test('groups come in their natural order, and the group without a value last', async () => {
  expect(await groups('priority')).toEqual([
    ['high', 1],
    ['none', 2],
  ]);
  expect(await groups('team')).toEqual([
    ['ENG', 2],
    ['Ops', 1],
  ]);
  expect(await groups('assignee')).toEqual([
    ['Acme owner', 1],
    [null, 2],
  ]);
  expect(await groups('cycle')).toEqual([
    ['Cycle 1', 1],
    [null, 2],
  ]);
  expect(await groups('project')).toEqual([[null, 3]]);
  expect(await groups('stateType')).toEqual([['backlog', 3]]);
  expect(await groups('state', '&team=ENG')).toEqual([['Backlog', 2]]);
});

test('an issue with several labels counts in each group, and once in the total', async () => {
  expect((await get('count?groupBy=label')).count).toBe(3);
  expect(await groups('label')).toEqual([
    ['bug', 2],
    ['urgent stuff', 1],
    [null, 1],
  ]);
});

test('the list returns as many issues for the key of a group as were counted', async () => {
  for (const groupBy of ['state', 'priority', 'assignee', 'label', 'team', 'cycle']) {
    const { groups: all } = await get(`count?groupBy=${groupBy}`);
    for (const { key, count } of all) {
      const listed = await app.call('GET', `/api/v1/issues?${groupBy}=${key ?? 'none'}`);
      expect({ groupBy, key, listed: listed.json.data.length }).toEqual({ groupBy, key, listed: count });
    }
  }
});

test('a caller who is limited to a team counts and finds only its issues', async () => {
  const where = { where: { team: ['OPS'] } };
  const rights = rightsBut({ 'issues:read': where, 'issues:write': where });
  const ask = async (path: string): Promise<Json> =>
    JSON.parse((await askAs(app, rights, 'GET', `/api/v1/issues/${path}`)).text);
  expect(await ask('count?groupBy=team')).toMatchObject({
    count: 1,
    groups: [{ name: 'Ops', count: 1 }],
  });
  expect((await ask('titles?q=save')).data).toMatchObject([{ title: 'Save the backups' }]);
  expect((await ask('titles?q=ENG-1')).data).toEqual([]);
});

const titles = async (q: string): Promise<string[]> =>
  (await get(`titles?q=${encodeURIComponent(q)}`)).data.map(({ title }: Json) => title);

test('titles are found by the beginnings of their words, in any order and case', async () => {
  expect(await titles('cra sav')).toEqual(['Crash on save']);
  expect(await titles('SAVE cr')).toEqual(['Crash on save']);
  expect((await titles('crash')).toSorted()).toEqual(['Crash on load', 'Crash on save']);
  expect(await titles('nothing')).toEqual([]);
  expect(await titles('!!')).toEqual([]);
});

test('an issue whose identifier or number is given comes first, and only titles are searched', async () => {
  expect((await titles('eng-2'))[0]).toBe('Crash on load');
  expect((await titles('1')).toSorted()).toEqual(['Crash on save', 'Save the backups']);
  await post('/issues', { team: 'ENG', title: 'Other', description: 'mentions zebras' });
  expect(await titles('zebras')).toEqual([]);
});
