// Compares the server with the model.
import { expect } from 'bun:test';
import type { Json } from '../app.ts';
import type { Simulation } from './simulation.ts';
import { isoOf } from './hours.ts';
import { plugin, type Issue } from './model.ts';

export async function agreeOn(simulation: Simulation): Promise<void> {
  simulation.model.cycles.look(simulation.model.issues);
  for (const issue of simulation.model.issues.values()) await agreeOnIssue(simulation, issue);
  await agreeOnAudit(simulation);
  await agreeOnCycles(simulation);
  await agreeOnProjects(simulation);
  await agreeOnInboxes(simulation);
}

const actorOf = ({ actor }: Json): string => actor.memberId ?? (actor.kind === 'plugin' ? plugin : 'system');
/** The event types that the model knows. */
const ofIssues = ['issue.created', 'issue.updated', 'issue.state_changed', 'issue.assigned', 'issue.labeled', 'issue.moved', 'issue.deleted', 'issue.restored', 'issue.triage_accepted', 'issue.triage_declined']; // prettier-ignore

async function agreeOnIssue(simulation: Simulation, issue: Issue): Promise<void> {
  const { ok, all, model } = simulation;
  const history = await all(`/issues/${issue.id}/history`);
  const versions: { by: string; types: string[] }[] = [];
  for (const event of history.filter(({ type }) => ofIssues.includes(type))) {
    const at = event.data.version - 1;
    (versions[at] ??= { by: actorOf(event), types: [] }).types.push(event.type);
  }
  const emitted: object[] = versions.map(({ by, types }) => ({ by, types: types.toSorted() }));
  expect({ id: issue.id, told: emitted }).toEqual({ id: issue.id, told: [...issue.history] });
  // The last event in the history, also of a deleted issue.
  const last = history.findLast(({ type }) => ofIssues.includes(type)).data;
  const lastly: object = { ...modelFields(last), isDeleted: last.deletedAt !== null };
  expect(lastly).toEqual(writtenIn(issue));
  expect(history.filter(({ type }) => type === 'comment.added')).toHaveLength(issue.comments);
  const breaks = history.filter(({ type }) => ['sla.at_risk', 'sla.breached', 'sla.met'].includes(type));
  const inModel = issue.clocks.flatMap((clock) =>
    clock.emitted.map((what) => `sla.${what} ${clock.policy.name}`),
  );
  const said = breaks.map(({ type, data }) => `${type} ${data.policy.name}`);
  expect({ id: issue.id, said: said.toSorted() }).toEqual({ id: issue.id, said: inModel.toSorted() });
  if (issue.isDeleted)
    return expect((await simulation.app.call('GET', `/api/v1/issues/${issue.id}`)).status).toBe(404);
  expect(modelFields(await ok('GET', `/issues/${issue.id}`))).toMatchObject(modelFields(last));
  const clocks = (await ok('GET', `/issues/${issue.id}/sla`)).data.map((clock: Json) => ({
    ...{ policy: clock.policy.name, state: clock.state, startedAt: clock.startedAt },
    ...{ dueAt: clock.dueAt, reachedAt: clock.reachedAt, endedAt: clock.endedAt },
  }));
  const sameOrder = (some: Json[]): Json[] =>
    some.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const counted = issue.clocks.map(({ policy, state, startedAt, dueAt, reachedAt, endedAt }) => ({
    ...{ policy: policy.name, state, startedAt: isoOf(startedAt), dueAt: isoOf(dueAt) },
    ...{ reachedAt: isoOf(reachedAt), endedAt: isoOf(endedAt) },
  }));
  expect({ id: issue.id, clocks: sameOrder(clocks) }).toEqual({ id: issue.id, clocks: sameOrder(counted) });
  const relations: Json[] = (await ok('GET', `/issues/${issue.id}/relations?limit=100`)).data;
  const own = relations.filter(({ type }) => type === 'blocks' || type === 'duplicate_of');
  const there = issue.relations.filter(({ id }) => !model.issues.get(id)!.isDeleted);
  expect(own.map(({ type, issue: other }) => `${type} ${other.id}`).toSorted()).toEqual(
    there.map(({ type, id }) => `${type} ${id}`).toSorted(),
  );
}

function writtenIn(issue: Issue): object {
  const { title, state, team, priority, assignee, labels, project, milestone, estimate, cycle, dueDate } =
    issue;
  const { parent, fields, version, isDeleted, creator } = issue;
  return {
    ...{ title, state, team, priority, assignee, project, milestone, estimate, cycle, dueDate, parent },
    ...{ fields, version, isDeleted, creator, labels: labels.toSorted() },
  };
}

