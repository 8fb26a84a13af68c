// Lists of issues whose cost depends on the page size only: an index finds and orders the rows, on the first page and
// on later ones. docs/spec/api.md › Filters documents them; bench `list-filters` measures them.
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { isScan } from '../../core/platform/store/compile.ts';
import { bind } from '../../core/platform/store/statement.ts';
import { startApp, type TestApp } from '../app.ts';

let app: TestApp;
let db: Database.Database;
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startApp();
  db = new Database(join(app.dataDir, 'tatami.db'), { readonly: true });
  ids.project = (await app.call('POST', '/api/v1/projects', { name: 'Flat' })).json.id;
  const span = { startsAt: '2031-03-03T00:00:00Z', endsAt: '2031-03-17T00:00:00Z' };
  ids.cycle = (await app.call('POST', '/api/v1/cycles', { team: 'ENG', ...span })).json.id;
  ids.label = (await app.call('POST', '/api/v1/labels', { name: 'flat', color: '#123456' })).json.id;
  const issue = async (n: number) =>
    (
      await app.call('POST', '/api/v1/issues', {
        team: 'ENG',
        title: `Issue ${n}`,
        priority: 'high',
        labels: ['flat'],
        projectId: ids.project,
        cycleId: ids.cycle,
        ...(ids.parent ? { parentId: ids.parent } : {}),
      })
    ).json.id as string;
  ids.parent = await issue(0);
  for (let n = 1; n < 6; n++) await issue(n);
  for (let n = 6; n < 10; n++) await app.call('DELETE', `/api/v1/issues/${await issue(n)}`);
  ids.creator = (await app.call('GET', '/api/v1/issues?limit=1')).json.data[0].creator.id;
});
afterAll(async () => {
  db.close();
  await app.stop();
});

/** The query plan of the list's only statement, without the plans of computed columns. */
async function planOf(query: string): Promise<{ plan: string; all: string[]; end: string | null }> {
  const { store } = app.services;
  const { read } = store;
  const plans: string[] = [];
  let all: string[] = [];
  store.read = (scope, statement, params = {}) => {
    const values = bind(statement, params, scope.workspaceId);
    const lines = db.prepare(`EXPLAIN QUERY PLAN ${statement.text}`).all(values) as {
      parent: number;
      detail: string;
    }[];
    all = lines.map(({ detail }) => detail);
    plans.push(
      lines
        .filter(({ parent, detail }) => parent === 0 && !detail.startsWith('CORRELATED'))
        .map(({ detail }) => detail)
        .join('\n'),
    );
    return read(scope, statement, params);
  };
  try {
    const { status, json } = await app.call('GET', `/api/v1/issues?limit=2&${query}`);
    expect([query, status, plans.length]).toEqual([query, 200, 1]);
    return { plan: plans[0]!, all, end: json.pageInfo.endCursor };
  } finally {
    store.read = read;
  }
}

const by = (filter: object): string => `filter=${encodeURIComponent(JSON.stringify(filter))}`;
const flat: readonly [string, () => string, string][] = [
  ['newest first', () => '', 'issues_created'],
  ['sort=createdAt', () => 'sort=createdAt', 'issues_created'],
  ['sort=updatedAt', () => 'sort=updatedAt', 'issues_updated'],
  ['sort=-updatedAt', () => 'sort=-updatedAt', 'issues_updated'],
  ['sort=-priority', () => 'sort=-priority', 'issues_priority'],
  ['sort=slaDueAt', () => 'sort=slaDueAt', 'issues_sla_due'],
  ['deleted=only', () => 'deleted=only', 'issues_trash'],
  ['team=', () => 'team=ENG', 'issues_team'],
  ['state= of one team', () => 'state=backlog', 'issues_state'],
  ['assignee=', () => 'assignee=me', 'issues_assignee'],
  ['priority=', () => 'priority=high', 'issues_priority'],
  ['label=, by name', () => 'label=flat', 'issue_labels_label'],
  ['label=, in another case', () => 'label=FLAT', 'issue_labels_label'],
  ['label=, by id', () => `label=${ids.label}`, 'issue_labels_label'],
  ['project', () => by({ project: ids.project }), 'issues_project'],
  ['parent', () => by({ parent: ids.parent }), 'issues_parent'],
  ['creator', () => by({ creator: ids.creator }), 'issues_creator'],
  ['cycle', () => by({ cycle: ids.cycle }), 'issues_cycle'],
  ['cycle, relative', () => 'cycle=next', 'issues_cycle'],
  ['project, by name', () => by({ project: 'FLAT' }), 'issues_project'],
  ['parent, by identifier', () => by({ parent: 'ENG-1' }), 'issues_parent'],
  ['updatedSince, relative', () => 'sort=updatedAt&updatedSince=-P7D', 'issues_updated'],
  ['createdAt', () => by({ createdAt: { gt: '2000-01-01T00:00:00Z' } }), 'issues_created'],
];

