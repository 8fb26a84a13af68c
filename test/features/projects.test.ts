import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';

let app: TestApp;
let ana: Json;
const v1 = '/api/v1';

beforeAll(async () => {
  app = await startApp();
  ana = await create('/members', { name: 'Ana' });
});
afterAll(() => app.stop());

async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', v1 + path, body);
  expect([path, status, json.error]).toEqual([path, 201, undefined]);
  return json;
}
const namesOf = async (query: string): Promise<string[]> =>
  (await app.call('GET', `${v1}/projects${query}`)).json.data.map(({ name }: Json) => name);

test('an archived project leaves the lists, and is restored unchanged', async () => {
  const project = await create('/projects', { name: 'Old' });
  await create('/projects', { name: 'New' });
  const since = await app.lastSequence();
  const path = `${v1}/projects/${project.id}`;
  const archived = await app.call('POST', `${path}/archive`);
  expect([archived.status, archived.json.archivedAt]).toEqual([200, new Date(app.clock.now()).toISOString()]);
  // A repeated request changes nothing.
  expect((await app.call('POST', `${path}/archive`)).json.version).toBe(archived.json.version);
  expect(await namesOf('')).toEqual(['New']);
  expect(await namesOf('?archived=only')).toEqual(['Old']);
  expect(await namesOf('?archived=include')).toEqual(['New', 'Old']);
  expect((await app.call('GET', path)).json).toEqual(archived.json);
  const issue = await create('/issues', {
    team: 'ENG',
    title: 'Of an archived project',
    projectId: project.id,
  });
  expect((await app.call('GET', `${v1}/issues/${issue.id}`)).json.project.name).toBe('Old');
  const back = await app.call('POST', `${path}/unarchive`);
  expect(back.json).toMatchObject({ archivedAt: null, version: 3 });
  expect(await namesOf('')).toEqual(['New', 'Old']);
  expect(await app.eventTypes(since)).toEqual(['project.archived', 'issue.created', 'project.unarchived']);
  // The state during the archive.
  const past = `&asOf=${since + 1}`;
  expect(await namesOf(`?archived=only${past}`)).toEqual(['Old']);
  expect(await namesOf(`?archived=exclude${past}`)).toEqual(['New']);
  const stale = await app.call('POST', `${path}/archive`, undefined, { 'if-match': '"1"' });
  expect([stale.status, stale.json.error.code]).toEqual([412, 'precondition_failed']);
});

