// `tatami import` of GitHub, Linear and Jira exports: valid data is imported, a second run adds nothing, and errors are
// reported.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { tatami, temporary } from './tatami.ts';

const dir = temporary();
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/api/v1/members', { name: 'Ana Lindqvist', email: 'ana@acme.example' });
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

async function imported(name: string, text: string, ...more: string[]) {
  const file = dir.path(name);
  writeFileSync(file, text);
  const args = ['import', file, '--server', app.url, '--token', app.workspace.apiKey, '--json', ...more];
  return tatami(args);
}

const issuesOf = async (source: string): Promise<Json[]> => {
  const filter = encodeURIComponent(JSON.stringify({ externalSource: source }));
  return (await app.call('GET', `/api/v1/issues?limit=100&sort=number&filter=${filter}`)).json.data;
};

test('GitHub: state, labels, people and times are imported; pull requests are skipped, and records that are no issues are reported', async () => {
  const entry = (number: number, more: object): object => ({
    number,
    title: `Issue ${number}`,
    body: null,
    html_url: `https://github.com/acme/editor/issues/${number}`,
    created_at: '2025-03-01T10:00:00Z',
    ...more,
  });
  const list = [
    entry(1, {
      state: 'open',
      labels: [{ name: 'bug' }, { name: 'area: core' }],
      assignees: [{ login: 'ana lindqvist' }],
    }),
    entry(2, {
      state: 'closed',
      state_reason: 'completed',
      body: 'Line\nline',
      closed_at: '2025-04-01T10:00:00Z',
    }),
    entry(3, {
      state: 'CLOSED',
      stateReason: 'NOT_PLANNED',
      closedAt: '2025-05-01T10:00:00Z',
      assignees: [{ login: 'stranger' }],
    }),
    { ...entry(4, {}), pull_request: {} },
    { title: 'no number' },
  ];
  const first = await imported('github.json', JSON.stringify(list));
  expect([first.code, first.json]).toMatchObject([
    1,
    { created: 3, skipped: 0, failed: 1, teams: 1, labels: 1 },
  ]);
  expect(first.err).toContain('record 5: not an issue');
  // The list is one line of text.
  expect(first.err).toMatch(/\b[1-4] of 4\b/);
  expect(first.err).toContain('no member matches "stranger"');
  const issues = await issuesOf('github');
  expect(issues).toMatchObject([
    {
      title: 'Issue 1',
      team: { key: 'EDITOR', name: 'acme/editor' },
      labels: [{ name: 'area: core' }, { name: 'bug' }],
      assignee: { name: 'Ana Lindqvist' },
      createdAt: '2025-03-01T10:00:00.000Z',
      externalId: 'acme/editor#1',
    },
    {
      title: 'Issue 2',
      description: 'Line\nline',
      state: { type: 'completed' },
      completedAt: '2025-04-01T10:00:00.000Z',
    },
    {
      title: 'Issue 3',
      state: { type: 'canceled' },
      completedAt: null,
      canceledAt: '2025-05-01T10:00:00.000Z',
      assignee: null,
    },
  ]);
  const second = await imported('github.json', JSON.stringify(list));
  expect(second.json).toMatchObject({ created: 0, skipped: 3, failed: 1 });
});

