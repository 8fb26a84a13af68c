// `tatami import`: relations and planning of exported issues are imported once all issues exist; everything omitted is
// reported.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { ended, spawnTatami, tatami, temporary } from './tatami.ts';

const dir = temporary();
let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

async function imported(name: string, text: string, token = app.workspace.apiKey, ...more: string[]) {
  const file = dir.path(name);
  writeFileSync(file, text);
  return tatami(['import', file, '--server', app.url, '--token', token, '--json', ...more]);
}

const get = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1${path}`)).json;

/** Relations of an issue such as `blocks LIN-2`, oldest first. */
const relationsOf = async (identifier: string): Promise<string[]> =>
  (await get(`/issues/${identifier}/relations`)).data.map(
    ({ type, issue }: Json) => `${type} ${issue.identifier}`,
  );

const parentOf = async (identifier: string): Promise<string | null> =>
  (await get(`/issues/${identifier}`)).parent?.identifier ?? null;

const linearRows = [
  'ID,Team,Title,Status,Project ID,Project,Project Milestone,Creator,Cycle Number,Cycle Name,Cycle Start,Cycle End,Parent issue,Related to,Blocked by,Duplicate of,Completed,SLA Status',
  'LIN-7,Linear,Child,Todo,p1,Spring,Beta,ana,4,,Mon Jan 04 2044 00:00:00 GMT+0000 (GMT),2044-01-18T00:00:00.000Z,LIN-3,"LIN-9, LIN-5; LIN-4",LIN-4,,,Breached',
  'LIN-3,Linear,Parent,Done,p1,Spring,,ana,1,Old,2020-01-06T00:00:00.000Z,2020-01-20T00:00:00.000Z,,LIN-99,,,2023-01-01,',
  'LIN-4,Linear,Blocker,Todo,,,,ana,5,Fifth,2044-01-18T00:00:00.000Z,2044-02-01T00:00:00.000Z,LIN-5,,LIN-7,,,',
  'LIN-5,Linear,Circle,Todo,,,,ana,,,,,LIN-4,LIN-7,,,,',
  'LIN-9,Linear,Twice,Todo,,spring,beta,ana,,,,,OTHER-1,,,LIN-5,,',
  'LIN-9,Linear,Twice,Todo,,,,ana,,,,,,,,,,',
  ',Linear,Nameless,Todo,,,,,,,,,,,,,,',
];

test('Linear: identifiers, parents, relations, projects, milestones and cycles are imported; omissions are counted by reason', async () => {
  const since = await app.lastSequence();
  const text = linearRows.join('\n');
  const { code, json, err } = await imported('linear.csv', text);
  expect([code, json]).toEqual([
    1,
    {
      ...{ created: 5, skipped: 1, failed: 1, cut: 0, undated: 5, renumbered: 0 },
      ...{ teams: 1, labels: 0, projects: 1, milestones: 1, cycles: 2 },
      ...{ parents: 2, relations: 5, comments: 0 },
      left: {
        'cycle that has ended': 1,
        'relation without its issue': 1,
        'relation in conflict with another one': 1,
        'parent in conflict with another one': 1,
        'parent without its issue': 1,
        'column Project ID': 2,
        creator: 5,
        'column SLA Status': 1,
      },
    },
  ]);
  for (const message of [
    'line 3: relates to LIN-99 is skipped: that issue is neither in this file nor in an earlier import',
    'line 4: blocked by LIN-7 is skipped: LIN-4 blocks LIN-7 already',
    'line 5: child of LIN-4 is skipped: ',
    'line 6: child of OTHER-1 is skipped',
    'the cycle "Old" of LIN has ended',
  ])
    expect(err).toContain(message);

  expect(await get('/issues/LIN-7')).toMatchObject({
    title: 'Child',
    number: 7,
    externalId: 'LIN-7',
    parent: { identifier: 'LIN-3' },
    project: { name: 'Spring' },
    milestone: { name: 'Beta' },
    cycle: { name: 'Cycle 4' },
  });
  expect(await get('/issues/LIN-3')).toMatchObject({
    project: { name: 'Spring' },
    milestone: null,
    cycle: null,
  });
  expect(await get('/issues/LIN-4')).toMatchObject({
    cycle: { name: 'Fifth' },
    parent: { identifier: 'LIN-5' },
  });
  expect(await get('/issues/LIN-9')).toMatchObject({
    project: { name: 'Spring' },
    milestone: { name: 'Beta' },
    state: { type: 'duplicate' },
  });
  expect(await parentOf('LIN-5')).toBe(null);
  expect((await relationsOf('LIN-7')).toSorted()).toEqual([
    'blocked_by LIN-4',
    'relates_to LIN-4',
    'relates_to LIN-5',
    'relates_to LIN-9',
  ]);
  expect(await relationsOf('LIN-9')).toEqual(['relates_to LIN-7', 'duplicate_of LIN-5']);
  const events = await app.eventTypes(since);
  const count = (type: string): number => events.filter((one) => one === type).length;
  expect(
    ['issue.relation_added', 'project.created', 'milestone.created', 'cycle.created'].map(count),
  ).toEqual([10, 1, 1, 2]);

  // Deleted or renamed objects are neither created again nor linked.
  const { id } = (await get('/issues/LIN-3')).project;
  await app.call('PATCH', `/api/v1/projects/${id}`, { name: 'Summer' });
  for (const gone of ['LIN-7', 'LIN-3']) await app.call('DELETE', `/api/v1/issues/${gone}`);
  const before = await app.lastSequence();
  const second = await imported('linear.csv', text);
  expect(second.json).toMatchObject({
    created: 0,
    skipped: 6,
    projects: 0,
    cycles: 0,
    parents: 0,
    relations: 0,
  });
  expect(await app.eventTypes(before)).toEqual([]);
});

test('Jira: epics and parents by key and by id, links from both sides, sprints, components, versions and comments are imported', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'JIR', name: 'Jira' });
  const sprint = { team: 'JIR', startsAt: '2050-01-03T00:00:00.000Z', endsAt: '2050-01-17T00:00:00.000Z' };
  await app.call('POST', '/api/v1/cycles', { ...sprint, name: 'Sprint 2' });
  const text = [
    '\uFEFFIssue key,Issue id,Project key,Summary,Status,Created,Parent,Parent key,Custom field (Epic Link),Sprint,Sprint,Component/s,Component/s,Fix Version/s,Outward issue link (Blocks),Inward issue link (Blocks),Outward issue link (Duplicate),Outward issue link (Cloners),Comment,Comment,Reporter,Issue Type,Priority,Due date',
    'JIR-11,10011,JIR,Sub-task,To Do,2024-01-01 10:00,10012,,,Sprint 1,Sprint 2,api,"web; core",2.1,JIR-13,,,,"21/Nov/23 1:12 PM;Ana;It ""hangs"";',
    'twice","21/Nov/23 1:12 PM;Ana;Again",Ana,Sub-task,P1,soon',
    'JIR-12,10012,JIR,Story,To Do,2024-01-01 10:00,,,JIR-13,Sprint 1,,,,,,,,JIR-11,,,,,,',
    'JIR-13,10013,JIR,Epic,To Do,2024-01-01 10:00,77777,,,,,,,,,JIR-11,,,no;date,,,,,',
    'JIR-14,10014,JIR,Again,To Do,2024-01-01 10:00,,JIR-13,,,,,,,,,JIR-11,,,,,,,',
  ].join('\r\n');
  const { code, json, err } = await imported('jira.csv', text);
  expect([code, json]).toMatchObject([
    0,
    {
      ...{ created: 4, renumbered: 0, labels: 4, cycles: 0, parents: 3, relations: 3, comments: 3 },
    },
  ]);
  expect(json.left).toEqual({
    ...{ 'unknown cycle': 1, 'parent without its issue': 1, creator: 1 },
    ...{ 'issue type Sub-task': 1, 'priority that cannot be read': 1, 'dueDate that cannot be read': 1 },
  });
  expect(err).toContain('JIR has no cycle "Sprint 1"');
  expect(err).toContain('line 5: child of 77777 is skipped');
  expect(await get('/issues/JIR-11')).toMatchObject({
    parent: { identifier: 'JIR-12' },
    cycle: { name: 'Sprint 2' },
    labels: ['2.1', 'api', 'core', 'web'].map((name) => ({ name })),
  });
  expect([await parentOf('JIR-12'), await parentOf('JIR-14')]).toEqual(['JIR-13', 'JIR-13']);
  expect((await relationsOf('JIR-11')).toSorted()).toEqual([
    'blocks JIR-13',
    'duplicated_by JIR-14',
    'relates_to JIR-12',
  ]);
  const comments = async (): Promise<string[]> =>
    (await get('/issues/JIR-11/comments')).data.map(({ body }: Json) => body);
  const head = '*Ana, 2023-11-21T13:12:00.000Z:*';
  const said = [`${head}\n\nIt "hangs";\r\ntwice`, `${head}\n\nAgain`];
  expect(await comments()).toEqual(said);

  const second = await imported('jira.csv', text);
  expect(second.json).toMatchObject({ created: 0, parents: 0, relations: 0, comments: 0 });
  expect(await comments()).toEqual(said);
});

test('GitHub: milestones, sub-issues from either side, duplicates and comments are imported; further data is counted', async () => {
  const address = (number: number) => `https://github.com/acme/hub/issues/${number}`;
  const entry = (number: number, more: object): object => ({
    ...{ number, title: `Issue ${number}`, html_url: address(number), created_at: '2025-03-01T10:00:00Z' },
    ...more,
  });
  await app.call('POST', '/api/v1/members', { name: 'Ana' });
  const list = [
    entry(10, {
      parent_issue_url: 'https://api.github.com/repos/acme/hub/issues/20',
      reactions: { total_count: 2 },
    }),
    entry(12, {
      parent: { number: 10 },
      assignees: [{ login: 'ana' }, { login: 'ben' }],
      comments: 3,
      user: { login: 'ana' },
    }),
    entry(20, {
      sub_issues: [
        { number: 10, html_url: address(10) },
        { number: 30, html_url: address(30) },
      ],
      milestone: { title: 'v1', due_on: '2031-02-01T08:00:00Z', description: 'The first' },
    }),
    entry(30, {
      ...{
        state: 'CLOSED',
        stateReason: 'DUPLICATE',
        duplicateOf: { number: 12 },
        milestone: { title: 'V1' },
      },
      comments: [
        {
          author: { login: 'octo' },
          createdAt: '2025-03-02T10:00:00Z',
          body: 'Same as #12, @ana and a@b.example\n```\n@ana\n```',
        },
      ],
    }),
    { ...entry(31, {}), pull_request: {} },
    entry(32, { sub_issues: { nodes: [] } }),
  ];
  const { code, json, err } = await imported('github.json', JSON.stringify(list));
  expect(err).toContain('record 6: not an issue: sub_issues does not have the format of GitHub');
  expect([code, json]).toMatchObject([
    1,
    {
      ...{ created: 4, teams: 1, projects: 1, milestones: 1, parents: 3, relations: 1, comments: 1 },
      left: {
        'pull request': 1,
        reactions: 1,
        'further assignees': 1,
        'comments, which only `gh` writes into the file': 1,
      },
    },
  ]);
  expect(await Promise.all(['HUB-10', 'HUB-12', 'HUB-30'].map(parentOf))).toEqual([
    'HUB-20',
    'HUB-10',
    'HUB-20',
  ]);
  expect((await get('/issues/HUB-12')).creator.name).toBe('Ana');
  expect(await relationsOf('HUB-30')).toEqual(['duplicate_of HUB-12']);
  const { project, milestone } = await get('/issues/HUB-20');
  expect([project.name, milestone.name]).toEqual(['acme/hub', 'v1']);
  expect(await get(`/milestones/${milestone.id}`)).toMatchObject({
    ...{ targetDate: '2031-02-01', description: 'The first' },
  });
  expect((await get('/issues/HUB-30')).milestone.id).toBe(milestone.id);
  expect((await get('/issues/HUB-30/comments')).data).toMatchObject([
    {
      body: '*octo, 2025-03-02T10:00:00Z:*\n\nSame as #12, `@ana` and a@b.example\n```\n@ana\n```',
      mentions: [],
    },
  ]);
});

