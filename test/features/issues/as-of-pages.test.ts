import { afterAll, beforeAll, expect, test } from 'bun:test';
import { priorities } from '../../../core/features/issues/contract.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { randomOf, type Random } from '../../random.ts';

const v1 = '/api/v1';
const seed = Number(process.env.TATAMI_SEED ?? 20_261_124);
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const get = async (path: string): Promise<Json> => {
  const { status, json } = await app.call('GET', `${v1}${path}`);
  return { status, json };
};

/** Returns every page of a list, and fails if the pages do not end. */
async function pagesOf(list: string, limit: number, most: number): Promise<string[]> {
  const ids: string[] = [];
  for (let after = '', pages = 0; ; pages++) {
    expect({ seed, list, limit, isEndless: pages > most }).toEqual({ seed, list, limit, isEndless: false });
    const { status, json } = await get(`${list}&limit=${limit}${after}`);
    expect({ seed, list, status }).toEqual({ seed, list, status: 200 });
    ids.push(...json.data.map(({ id }: Json) => id));
    if (!json.pageInfo.hasNextPage) return ids;
    after = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
}

/** Returns every sort of a list. */
async function sortsOf(list: string): Promise<string[]> {
  const { json } = await get(`/${list}?sort=nothing`);
  return /Use (.*)\. The prefix/.exec(json.error.details[0].fix)![1]!.split(', ');
}

/** Creates issues of a new team with varied values, and returns the half of them that is to change. */
async function sortable(random: Random): Promise<string[]> {
  const { of: pick, below } = random;
  const chance = (): boolean => random.once(2);
  const post = async (path: string, body: object): Promise<Json> =>
    (await app.call('POST', `${v1}${path}`, body)).json;
  await post('/teams', { key: 'PGS', name: 'Pages' });
  const types = ['number', 'text', 'date', 'checkbox', 'url'];
  for (const type of types) await post('/fields', { key: `of_${type}`, name: type, type });
  const options = ['x', 'y'].map((value) => ({ value, name: value }));
  await post('/fields', { key: 'of_select', name: 'Select', type: 'select', options });
  const target = { name: 'Urgent', kind: 'resolution', targetMinutes: 60 };
  await post('/sla-policies', { ...target, filter: { priority: ['urgent', 'high'] } });
  const states: Json[] = (await get('/workflows?team=PGS')).json.data;
  const people: Json[] = [];
  for (const name of ['Zoe', 'Ana', 'Ana']) people.push(await post('/members', { name }));
  const maybe = <T>(value: T): T | null => (chance() ? value : null);
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) {
    app.clock.advance(below(2) * 1000);
    const created = await post('/issues', {
      ...{ team: 'PGS', title: `${pick(['Ä', 'z', 'a', '𝒳'])}${below(2)}`, stateId: pick(states).id },
      ...{ priority: priorities[n % priorities.length], assigneeId: maybe(pick(people).id) },
      ...{ estimate: maybe(below(3)), dueDate: maybe(`2027-01-1${below(3)}`) },
      ...(n > 0 && { parentId: maybe(ids[0]) }),
      fields: {
        ...{ of_number: maybe(below(3) - 1), of_text: maybe(pick(['b', 'a'])) },
        ...{ of_date: maybe(`2027-02-1${below(3)}`), of_checkbox: maybe(chance()) },
        ...{ of_url: maybe(`https://example.com/${below(2)}`), of_select: maybe(pick(['x', 'y'])) },
      },
    });
    ids.push(created.id);
  }
  await app.settled();
  return ids.filter((_, n) => n % 2 === 0);
}

test('pages of a past list contain every object once in list order, for every sort', async () => {
  const random = randomOf(seed);
  const changed = await sortable(random);
  for (const status of ['planned', 'started', 'paused', 'started'] as const)
    for (const [path, body] of [
      ['projects', { status }],
      ['boards', { team: 'PGS' }],
    ] as const)
      await app.call('POST', `${v1}/${path}`, { name: `Name ${random.below(3)}`, ...body });
  const issues = (await sortsOf('issues')).flatMap((name) => [name, `-${name}`]);
  const pairs = Array.from({ length: process.env.TATAMI_LONG ? 300 : 30 }, () => [
    random.of(['priority', '-priority', ...issues]),
    random.of(issues),
  ]);
  const sorts = [...issues, ...pairs.map(String), ...pairs.map((pair) => pair.toReversed().join())];
  const lists = sorts.map((sort) => `/issues?team=PGS&sort=${sort}`);
  for (const path of ['projects', 'boards'])
    for (const name of await sortsOf(path)) lists.push(`/${path}?sort=${name}`, `/${path}?sort=-${name}`);
  const { json: view } = await app.call('POST', `${v1}/views`, {
    ...{ name: 'Urgent first', filter: { team: 'PGS' }, sort: '-priority' },
  });
  lists.push(`/views/${view.id}/issues?team=PGS`);
  const whole = new Map<string, string[]>();
  for (const list of lists) whole.set(list, await pagesOf(list, 100, 1));
  expect(whole.get('/issues?team=PGS&sort=-priority')).toHaveLength(10);
  expect(whole.get('/boards?sort=name')).toHaveLength(4);
  const asOf = await app.lastSequence();
  app.clock.advance(60_000);
  for (const id of changed)
    await app.call('PATCH', `${v1}/issues/${id}`, { title: 'Changed', priority: random.of(priorities) });
  await app.settled();
  for (const [list, ids] of whole)
    for (const limit of [1, 2])
      expect({ seed, list, limit, ids: await pagesOf(`${list}&asOf=${asOf}`, limit, ids.length) }).toEqual({
        ...{ seed, list, limit, ids },
      });
}, 60_000);
