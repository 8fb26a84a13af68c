// Request bodies accept names and keys in place of ids, and only the ids are stored and returned.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';

let app: TestApp;
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startApp();
  await create('/teams', { key: 'OPS', name: 'Operations' });
  ids.ana = await create('/members', { name: 'Ana Lind', email: 'ana@acme.example' });
  ids.ben = await create('/members', { name: 'Ben', email: 'ben@acme.example', role: 'admin' });
  for (const email of ['kim1@acme.example', 'kim2@acme.example'])
    await create('/members', { name: 'Kim', email });
  ids.alpha = await create('/projects', { name: 'Alpha' });
  ids.beta = await create(`/projects/${ids.alpha}/milestones`, { name: 'Beta' });
  const span = { startsAt: '2031-01-06T00:00:00Z', endsAt: '2031-01-20T00:00:00Z' };
  ids.cycle = await create('/cycles', { team: 'ENG', name: 'Spring', ...span });
  ids.crash = await create('/labels', { name: 'crash', team: 'Operations' });
  ids.shared = await create('/labels', { name: 'crash' });
  for (const { id, name, team } of await listed('/workflows')) ids[`${team} ${name}`] = id;
  for (const { id, name } of await listed('/labels')) ids[name] ??= id;
});
afterAll(() => app.stop());

async function create(path: string, body: object): Promise<string> {
  const { status, json, text } = await app.call('POST', `/api/v1${path}`, body);
  if (status !== 201) throw new Error(text);
  return json.id;
}
/** Sends a write and checks its own events; notification events follow later. */
async function step(
  method: string,
  path: string,
  body: object,
  expected: { status: number; body?: object; events?: string[] },
): Promise<Json> {
  await app.settled();
  const from = await app.lastSequence();
  const { status, json, text } = await app.call(method, `/api/v1${path}`, body);
  expect([status, text]).toEqual([expected.status, text]);
  expect(json).toMatchObject(expected.body ?? {});
  const events = (await app.eventTypes(from)).filter((type) => !/^inbox\.|\.subscribed$/.test(type));
  expect(events).toEqual(expected.events ?? []);
  return json;
}

const listed = async (path: string): Promise<Json[]> => (await app.call('GET', `/api/v1${path}`)).json.data;
const file = (more: object = {}): Promise<string> =>
  create('/issues', { team: 'ENG', title: 'A crash', ...more });
const errorOf = async (
  path: string,
  body: object,
  by: Client = app.call,
  method = 'PATCH',
): Promise<Json> => {
  const { status, json } = await by(method, `/api/v1${path}`, body);
  expect(status).toBe(422);
  return json.error;
};

test('an issue is updated by names of its state, people, project, milestone, cycle and labels', async () => {
  const id = await file();
  const byName = {
    ...{ state: 'done', assignee: 'ANA@acme.example', project: 'alpha', milestone: 'Beta', cycle: 'Spring' },
    labels: ['Bug'],
  };
  const body = {
    state: { id: ids['ENG Done'] },
    assignee: { id: ids.ana },
    project: { id: ids.alpha },
    milestone: { id: ids.beta },
    cycle: { id: ids.cycle },
    labels: [{ id: ids.bug }],
  };
  const events = ['issue.updated', 'issue.state_changed', 'issue.assigned', 'issue.labeled'];
  const first = await step('PATCH', `/issues/${id}`, byName, { status: 200, body, events });
  // The same values by the names of the ids, by other names, and by ids change nothing.
  for (const same of [
    { stateId: 'Done', assigneeId: 'Ana Lind', projectId: 'Alpha', milestoneId: 'beta', cycleId: '1' },
    { state: 'completed', assignee: ids.ana, project: ids.alpha, milestone: ids.beta, cycle: ids.cycle },
  ])
    await step('PATCH', `/issues/${id}`, same, { status: 200, body: { version: first.version } });
});