test('a taken number is not reassigned: the issue gets the next one, and is found by its external id', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'NUM', name: 'Numbers' });
  await app.call('POST', '/api/v1/issues', { team: 'NUM', title: 'Ours' });
  const text = [
    'ID;Team;Title;Status',
    'NUM-1;Numbers;"Theirs; one";Todo',
    'NUM-40;Numbers;Late;Todo',
    'NUM-3;Numbers;Early;Todo',
  ];
  const { json } = await imported('numbers.csv', text.join('\n'));
  expect(json).toMatchObject({ created: 3, renumbered: 1 });
  expect((await get('/issues/NUM-1')).title).toBe('Ours');
  expect(await get('/issues/external/linear/NUM-1')).toMatchObject({
    title: 'Theirs; one',
    identifier: 'NUM-41',
  });
  expect([(await get('/issues/NUM-40')).title, (await get('/issues/NUM-3')).title]).toEqual([
    'Late',
    'Early',
  ]);
});

test('references to an earlier import are resolved; objects that the key may not create are omitted, and the issues are imported', async () => {
  const token = await app.mintKey(['issues:write', 'teams:write', 'workflows:read']);
  const text = [
    'ID,Team,Title,Status,Project,Cycle Name,Parent issue',
    'SUB-5,Sub,One,Todo,Autumn,,LIN-5',
    'SUB-6,Sub,Two,Todo,Autumn,Next,SUB-5',
  ].join('\n');
  const { code, json, err } = await imported('narrow.csv', text, token);
  expect([code, json]).toMatchObject([
    0,
    { created: 2, projects: 0, parents: 2, left: { project: 2, 'unknown cycle': 1 } },
  ]);
  expect(err).toContain('projects are skipped: ');
  expect(err.match(/scope import:write/g)).toHaveLength(1);
  expect([await parentOf('SUB-1'), await parentOf('SUB-2')]).toEqual(['LIN-5', 'SUB-1']);
});

