import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';

let app: TestApp;
let states: Readonly<Record<string, string>>;
const v1 = '/api/v1';

beforeAll(async () => {
  app = await startApp();
  const { json } = await app.call('GET', `${v1}/workflows?team=ENG`);
  states = Object.fromEntries(json.data.map(({ type, id }: Json) => [type, id]));
});
afterAll(() => app.stop());

async function create(path: string, body: object): Promise<Json> {
  const { status, json } = await app.call('POST', v1 + path, body);
  expect([path, status, json.error]).toEqual([path, 201, undefined]);
  return json;
}
const patched = (id: string, body: object): Promise<Reply> => app.call('PATCH', `${v1}/issues/${id}`, body);
const got = async (path: string): Promise<Json> => (await app.call('GET', v1 + path)).json;

/** Creates a project with a milestone of the given number of open issues. */
async function setting(issues: number) {
  const project = await create('/projects', { name: 'Editor' });
  const milestone = await create(`/projects/${project.id}/milestones`, { name: 'Beta' });
  const inMilestone = { team: 'ENG', projectId: project.id, milestoneId: milestone.id };
  const ids: string[] = [];
  for (let n = 0; n < issues; n++)
    ids.push((await create('/issues', { ...inMilestone, title: `Step ${n}` })).id);
  await app.settled();
  return { project, milestone, inMilestone, ids };
}

/** Returns the events of a milestone after a sequence number. */
async function eventsOf({ id }: Json, since: number): Promise<Json[]> {
  await app.settled();
  const { data } = await got(`/events?limit=100&after=${since}`);
  return data.filter(({ type, data }: Json) => type.startsWith('milestone.') && data.id === id);
}
const typesOf = (events: readonly Json[]): string[] => events.map(({ type }) => type);

test('milestones have the requested positions, and are last by default', async () => {
  const { project, milestone } = await setting(0);
  const path = `/projects/${project.id}/milestones`;
  await create(path, { name: 'Final' });
  const between = await create(path, { name: 'Candidate', position: 0.5 });
  const names = async () => (await got(path)).data.map(({ name }: Json) => name);
  expect(await names()).toEqual(['Beta', 'Candidate', 'Final']);
  await app.call('PATCH', `${v1}/milestones/${between.id}`, { position: 9 });
  expect(await names()).toEqual(['Beta', 'Final', 'Candidate']);
  expect((await got(`/milestones/${milestone.id}`)).project).toEqual({ id: project.id, name: 'Editor' });
});

test('lists and searches of issues filter by project and by milestone', async () => {
  const { project, milestone, inMilestone, ids } = await setting(1);
  const { milestoneId: _, ...beside } = inMilestone;
  const loose = await create('/issues', { ...beside, title: 'Step aside' });
  await setting(1);
  const idsOf = async (query: string): Promise<string[]> =>
    (await got(`/issues?sort=number&${query}`)).data.map(({ id }: Json) => id);
  expect(await idsOf(`project=${project.id}`)).toEqual([ids[0]!, loose.id]);
  expect(await idsOf(`project=${project.id}&milestone=beta`)).toEqual([ids[0]!]);
  expect(await idsOf(`project=${project.id}&milestone=none`)).toEqual([loose.id]);
  const { data } = await got(`/search?q=step&milestone=${milestone.id}`);
  expect(data.map(({ issue }: Json) => issue.id)).toEqual(ids);
});

test('an issue has only a milestone of its own project, and loses it when the project changes', async () => {
  const { project, milestone, ids } = await setting(1);
  const other = await setting(0);
  const refused = await patched(ids[0]!, { milestoneId: other.milestone.id });
  expect([refused.status, refused.json.error.details[0]]).toMatchObject([
    422,
    { path: 'milestoneId', issue: 'conflict' },
  ]);
  const lonely = await app.call('POST', `${v1}/issues`, {
    team: 'ENG',
    title: 'Alone',
    milestoneId: milestone.id,
  });
  expect([lonely.status, lonely.json.error.details[0].path]).toEqual([422, 'milestoneId']);
  const byFilter = await got(
    `/issues?filter=${JSON.stringify({ milestone: milestone.id })}&fields=id,milestone`,
  );
  expect(byFilter.data).toEqual([{ id: ids[0], milestone: { id: milestone.id, name: 'Beta' } }]);
  const moved = await patched(ids[0]!, { projectId: other.project.id });
  expect(moved.json).toMatchObject({ project: { id: other.project.id }, milestone: null });
  const back = await patched(ids[0]!, { projectId: project.id, milestoneId: milestone.id });
  expect(back.json.milestone).toEqual({ id: milestone.id, name: 'Beta' });
  expect((await patched(ids[0]!, { projectId: null })).json.milestone).toBeNull();
});

test('a milestone completes once with its last issue, and reopens with a reopened issue', async () => {
  const { milestone, ids, inMilestone } = await setting(3);
  const since = await app.lastSequence();
  await patched(ids[0]!, { stateId: states.completed });
  await patched(ids[1]!, { stateId: states.canceled });
  expect(await eventsOf(milestone, since)).toEqual([]);
  await patched(ids[2]!, { stateId: states.completed });
  const [completed, ...more] = await eventsOf(milestone, since);
  expect([completed.type, more]).toEqual(['milestone.completed', []]);
  expect(completed.actor).toEqual({ kind: 'system', id: 'milestone', name: 'Milestone' });
  expect(completed.data).toMatchObject({
    completedAt: new Date(app.clock.now()).toISOString(),
    previous: { completedAt: null },
  });
  // An issue that is already completed does not complete the milestone again.
  await patched(ids[0]!, { title: 'Renamed' });
  await patched(ids[1]!, { stateId: states.duplicate });
  await patched(ids[0]!, { stateId: states.started });
  const late = await create('/issues', { ...inMilestone, title: 'Late' });
  // An issue reopened and completed before the reaction runs changes nothing.
  await app.settled();
  await patched(ids[0]!, { stateId: states.completed });
  await app.call('DELETE', `${v1}/issues/${late.id}`);
  const expected = ['milestone.completed', 'milestone.updated', 'milestone.completed'];
  expect(typesOf(await eventsOf(milestone, since))).toEqual(expected);
  await app.call('POST', `${v1}/issues/${late.id}/restore`);
  await app.settled();
  await patched(late.id, { milestoneId: null });
  expect(typesOf(await eventsOf(milestone, since))).toEqual([...expected, ...expected.slice(1)]);
});