test('issues are created, moved, accepted and updated in bulk by names', async () => {
  const parent = await file();
  await create('/templates', { name: 'Crash report', team: 'ENG', assignee: 'Ben', project: 'Alpha' });
  const { identifier } = (await app.call('GET', `/api/v1/issues/${parent}`)).json;
  const id = await create('/issues', {
    ...{
      team: 'operations',
      title: 'Named',
      state: 'Triage',
      assignee: 'ben@acme.example',
      labels: ['CRASH'],
    },
    parent: identifier,
  });
  await step(
    'POST',
    `/issues/${id}/triage/accept`,
    { state: 'Todo' },
    {
      status: 200,
      body: {
        ...{ state: { id: ids['OPS Todo'] }, team: { key: 'OPS' }, parent: { id: parent } },
        labels: [{ id: ids.crash }],
      },
      events: ['issue.updated', 'issue.state_changed', 'issue.triage_accepted'],
    },
  );
  const templated = await file({ template: 'crash REPORT' });
  expect((await app.call('GET', `/api/v1/issues/${templated}`)).json).toMatchObject({
    assignee: { id: ids.ben },
    project: { id: ids.alpha },
  });
  // Each issue gets the state of its own team.
  const { data } = await step(
    'POST',
    '/issues/bulk-update',
    { ids: [id, templated], set: { state: 'In Progress', assignee: 'Ana Lind' } },
    {
      status: 200,
      events: [...Array(2)].flatMap(() => ['issue.updated', 'issue.state_changed', 'issue.assigned']),
    },
  );
  expect(data.map(({ changes }: Json) => changes.state.to.id)).toEqual([
    ids['OPS In Progress'],
    ids['ENG In Progress'],
  ]);
  await step(
    'POST',
    `/issues/${id}/move`,
    { team: 'ENG', state: 'Canceled' },
    {
      status: 200,
      body: { state: { id: ids['ENG Canceled'] } },
      events: ['issue.updated', 'issue.moved', 'issue.state_changed', 'issue.labeled'],
    },
  );
  const bulk = await app.call('POST', '/api/v1/issues/bulk', {
    issues: [{ team: 'ENG', title: 'One', state: 'Todo', project: 'Alpha' }],
  });
  expect(bulk.status).toBe(201);
});