/** Converts an issue from the server to the fields of the model. */
function modelFields(response: Json): object {
  const { title, priority, estimate, dueDate, fields, version } = response;
  return {
    ...{ title, priority, estimate, dueDate, fields, version },
    ...{ state: response.state.type, team: response.team.key, creator: response.creator.id },
    ...{ assignee: response.assignee?.id ?? null, parent: response.parent?.id ?? null },
    ...{ project: response.project?.id ?? null, milestone: response.milestone?.id ?? null },
    ...{
      cycle: response.cycle?.number ?? null,
      labels: response.labels.map(({ id }: Json) => id).toSorted(),
    },
  };
}

async function agreeOnAudit({ all, model }: Simulation): Promise<void> {
  const counts: Record<string, number> = {};
  for (const entry of await all('/audit-log')) {
    if (!ofIssues.includes(entry.action) && entry.action !== 'comment.added') continue;
    const key = `${actorOf(entry)} ${entry.action}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  const inModel = [...model.audit].flatMap(([by, types]) =>
    [...types].map(([type, count]) => [`${by} ${type}`, count]),
  );
  expect(counts).toEqual(Object.fromEntries(inModel));
}

async function agreeOnCycles({ app, ok, all, model }: Simulation): Promise<void> {
  const now = app.clock.now();
  const response = await all('/cycles');
  for (const cycle of model.cycles.all) {
    const actual = response.find(({ team, number }) => team === cycle.team && number === cycle.number);
    if (!actual) {
      expect(cycle.startsAt).toBeGreaterThan(now);
      continue;
    }
    const { team, number, startsAt, endsAt } = cycle;
    const status = now < startsAt ? 'upcoming' : now < endsAt ? 'active' : 'completed';
    expect(actual).toMatchObject({ team, number, status, startsAt: isoOf(startsAt), endsAt: isoOf(endsAt) });
    const { days } = await ok('GET', `/cycles/${actual.id}/progress`);
    expect({ team, number, days }).toEqual({ team, number, days: [...cycle.days.values()] });
    const went = (await all(`/cycles/${actual.id}/rollovers`)).map(
      ({ issue, to }) => `${issue.id} ${to?.number}`,
    );
    expect(went.toSorted()).toEqual(cycle.rollovers.map(({ issue, to }) => `${issue} ${to}`).toSorted());
  }
}

async function agreeOnProjects({ ok, projects, model }: Simulation): Promise<void> {
  for (const { id, milestones } of projects) {
    const response = await ok('GET', `/projects/${id}/progress`);
    const ofIt = model.live().filter(({ project }) => project === id);
    expect(response.progress).toEqual(countsOf(ofIt));
    expect(response.milestones.map(({ progress }: Json) => progress)).toEqual(
      milestones.map((milestone) => countsOf(ofIt.filter((issue) => issue.milestone === milestone))),
    );
  }
}

function countsOf(issues: readonly Issue[]): object {
  const of = (...types: string[]): readonly Issue[] => issues.filter(({ state }) => types.includes(state));
  const points = (some: readonly Issue[]): number =>
    some.reduce((sum, { estimate }) => sum + (estimate ?? 0), 0);
  const canceled = of('canceled', 'duplicate');
  return {
    issues: issues.length,
    unstarted: of('triage', 'backlog', 'unstarted').length,
    started: of('started').length,
    completed: of('completed').length,
    canceled: canceled.length,
    estimate: points(issues) - points(canceled),
    estimateCompleted: points(of('completed')),
  };
}

/** Compares the inboxes of the owner and of the member who was there for the whole month. */
async function agreeOnInboxes({ as, model, people }: Simulation): Promise<void> {
  for (const member of people.slice(0, 3)) {
    const items: Json[] = [];
    for (let after = ''; ;) {
      const { json } = await as(member)('GET', `/api/v1/inbox?limit=100${after}`);
      items.push(...json.data);
      if (!json.pageInfo.hasNextPage) break;
      after = `&after=${json.pageInfo.endCursor}`;
    }
    const emitted = items
      .filter(({ reason }) => reason !== 'plugin' && reason !== 'system')
      .map(({ reason, issue, count, readAt }) =>
        [reason, issue?.id ?? '-', count, readAt ? 'read' : 'unread'].join(' '),
      );
    expect({ member, told: emitted.toSorted() }).toEqual({
      member,
      told: model.inboxes.of(member).toSorted(),
    });
    const { json } = await as(member)('GET', '/api/v1/inbox/unread-count');
    expect(json.unread).toBe(model.inboxes.unread(member));
  }
}