test('Linear: priority, status, estimate, dates and labels are read from the columns of its export', async () => {
  const text = [
    'ID,Team,Title,Description,Status,Estimate,Priority,Project ID,Project,Creator,Assignee,Labels,Created,Due Date,Started,Completed,Canceled',
    'DES-7,Design,Logo,"Two',
    'lines",In Progress,3,Urgent,,,ben@acme.example,ana@acme.example,"Brand, Web",Tue Nov 21 2023 10:00:00 GMT+0000 (GMT),2027-01-05,Wed Nov 22 2023 10:00:00 GMT+0000 (GMT),,',
    'DES-8,Design,Colours,,Canceled,,No priority,,,,,,2024-01-02T03:04:05.000Z,,,,2024-02-02T03:04:05.000Z',
    ',Design,Nameless,,Done,,High,,,,,,2024-01-02T03:04:05.000Z,,,,',
    'DES-9,Design,Odd,,Gestrandet,,High,,,,,,2024-01-02T03:04:05.000Z,,,2024-02-02T03:04:05.000Z,',
  ].join('\n');
  const { json, err } = await imported('linear.csv', text);
  expect(json).toMatchObject({ created: 3, failed: 1, teams: 1, labels: 2 });
  expect(err).toContain('line 5: the ID is missing');
  expect(err).toContain('the state "Gestrandet" is unknown');
  expect(await issuesOf('linear')).toMatchObject([
    {
      team: { key: 'DES', name: 'Design' },
      title: 'Logo',
      description: 'Two\nlines',
      state: { type: 'started' },
      startedAt: '2023-11-22T10:00:00.000Z',
      priority: 'urgent',
      estimate: 3,
      assignee: { name: 'Ana Lindqvist' },
      labels: [{ name: 'Brand' }, { name: 'Web' }],
      dueDate: '2027-01-05',
      createdAt: '2023-11-21T10:00:00.000Z',
    },
    {
      title: 'Colours',
      state: { type: 'canceled' },
      canceledAt: '2024-02-02T03:04:05.000Z',
      priority: 'none',
      estimate: null,
      dueDate: null,
    },
    { title: 'Odd', priority: 'high', completedAt: null },
  ]);
});

test('a contradictory time of a row is omitted and counted, and the issue is imported', async () => {
  const text = [
    'ID,Team,Title,Description,Status,Estimate,Priority,Project ID,Project,Creator,Assignee,Labels,Created,Due Date,Started,Completed,Canceled',
    'ODD-1,Odd,Begun before,,Done,,,,,,,,2024-03-01T00:00:00Z,,2024-02-01T00:00:00Z,2024-04-01T00:00:00Z,',
    'ODD-2,Odd,Ended before,,Canceled,,,,,,,,2024-03-01T00:00:00Z,,,,2024-02-01T00:00:00Z',
    'ODD-3,Odd,Begun behind,,Done,,,,,,,,2024-03-01T00:00:00Z,,2024-05-01T00:00:00Z,2024-04-01T00:00:00Z,',
  ].join('\n');
  const { json, err } = await imported('odd.csv', text);
  expect([json, err]).toMatchObject([{ created: 3, failed: 0 }, expect.any(String)]);
  expect(json.left).toEqual({
    'startedAt before the time of creation': 1,
    'endedAt before the time of creation': 1,
    'startedAt after endedAt': 1,
  });
  const ended = '2024-04-01T00:00:00.000Z';
  expect((await issuesOf('linear')).filter(({ team }) => team.key === 'ODD')).toMatchObject([
    { title: 'Begun before', startedAt: null, completedAt: ended },
    { title: 'Ended before', state: { type: 'canceled' }, canceledAt: null },
    { title: 'Begun behind', startedAt: null, completedAt: ended },
  ]);
});

test('Jira: repeated columns, its time format and its issue types are read', async () => {
  const text = [
    '\uFEFFIssue key,Project key,Summary,Description,Issue Type,Status,Priority,Assignee,Created,Due date,Labels,Labels,Custom field (Story Points),Resolved',
    'OPS-1,OPS,Restart fails,It hangs,Bug,Done,Highest,Ana Lindqvist,21/Nov/23 1:12 PM,24/Dec/26,linux,"kernel",5.0,22/Nov/23 1:12 PM',
    'OPS-2,OPS,Add a button,,Story,To Do,Minor,,2024-02-03 04:05,,,,,',
    'what,OPS,Wrong,,Bug,Done,High,,,,,,,',
  ].join('\r\n');
  const { json, err } = await imported('jira.csv', text);
  expect(json).toMatchObject({ created: 2, failed: 1, teams: 1 });
  expect(err).toContain('line 4: "what" is not an issue key');
  expect(await issuesOf('jira')).toMatchObject([
    {
      title: 'Restart fails',
      team: { key: 'OPS' },
      labels: [{ name: 'bug' }, { name: 'kernel' }, { name: 'linux' }],
      state: { type: 'completed' },
      completedAt: '2023-11-22T13:12:00.000Z',
      priority: 'urgent',
      estimate: 5,
      dueDate: '2026-12-24',
      createdAt: '2023-11-21T13:12:00.000Z',
    },
    {
      title: 'Add a button',
      labels: [{ name: 'feature' }],
      state: { type: 'unstarted' },
      priority: 'low',
      createdAt: '2024-02-03T04:05:00.000Z',
    },
  ]);
});