test('a deleted project is restored with its milestones and updates', async () => {
  const zoe = await create('/members', { name: 'Zoe' });
  const project = await create('/projects', { name: 'Gone', members: [zoe.id] });
  const path = `${v1}/projects/${project.id}`;
  const milestone = await create(`/projects/${project.id}/milestones`, { name: 'Beta' });
  const update = await create(`/projects/${project.id}/project-updates`, {
    health: 'at_risk',
    body: 'Late.',
  });
  const issue = await create('/issues', { team: 'ENG', title: 'In it', projectId: project.id });
  expect((await app.call('DELETE', `${v1}/members/${zoe.id}`)).status).toBe(204);
  const before = (await app.call('GET', path)).json;
  // The inbox item of an earlier write is written after its response.
  await app.settled();
  const since = await app.lastSequence();
  expect((await app.call('DELETE', path)).status).toBe(204);
  expect(await namesOf('?archived=include')).not.toContain('Gone');
  expect(await namesOf('?deleted=only')).toEqual(['Gone']);
  for (const gone of [
    path,
    `${path}/progress`,
    `${path}/milestones`,
    `${path}/project-updates`,
    `${v1}/milestones/${milestone.id}`,
    `${v1}/project-updates/${update.id}`,
  ])
    expect([gone, (await app.call('GET', gone)).status]).toEqual([gone, 404]);
  for (const [method, to, body] of [
    ['PATCH', path, { name: 'Changed' }],
    ['POST', `${path}/archive`, undefined],
    ['POST', `${path}/project-updates`, { health: 'at_risk', body: 'No.' }],
    ['PATCH', `${v1}/milestones/${milestone.id}`, { name: 'No' }],
    ['DELETE', `${v1}/milestones/${milestone.id}`, undefined],
    ['DELETE', `${v1}/project-updates/${update.id}`, undefined],
  ] as const)
    expect([to, (await app.call(method, to, body)).status]).toEqual([to, 404]);
  // The issues still show the deleted project, and no issue can be added to it.
  const one = `${v1}/issues/${issue.id}`;
  expect((await app.call('GET', one)).json).toMatchObject({
    version: 1,
    project: { id: project.id, name: 'Gone' },
  });
  for (const [body, at] of [
    [{ team: 'ENG', title: 'Too late', projectId: project.id }, 'projectId'],
    [{ team: 'ENG', title: 'Too late', projectId: project.id, milestoneId: milestone.id }, 'projectId'],
  ] as const) {
    const { status, json } = await app.call('POST', `${v1}/issues`, body);
    expect([status, json.error.details[0]]).toEqual([
      422,
      expect.objectContaining({ path: at, issue: 'not_found' }),
    ]);
  }
  const late = await app.call('PATCH', one, { milestoneId: milestone.id });
  expect([late.status, late.json.error.details[0].path]).toEqual([422, 'milestoneId']);
  expect((await app.call('PATCH', one, { priority: 'low' })).status).toBe(200);
  const restored = await app.call('POST', `${path}/restore`);
  expect(restored.json).toMatchObject({
    ...before,
    updatedAt: expect.anything(),
    version: before.version + 2,
  });
  expect((await app.call('GET', `${v1}/milestones/${milestone.id}`)).json).toMatchObject({ name: 'Beta' });
  expect(await app.eventTypes(since)).toEqual(['project.deleted', 'issue.updated', 'project.restored']);
  const past = await app.call('GET', `${path}?asOf=${since + 1}`);
  expect([past.status, (await app.call('GET', `${path}?asOf=${since}`)).json.name]).toEqual([404, 'Gone']);
});

test('members are returned by name, each is validated, and removed members stay', async () => {
  const ben = await create('/members', { name: 'Ben' });
  const project = await create('/projects', {
    name: 'Team work',
    members: [ana.id, ben.id],
    color: '#0e8a16',
  });
  expect(project.members).toEqual([
    { id: ana.id, name: 'Ana' },
    { id: ben.id, name: 'Ben' },
  ]);
  const path = `${v1}/projects/${project.id}`;
  const wrong = await app.call('PATCH', path, { members: [ana.id, `usr_${'0'.repeat(26)}`] });
  expect([wrong.status, wrong.json.error.details[0]]).toMatchObject([
    422,
    { path: 'members.1', issue: 'not_found' },
  ]);
  expect((await app.call('DELETE', `${v1}/members/${ben.id}`)).status).toBe(204);
  const renamed = await app.call('PATCH', path, { name: 'Team', members: [ben.id] });
  expect(renamed.json.members).toEqual([{ id: ben.id, name: 'Ben' }]);
});

test('lists of projects are filtered and sorted by each documented field', async () => {
  const lead = await create('/members', { name: 'Lena' });
  const day = (name: string, targetDate: string, more: object = {}) =>
    create('/projects', { name, targetDate, leadId: lead.id, ...more });
  await day('Sorted C', '2027-03-01', { status: 'started', health: 'off_track' });
  await day('Sorted A', '2027-01-01', { status: 'planned' });
  await day('Sorted B', '2027-02-01', { status: 'started', health: 'at_risk' });
  expect(await namesOf('?lead=Lena&sort=targetDate')).toEqual(['Sorted A', 'Sorted B', 'Sorted C']);
  expect(await namesOf('?lead=Lena&sort=-name')).toEqual(['Sorted C', 'Sorted B', 'Sorted A']);
  expect(await namesOf('?lead=Lena&status=started&sort=health')).toEqual(['Sorted B', 'Sorted C']);
  expect(await namesOf('?lead=Lena&health=off_track')).toEqual(['Sorted C']);
  expect(await namesOf('?lead=Lena&targetDate=2027-02-01')).toEqual(['Sorted B']);
});