test('two issues completed concurrently complete the milestone once, in every round', async () => {
  const { milestone, ids } = await setting(2);
  const since = await app.lastSequence();
  for (let round = 0; round < 8; round++) {
    const stateId = round % 2 === 0 ? states.completed : states.started;
    const answers = await Promise.all(ids.map((id) => patched(id, { stateId })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await app.settled();
  }
  const expected = Array.from({ length: 8 }, (_, n) =>
    n % 2 === 0 ? 'milestone.completed' : 'milestone.updated',
  );
  expect(typesOf(await eventsOf(milestone, since))).toEqual(expected);
});

test('no event reports a milestone as completed while an issue is reopened', async () => {
  const { milestone, ids } = await setting(2);
  await patched(ids[0]!, { stateId: states.completed });
  const since = await app.lastSequence();
  for (let round = 0; round < 6; round++) {
    await Promise.all([
      patched(ids[1]!, { stateId: states.completed }),
      patched(ids[0]!, { stateId: round % 2 === 0 ? states.started : states.completed }),
    ]);
    await patched(ids[1]!, { stateId: states.started });
  }
  await app.settled();
  // The replayed log has no completion while an issue is open.
  const open = new Map(ids.map((id) => [id, id === ids[1]]));
  const { data } = await got(`/events?limit=100&after=${since}`);
  for (const event of data) {
    if (event.type === 'issue.state_changed') open.set(event.data.id, event.data.state.type === 'started');
    if (event.type === 'milestone.completed')
      expect([event.sequence, [...open.values()]]).toEqual([event.sequence, [false, false]]);
  }
  expect((await got(`/milestones/${milestone.id}`)).completedAt).toBeNull();
});

test('a deleted milestone is removed from its issues, also from those assigned concurrently', async () => {
  const { project, milestone, ids } = await setting(2);
  await app.call('DELETE', `${v1}/issues/${ids[1]}`);
  const late = await create('/issues', { team: 'ENG', title: 'Late', projectId: project.id });
  const since = await app.lastSequence();
  const path = `${v1}/milestones/${milestone.id}`;
  const [deleted, assigned] = await Promise.all([
    app.call('DELETE', path),
    patched(late.id, { milestoneId: milestone.id }),
  ]);
  expect(deleted.status).toBe(204);
  expect(assigned.status).toBeOneOf([200, 422]);
  for (const id of [ids[0]!, late.id]) {
    const issue = await got(`/issues/${id}`);
    expect([issue.milestone, issue.project.id]).toEqual([null, project.id]);
  }
  expect(typesOf(await eventsOf(milestone, since))).toEqual(['milestone.deleted']);
  expect((await app.call('GET', path)).status).toBe(404);
  expect((await app.call('POST', `${v1}/issues/${ids[1]}/restore`)).json.milestone).toBeNull();
  expect((await patched(ids[0]!, { milestoneId: milestone.id })).status).toBe(422);
});

test('in either order, no issue remains in a deleted milestone', async () => {
  const { project, ids } = await setting(1);
  const id = ids[0]!;
  for (let round = 0; round < 8; round++) {
    const milestone = await create(`/projects/${project.id}/milestones`, { name: `Round ${round}` });
    const assigned = patched(id, { milestoneId: milestone.id });
    // The deletion has read the issues of the milestone while the issue is being written.
    const [, deleted] = await Promise.all([assigned, app.call('DELETE', `${v1}/milestones/${milestone.id}`)]);
    expect([deleted.status, (await got(`/issues/${id}`)).milestone]).toEqual([204, null]);
  }
});

test('a milestone with more issues than one batch can change is not deleted', async () => {
  const { milestone, inMilestone } = await setting(0);
  for (let n = 0; n < 6; n++) {
    const issues = Array.from({ length: n < 5 ? 100 : 1 }, (_, at) => ({
      ...inMilestone,
      title: `Many ${n} ${at}`,
    }));
    expect((await app.call('POST', `${v1}/issues/bulk`, { issues })).status).toBe(201);
  }
  const { status, json } = await app.call('DELETE', `${v1}/milestones/${milestone.id}`);
  expect([status, json.error.code]).toEqual([409, 'conflict']);
});

test('progress reports the status of each milestone', async () => {
  const { project, milestone, ids } = await setting(1);
  const path = `/projects/${project.id}/milestones`;
  const late = await create(path, { name: 'Late', targetDate: '2026-11-01' });
  const next = await create(path, { name: 'Next', targetDate: '2027-01-01' });
  const far = await create(path, { name: 'Far' });
  await patched(ids[0]!, { stateId: states.completed, estimate: 2 });
  await app.settled();
  const { milestones } = await got(`/projects/${project.id}/progress`);
  expect(milestones.map(({ id, status }: Json) => [id, status])).toEqual([
    [milestone.id, 'done'],
    [late.id, 'overdue'],
    [next.id, 'next'],
    [far.id, 'unstarted'],
  ]);
  expect(milestones[0].progress).toMatchObject({ issues: 1, completed: 1, estimateCompleted: 2 });
});