test('an import that is killed while it creates relations is completed by the next one', async () => {
  const file = dir.path('killed.csv');
  const row = (n: number): string => `KIL-${n},Kill,Row ${n},Todo,KIL-${n === 1 ? '' : 1},KIL-${n + 1}`;
  const rows = Array.from({ length: 20 }, (_, n) => row(n + 1));
  writeFileSync(file, ['ID,Team,Title,Status,Parent issue,Blocks', ...rows].join('\n'));
  const since = await app.lastSequence();
  let relations = 0;
  using proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const body = method === 'GET' ? null : await request.arrayBuffer();
      const response = await fetch(app.url + pathname + search, { method, headers, body, decompress: false });
      if (!pathname.endsWith('/relations') || ++relations < 5) return response;
      // The server has created the fifth relation, but the command never receives the response.
      child.kill('SIGKILL');
      return new Promise<Response>(() => {});
    },
  });
  const child = spawnTatami(['import', file, '--server', proxy.url.origin, '--token', app.workspace.apiKey]);
  expect((await ended(child)).code).toBe(137);
  const { json } = await tatami([
    'import',
    file,
    '--server',
    app.url,
    '--token',
    app.workspace.apiKey,
    '--json',
  ]);
  // The last issue blocks an issue outside the file; the first one is a child of a nameless parent.
  expect(json).toMatchObject({
    ...{ created: 0, skipped: 20, relations: 14 },
    left: { 'relation without its issue': 1, 'parent without its issue': 1 },
  });
  const events = await app.eventTypes(since);
  expect(events.filter((type) => type === 'issue.relation_added')).toHaveLength(2 * 19);
  expect((await get('/issues?parent=KIL-1&limit=100')).data).toHaveLength(19);
});