test('an update sets the health of its project in the same change set, and only its author edits it', async () => {
  const project = await create('/projects', { name: 'Told of' });
  const since = await app.lastSequence();
  const update = await create(`/projects/${project.id}/project-updates`, {
    health: 'at_risk',
    body: 'The importer takes **longer**.',
  });
  expect(update.project).toEqual({ id: project.id, name: 'Told of' });
  expect((await app.call('GET', `${v1}/projects/${project.id}`)).json.health).toBe('at_risk');
  const path = `${v1}/project-updates/${update.id}`;
  const { json: key } = await app.call('POST', `${v1}/api-keys`, {
    name: 'ana',
    scopes: ['projects:write'],
    memberId: ana.id,
  });
  const asAna = app.clientOf(key.key);
  for (const [method, body] of [['PATCH', { body: 'Hers' }], ['DELETE']] as const)
    expect([method, (await asAna(method, path, body)).status]).toEqual([method, 403]);
  expect((await app.call('PATCH', path, { body: 'A week longer.' })).json.version).toBe(2);
  const second = await asAna('POST', `${v1}/projects/${project.id}/project-updates`, {
    health: 'at_risk',
    body: 'As before.',
  });
  expect(second.json.author).toMatchObject({ kind: 'user', id: ana.id });
  const { json: list } = await app.call('GET', `${v1}/projects/${project.id}/project-updates`);
  expect(list.data.map(({ body }: Json) => body)).toEqual(['As before.', 'A week longer.']);
  expect((await app.call('DELETE', path)).status).toBe(204);
  expect((await app.call('GET', path)).status).toBe(404);
  expect(await app.eventTypes(since)).toEqual([
    'project.update_posted',
    'project.updated',
    'api_key.created',
    'project.update_edited',
    // The health is the same, so the project does not change.
    'project.update_posted',
    'project.update_deleted',
  ]);
});

test('of two concurrent updates, the later one in the log sets the health', async () => {
  const project = await create('/projects', { name: 'Contended' });
  const since = await app.lastSequence();
  const post = (health: string) =>
    app.call('POST', `${v1}/projects/${project.id}/project-updates`, { health, body: health });
  const answers = await Promise.all(['on_track', 'off_track', 'at_risk'].map(post));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  const { json: events } = await app.call('GET', `${v1}/events?limit=100&after=${since}`);
  const posted = events.data.filter(({ type }: Json) => type === 'project.update_posted');
  const { json: now } = await app.call('GET', `${v1}/projects/${project.id}`);
  expect(now.health).toBe(posted.at(-1).data.health);
});

test('progress counts the issues of a project by the type of their states', async () => {
  const project = await create('/projects', { name: 'Counted' });
  const { json: states } = await app.call('GET', `${v1}/workflows?team=ENG`);
  const stateOf = (type: string): string => states.data.find((state: Json) => state.type === type).id;
  const issues = [
    ['backlog', 1],
    ['started', 2],
    ['completed', 3],
    ['completed', null],
    ['canceled', 8],
    ['duplicate', 8],
  ] as const;
  for (const [type, estimate] of issues)
    await create('/issues', {
      team: 'ENG',
      title: type,
      stateId: stateOf(type),
      projectId: project.id,
      estimate,
    });
  const gone = await create('/issues', { team: 'ENG', title: 'gone', projectId: project.id });
  await app.call('DELETE', `${v1}/issues/${gone.id}`);
  const { json } = await app.call('GET', `${v1}/projects/${project.id}/progress`);
  expect(json.progress).toEqual({
    ...{ issues: 6, unstarted: 1, started: 1, completed: 2, canceled: 2 },
    ...{ estimate: 6, estimateCompleted: 3 },
  });
  const empty = await create('/projects', { name: 'Empty' });
  expect((await app.call('GET', `${v1}/projects/${empty.id}/progress`)).json.progress.issues).toBe(0);
  expect((await app.call('GET', `${v1}/projects/prj_${'0'.repeat(26)}/progress`)).status).toBe(404);
});