for (const [name, query, index] of flat)
  test(`${name}: filtered and ordered by ${index} on every page`, async () => {
    const first = await planOf(query());
    expect(first.plan).toContain(`INDEX ${index} (workspace_id=?`);
    expect(first.plan).not.toContain('TEMP B-TREE');
    if (first.end === null) return;
    const deep = await planOf(`${query()}&after=${encodeURIComponent(first.end)}`);
    expect(deep.plan).toMatch(new RegExp(`INDEX ${index} \\(workspace_id=\\?.*(?:[<>]\\?|>\\(\\?|<\\(\\?)`));
    expect(deep.plan).not.toContain('TEMP B-TREE');
  });

test('the list of a subscriber starts from the issues of that member, in any order', async () => {
  for (const sort of ['-createdAt', 'priority', 'title']) {
    const { plan, all } = await planOf(`subscriber=me&sort=${sort}`);
    expect([sort, plan]).toEqual([sort, expect.stringContaining('PRIMARY KEY (workspace_id=? AND id=?)')]);
    const reads = all.filter((detail) => /^SEARCH [is] USING/.test(detail));
    expect(reads.map((detail) => /INDEX (\w+)/.exec(detail)?.[1])).toEqual([
      'subscribers_member',
      'issues_creator',
      'subscribers_one',
    ]);
  }
});

test('sorts by state and by assignee look up each name by id, and run off the event loop', async () => {
  for (const [sort, table] of [
    ['state', 's'],
    ['-assignee', 'm'],
  ] as const) {
    const { all } = await planOf(`sort=${sort}`);
    expect(all).toContain(`SEARCH ${table} USING PRIMARY KEY (workspace_id=? AND id=?)`);
    expect([sort, isScan(all, [], () => '')]).toEqual([sort, true]);
  }
});

test('a filter by label combines with other filters and sorts, and a more selective filter uses its own index', async () => {
  const listed = async (query: string): Promise<string[]> =>
    (await app.call('GET', `/api/v1/issues?fields=id&${query}`)).json.data.map(
      ({ id }: { id: string }) => id,
    );
  const all = await listed('');
  expect(await listed('label=flat')).toEqual(all);
  expect(await listed('label=flat&sort=createdAt')).toEqual(all.toReversed());
  expect(await listed('label=flat&priority=low')).toEqual([]);
  for (const sort of ['updatedAt', '-updatedAt', '-priority', 'priority,-createdAt'])
    expect(await listed(`label=flat&sort=${sort}`)).toEqual(await listed(`sort=${sort}`));
  expect(await listed(`label=flat&${by({ parent: ids.parent })}`)).toEqual(all.slice(0, -1));
  expect((await planOf(`label=flat&${by({ parent: ids.parent })}`)).plan).toContain('issues_parent');
  await app.call('PATCH', `/api/v1/issues/${all[0]}`, { labels: [] });
  await app.call('DELETE', `/api/v1/issues/${all[1]}`);
  expect(await listed('label=flat')).toEqual(all.slice(2));
  await app.call('DELETE', `/api/v1/labels/${ids.label}`);
  const gone = await app.call('GET', `/api/v1/issues?label=${ids.label}`);
  expect([gone.status, gone.json.error.details[0].issue]).toEqual([422, 'not_found']);
});