test('a file of another format, and an unknown format, are rejected before anything is sent', async () => {
  const since = await app.lastSequence();
  for (const [name, text, more, said] of [
    ['broken.json', '[{"number":1,', [], 'is not JSON'],
    ['object.json', '{"issues":[]}', [], 'is not a list of issues'],
    ['one.csv', 'a,b\n1,2', ['--from', 'trello'], 'Use one of csv, github, linear, jira'],
    ['two.csv', 'ID,Title\n1,2', ['--from', 'linear'], 'lacks the column Status, Team'],
  ] as const) {
    const { code, err, json } = await imported(name, text, ...more);
    expect([name, code === 0]).toEqual([name, false]);
    expect(`${err}${JSON.stringify(json)}`).toContain(said);
  }
  expect(await app.eventTypes(since)).toEqual([]);
});

test('people are mapped to members by login, name or address, and a map with errors stops the import before anything is sent', async () => {
  const { json: ben } = await app.call('POST', '/api/v1/members', { name: 'Ben', email: 'ben@acme.example' });
  const entry = (number: number, login: string): object => ({
    ...{ number, title: `Mapped ${number}`, html_url: `https://github.com/acme/mapped/issues/${number}` },
    ...{ user: { login }, assignees: [{ login }] },
  });
  const issues = JSON.stringify([
    entry(1, 'bjones'),
    entry(2, 'Ana Lindqvist'),
    entry(3, 'old@else.example'),
  ]);
  const people = dir.path('people.csv');
  const run = (map: string[]) => {
    writeFileSync(people, map.join('\n'));
    return imported('mapped.json', issues, '--source', 'mapped', '--people', people);
  };
  const since = await app.lastSequence();
  const bad = await run([
    'source,member',
    'bjones,bem@acme.example',
    ',ben@acme.example',
    'x',
    'old,',
    'a,ben@acme.example',
    'A,ana@acme.example',
  ]);
  expect([bad.code === 0, await app.eventTypes(since)]).toEqual([false, []]);
  expect(bad.json.error.message.split('\n')).toEqual([
    'people.csv has errors, and nothing was imported. Correct these lines:',
    'line 2: no member has the e-mail address bem@acme.example; add the member or correct the address. Did you mean ben@acme.example?',
    'line 3: source is empty; use a login, name or e-mail address from the file',
    'line 4: the number of columns differs from the header (2); quote fields that contain commas',
    'line 5: member is empty; use the e-mail address of a member',
    'line 7: A is mapped to another member above; list each source once',
  ]);
  expect(bad.err).toContain('Correct these lines:\nline 2: no member');
  expect((await run(['login,email', 'a,b'])).json.error.message).toContain('lacks the column source, member');

  const good = await run(['source,member', 'BJones,Ben@acme.example', 'old@else.example,ben@acme.example']);
  expect(good.code).toBe(0);
  expect(good.err).not.toContain('no member matches');
  expect((await issuesOf('mapped')).map(({ assignee, creator }) => [assignee?.id, creator.name])).toEqual([
    [ben.id, 'Ben'],
    [expect.any(String), 'Ana Lindqvist'],
    [ben.id, 'Ben'],
  ]);
});