test('other resources accept names in every reference', async () => {
  const fetchJson = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1${path}`)).json;
  const project = await create('/projects', {
    name: 'Led',
    lead: 'ana@acme.example',
    members: ['Ben', 'Ana Lind'],
  });
  expect(await fetchJson(`/projects/${project}`)).toMatchObject({
    lead: { id: ids.ana },
    members: [{ id: ids.ben }, { id: ids.ana }],
  });
  const pipeline = await create('/pipelines', {
    name: 'Web',
    team: 'Operations',
    stages: ['staging', 'live'],
  });
  const release = await create('/releases', { name: 'Spring', tag: '1.0', pipelineId: 'web' });
  expect(await fetchJson(`/releases/${release}`)).toMatchObject({
    pipeline: { id: pipeline },
    stage: 'staging',
  });
  const hours = { monday: [{ from: '09:00', to: '17:00' }] };
  const calendar = await create('/calendars', { name: 'Office', timeZone: 'UTC', hours });
  const waiting = await create('/workflows', { name: 'Waiting', type: 'started', team: 'Operations' });
  const pausedIn = ['triage', 'Waiting'];
  const policy = await create('/sla-policies', {
    name: 'Fast',
    targetMinutes: 60,
    calendar: 'office',
    pausedIn,
  });
  expect(await fetchJson(`/sla-policies/${policy}`)).toMatchObject({
    calendar: { id: calendar },
    pausedIn: ['triage', waiting],
  });
  const guest = await create('/members', { name: 'Gus', role: 'guest', teams: ['Operations'] });
  expect(await fetchJson(`/members/${guest}`)).toMatchObject({ teams: ['OPS'] });
  const keyInput = { name: 'k', memberId: 'ben@acme.example', scopes: ['issues:read'] };
  const key = await app.call('POST', '/api/v1/api-keys', keyInput);
  expect(key.json.member.id).toBe(ids.ben);
  await step(
    'PATCH',
    '/teams/OPS',
    { transitions: { Todo: ['in progress', ids['OPS Done']] } },
    {
      status: 200,
      body: { transitions: { [ids['OPS Todo']!]: [ids['OPS In Progress'], ids['OPS Done']] } },
      events: ['team.updated'],
    },
  );
  await app.call('PATCH', '/api/v1/teams/OPS', { transitions: null });
  await create('/fields', { key: 'tester', name: 'Tester', type: 'member' });
  const issue = await file({ fields: { tester: 'ana@acme.example' } });
  expect((await fetchJson(`/issues/${issue}`)).fields).toEqual({ tester: ids.ana });
});

test('board columns and moves accept names of labels, people and options', async () => {
  const columnsOf = async (groupBy: string, values: readonly (string | null)[], more = {}): Promise<Json> => {
    const columns = values.map((value) => ({ value }));
    const id = await create('/boards', { name: groupBy, groupBy, columns, ...more });
    return (await app.call('GET', `/api/v1/boards/${id}`)).json;
  };
  const values = ({ columns }: Json): string[] => columns.map(({ value }: Json) => value);
  const byLabel = await columnsOf('label', ['Bug', 'feature', null]);
  expect(values(byLabel)).toEqual([ids.bug!, ids.feature!, null as never]);
  expect(values(await columnsOf('label', ['crash'], { team: 'OPS' }))).toEqual([ids.crash!]);
  expect(values(await columnsOf('assignee', ['ana@acme.example', 'Ben']))).toEqual([ids.ana!, ids.ben!]);
  const options = [
    { value: 'mac', name: 'Apple computer' },
    { value: 'win', name: 'Windows' },
  ];
  await create('/fields', { key: 'platform', name: 'Platform', type: 'select', options });
  expect(values(await columnsOf('fields.platform', ['apple computer', 'win']))).toEqual(['mac', 'win']);
  await step(
    'PATCH',
    `/boards/${byLabel.id}`,
    { columns: [{ value: 'QUESTION' }, { value: ids.bug }] },
    {
      status: 200,
      body: { columns: [{ value: ids.question }, { value: ids.bug }] },
      events: ['board.updated'],
    },
  );
  const issueId = await file();
  await step(
    'POST',
    `/boards/${byLabel.id}/move`,
    { issueId, column: 'question' },
    {
      status: 200,
      body: { labels: [{ id: ids.question }] },
      events: ['issue.updated', 'issue.labeled', 'board.card_moved'],
    },
  );
  const error = await errorOf(
    '/boards',
    { name: 'x', groupBy: 'label', columns: [{ value: 'bgu' }] },
    app.call,
    'POST',
  );
  expect(error.details).toMatchObject([{ path: 'columns.0.value', issue: 'not_found' }]);
  expect(error.message).toContain('Did you mean bug');
  const state = await errorOf('/boards', { name: 'x', columns: [{ value: 'Dnoe' }] }, app.call, 'POST');
  expect(state.message).toContain('Did you mean Done?');
});

test('an unknown name is refused at its path, with the most similar names', async () => {
  const id = await file();
  const refused: [body: object, path: string, words: string][] = [
    [{ state: 'Dnoe' }, 'state', 'Did you mean Done?'],
    [{ stateId: 'Dnoe' }, 'stateId', 'Did you mean Done?'],
    [{ assignee: 'ana@acme.exmple' }, 'assignee', 'Did you mean ana@acme.example'],
    [{ project: 'Alpah' }, 'project', 'Did you mean Alpha?'],
    [{ cycle: 'Sprnig' }, 'cycle', 'Did you mean Spring?'],
    [{ milestone: 'Beta' }, 'milestone', 'The issue has no project.'],
    [{ labels: ['bug', 'featrue'] }, 'labels.1', 'Did you mean feature?'],
    [{ parent: 'ENG-99999' }, 'parent', 'There is no issue ENG-99999.'],
    // A text in the format of an id is always an id.
    [{ project: 'prj_01m7wd7tg0000sampe00000001' }, 'project', 'There is no project prj_'],
    [{ state: ids['OPS Done'] }, 'state', 'not a state of this team'],
  ];
  for (const [body, path, words] of refused) {
    const error = await errorOf(`/issues/${id}`, body);
    expect([error.details[0].path, error.message]).toEqual([path, expect.stringContaining(words)]);
    expect(error.message).toStartWith(`${path}: `);
  }
  const bulk = await errorOf('/issues/bulk-update', { ids: [id], set: { state: 'Dnoe' } }, app.call, 'POST');
  expect(bulk.details[0].path).toBe('set.state');
  const both = await errorOf(`/issues/${id}`, { state: 'Done', stateId: ids['ENG Todo'] });
  expect(both.details).toMatchObject([{ path: 'state', issue: 'conflict' }]);
});

test('an ambiguous name is refused with the ids of all matches', async () => {
  const error = await errorOf(`/issues/${await file()}`, { assignee: 'Kim' });
  const kims = (await listed('/members')).filter(({ name }) => name === 'Kim');
  expect(error.details).toMatchObject([{ path: 'assignee', issue: 'conflict' }]);
  for (const { id } of kims) expect(error.message).toContain(id);
});

test('a guest sees no email address, no hidden team and no name within a hidden team', async () => {
  await create('/teams', { key: 'HID', name: 'Hidden pines' });
  await create('/labels', { name: 'pinecone', team: 'HID' });
  await create('/templates', { name: 'Pine needle', team: 'HID' });
  const id = await file();
  const guestId = await create('/members', { name: 'Gast', role: 'guest', teams: ['ENG'] });
  const scopes = ['issues:write', 'members:read', 'teams:read', 'labels:read', 'workflows:read'];
  const minted = await app.call('POST', '/api/v1/api-keys', { name: 'g', memberId: guestId, scopes });
  const guest = app.clientOf(minted.json.key);
  const withSomeName = (text: string): string =>
    text.replaceAll(/\S*(nobody|nowhere|ana@acme|pines?|pinecone|HID)\S*/gi, '…');
  const messageOf = async (method: string, path: string, body: object): Promise<string> =>
    withSomeName((await errorOf(path, body, guest, method)).message);
  // A hidden object is answered like a missing one.
  for (const [method, path, there, nowhere] of [
    ['PATCH', `/issues/${id}`, { assignee: 'ana@acme.example' }, { assignee: 'nobody@acme.example' }],
    ['PATCH', `/issues/${id}`, { labels: ['pinecone'] }, { labels: ['nowhere'] }],
    ['POST', '/issues', { team: 'HID', title: 'x' }, { team: 'nowhere', title: 'x' }],
    ['POST', `/issues/${id}/move`, { team: 'HID' }, { team: 'nowhere' }],
  ] as const)
    expect(await messageOf(method, path, there)).toBe(await messageOf(method, path, nowhere));
  for (const team of ['HIDE', 'Hidden pine']) {
    const { message } = await errorOf('/issues', { team, title: 'x' }, guest, 'POST');
    expect(message).not.toMatch(/HID\b|Hidden pines/);
  }
  const { message } = await errorOf(
    '/issues',
    { team: 'ENG', title: 'x', template: 'Pine needles' },
    guest,
    'POST',
  );
  expect(message).not.toMatch(/Pine needle\b/);
  // Guests see names of people, but not their addresses.
  expect((await errorOf(`/issues/${id}`, { assignee: 'Ana Linf' }, guest)).message).toContain(
    'Did you mean Ana Lind?',
  );
  expect((await guest('PATCH', `/api/v1/issues/${id}`, { assignee: 'Ana Lind' })).json.assignee.id).toBe(
    ids.ana,
  );
});

test('a key without the scope to read a named object is asked for its id', async () => {
  const key = app.clientOf(await app.mintKey(['issues:write']));
  const id = await file();
  for (const [body, scope] of [
    [{ project: 'Alpha' }, 'projects:read'],
    [{ assignee: 'ana@acme.example' }, 'members:read'],
  ] as const) {
    const { message } = await errorOf(`/issues/${id}`, body, key);
    expect(message).toContain(scope);
    expect(message).not.toContain('Did you mean');
  }
  expect((await key('PATCH', `/api/v1/issues/${id}`, { project: ids.alpha, state: 'Done' })).status).toBe(
    200,
  );
});

test('a proposal is applied to the ids that its names had at its creation', async () => {
  const id = await file();
  const project = await create('/projects', { name: 'Gamma' });
  const proposer = app.clientOf(await app.mintKey(['issues:read', 'projects:read', 'proposals:write']));
  const patch = { project: 'Gamma', state: 'Todo', labels: ['feature'] };
  const proposed = await proposer('PATCH', `/api/v1/issues/${id}`, patch, { 'tatami-mode': 'propose' });
  expect(proposed.status).toBe(202);
  const renames: [string, object][] = [
    [`/projects/${project}`, { name: 'Delta' }],
    [`/workflows/${ids['ENG Todo']}`, { name: 'Next' }],
    [`/labels/${ids.feature}`, { name: 'wish' }],
  ];
  for (const [path, body] of renames)
    expect((await app.call('PATCH', `/api/v1${path}`, body)).status).toBe(200);
  const minted = await app.call('POST', '/api/v1/api-keys', {
    ...{ name: 'ben', memberId: ids.ben },
    scopes: ['issues:write', 'approvals:write', 'proposals:read'],
  });
  const approver = app.clientOf(minted.json.key);
  const approve = (revision: number) =>
    approver('POST', `/api/v1/proposals/${proposed.json.id}/approve`, { revision });
  // The displayed names have changed, so that the proposal needs another review.
  expect((await approve(1)).json.error.code).toBe('conflict');
  const approved = await approve(2);
  expect([approved.status, approved.json.status]).toEqual([200, 'approved']);
  expect((await app.call('GET', `/api/v1/issues/${id}`)).json).toMatchObject({
    project: { id: project, name: 'Delta' },
    state: { id: ids['ENG Todo'] },
    labels: [{ id: ids.feature }],
  });
});

test('a repeated request gets its first response after a rename', async () => {
  const id = await file();
  const project = await create('/projects', { name: 'Omega' });
  const send = () =>
    app.call('PATCH', `/api/v1/issues/${id}`, { project: 'Omega' }, { 'idempotency-key': 'omega' });
  const first = await send();
  await app.call('PATCH', `/api/v1/projects/${project}`, { name: 'Psi' });
  const again = await send();
  expect([again.status, again.text]).toEqual([200, first.text]);
});