test('daily progress shows the end of each day, with the issues of that day', async () => {
  const project = await create('/projects', { name: 'Burning' });
  const { json: states } = await app.call('GET', `${v1}/workflows?team=ENG`);
  const stateId = (type: string): string => states.data.find((state: Json) => state.type === type).id;
  const progress = async (since: string): Promise<Json> =>
    (await app.call('GET', `${v1}/projects/${project.id}/progress?since=${since}`)).json;
  const today = (): string => new Date(app.clock.now()).toISOString().slice(0, 10);
  const change = (issue: Json, body: object) => app.call('PATCH', `${v1}/issues/${issue.id}`, body);
  const first = today();
  const dayMs = 86_400_000;
  const days: object[] = [];
  const day = (issues: number[], points: number[]): void => {
    const countsOf = ([scope, started, completed, canceled]: number[]) => ({
      scope,
      started,
      completed,
      canceled,
    });
    days.push({ day: today(), issues: countsOf(issues), points: countsOf(points) });
    app.clock.advance(dayMs);
  };
  const make = (estimate: number | null): Promise<Json> =>
    create('/issues', { team: 'ENG', title: 'Burns', projectId: project.id, estimate });
  const [one, two] = [await make(3), await make(null)];
  day([2, 0, 0, 0], [3, 0, 0, 0]);
  await change(one, { stateId: stateId('started') });
  const three = await make(0.5);
  day([3, 1, 0, 0], [3.5, 3, 0, 0]);
  await change(one, { stateId: stateId('completed') });
  await change(two, { projectId: null });
  day([2, 0, 1, 0], [3.5, 0, 3, 0]);
  await app.call('DELETE', `${v1}/issues/${three.id}`);
  day([1, 0, 1, 0], [3, 0, 3, 0]);
  await change(two, { projectId: project.id, stateId: stateId('canceled') });
  day([2, 0, 1, 1], [3, 0, 3, 0]);
  const response = await progress(first);
  expect(response.days.slice(0, 5)).toEqual(days);
  // A day without changes equals the day before.
  expect(response.days[5]).toEqual({ ...days[4], day: today() });
  expect((await progress(today())).days).toEqual([response.days[5]]);
  expect((await app.call('GET', `${v1}/projects/${project.id}/progress`)).json.days).toBeNull();
  for (const since of ['soon', '2026-02-30', '2040-01-01', '2020-01-01']) {
    const { error } = await progress(since);
    expect([since, error?.code, error?.details[0].path]).toEqual([since, 'validation_failed', 'since']);
  }
});

test.skipIf(!process.env.TATAMI_LONG)(
  'daily progress of a project with more than 10,000 issues is rejected, and its counts are returned',
  async () => {
    const project = await create('/projects', { name: 'Vast' });
    const issues = Array.from({ length: 100 }, (_, at) => ({
      team: 'ENG',
      title: `Many ${at}`,
      projectId: project.id,
    }));
    const path = `${v1}/projects/${project.id}/progress`;
    const today = new Date(app.clock.now()).toISOString().slice(0, 10);
    for (let n = 0; n < 100; n++) await create('/issues/bulk', { issues });
    expect((await app.call('GET', `${path}?since=${today}`)).json.days).toHaveLength(1);
    await create('/issues', issues[0]!);
    const { status, json } = await app.call('GET', `${path}?since=${today}`);
    expect([status, json.error.code]).toEqual([422, 'budget_exceeded']);
    expect((await app.call('GET', path)).json.progress.issues).toBe(10_001);
  },
  60_000,
);
