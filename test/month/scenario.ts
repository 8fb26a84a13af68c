// Random acts from a seed, and some planned acts on fixed days.
import { seededRandom } from '../faults/server.ts';
import type { Simulation } from './simulation.ts';
import { hourMs, minuteMs } from './hours.ts';
import type { Act, Issue, StateType, Written } from './model.ts';

export type Chance = ReturnType<typeof chanceOf>;

export function chanceOf(seed: number) {
  const next = seededRandom(seed);
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    of: (probability: number): boolean => next() < probability,
    pick: <T>(from: readonly T[]): T => from[below(from.length)]!,
  };
}

const teams = ['ENG', 'OPS', 'DES'];
const priorities = ['none', 'low', 'medium', 'high', 'urgent'];
const moves: readonly StateType[] = [
  'backlog',
  'unstarted',
  'started',
  'started',
  'completed',
  'completed',
  'canceled',
];

/** Performs one random act that the current state allows. */
async function something(simulation: Simulation, chance: Chance): Promise<void> {
  const { model, people } = simulation;
  const { pick, of } = chance;
  const by = pick(people);
  const live = model.live();
  if (live.length < 12 || of(0.16)) return simulation.perform(creation(simulation, chance, by));
  if (of(0.03)) return simulation.perform({ do: 'readAll', by });
  if (of(0.02)) return simulation.perform({ do: 'post', by, project: pick(simulation.projects).id });
  const gone = [...model.issues.values()].filter(({ isDeleted }) => isDeleted);
  if (gone.length > 0 && of(0.03)) return simulation.perform({ do: 'restore', by, id: pick(gone).id });
  const issue = pick(live);
  const { id } = issue;
  if (of(0.04)) return simulation.perform({ do: 'delete', by, id });
  if (of(0.05)) {
    const team = pick(teams.filter((one) => one !== issue.team));
    return simulation.perform({ do: 'move', by, id, team });
  }
  if (of(0.16)) {
    const others = people.slice(1).filter((one) => one !== by);
    return simulation.perform({ do: 'comment', by, id, mentions: of(0.4) ? [pick(others)] : [] });
  }
  if (of(0.05)) return relate(simulation, chance, by, issue);
  return work(simulation, chance, by, issue);
}

function creation({ model, labels, people }: Simulation, { pick, of, below }: Chance, by: string): Act {
  const team = pick(teams);
  const live = model.live();
  const written: Partial<Written> = {
    title: `${of(0.15) ? 'Crash' : 'Work'} ${below(1000)}`,
    ...(of(0.4) ? { priority: pick(priorities) } : {}),
    ...(of(0.4) ? { assignee: pick(people) } : {}),
    ...(of(0.4) ? { labels: [pick([...labels.values()])] } : {}),
    ...(of(0.5) ? { estimate: 1 + below(8) } : {}),
    ...(of(0.5) ? { cycle: pick(model.cycles.open(team)).number } : {}),
  };
  const parent = live.length > 0 && of(0.2) ? pick(live).id : null;
  return { do: 'create', by, id: '', team, parent, written };
}

/** Later issues are blocked by earlier ones, so that no cycle arises, and duplicates have no duplicates. */
async function relate(simulation: Simulation, { pick, of }: Chance, by: string, issue: Issue): Promise<void> {
  const { model } = simulation;
  const all = [...model.issues.values()];
  const earlier = all.slice(0, all.indexOf(issue)).filter(({ isDeleted }) => !isDeleted);
  const isOf = (one: Issue): boolean => one.relations.some(({ type }) => type === 'duplicate_of');
  const known = issue.relations.map((relation) => relation.id);
  const free = earlier.filter((one) => !known.includes(one.id) && !isOf(one));
  if (free.length === 0) return;
  const other = pick(free).id;
  const isOriginal = all.some(({ relations }) =>
    relations.some((r) => r.type === 'duplicate_of' && r.id === issue.id),
  );
  const canDouble = !isOf(issue) && !isOriginal && of(0.5);
  await simulation.perform({ do: canDouble ? 'duplicate' : 'block', by, id: issue.id, other });
}

async function work(simulation: Simulation, chance: Chance, by: string, issue: Issue): Promise<void> {
  const { pick, of } = chance;
  const { id, state, team } = issue;
  if (state === 'triage' && of(0.5)) {
    const patch = { state: of(0.8) ? 'backlog' : 'canceled' } as const;
    return simulation.perform({ do: 'update', by, id, patch }, 'triage');
  }
  if (team === 'ENG' && of(0.15)) {
    const to = pick(['unstarted', 'started', 'completed'] as const);
    return simulation.perform({ do: 'update', by, id, patch: { state: to } }, 'board');
  }
  return simulation.perform({ do: 'update', by, id, patch: patchOf(simulation, chance, issue) });
}

function patchOf({ model, labels, people, projects }: Simulation, { pick, of, below }: Chance, issue: Issue) {
  const patches: readonly (() => Partial<Written>)[] = [
    () => ({ state: pick(moves) }),
    () => ({ state: pick(moves) }),
    () => ({ priority: pick(priorities) }),
    () => ({ assignee: of(0.2) ? null : pick(people) }),
    () => ({ labels: [...labels.values()].filter(() => of(0.4)) }),
    () => ({ estimate: of(0.2) ? null : 1 + below(8) }),
    () => ({ cycle: of(0.2) ? null : pick(model.cycles.open(issue.team)).number }),
    () => ({ dueDate: `2027-11-${10 + below(20)}` }),
    () => ({ fields: { ...issue.fields, size: pick(['s', 'l']), points: below(9) } }),
    () => {
      const { id, milestones } = pick(projects);
      return { project: id, milestone: of(0.5) ? pick(milestones) : null };
    },
    () => ({ title: `Renamed ${below(1000)}`, priority: pick(priorities) }),
  ];
  return pick(patches)();
}

/** The planned acts, by day. */
export function planOf(simulation: Simulation): Map<number, () => Promise<void>> {
  const { ok, model, labels, people } = simulation;
  const release = async (tag: string): Promise<string> => {
    const [known] = (await ok('GET', '/pipelines')).data;
    const pipeline = known ?? (await ok('POST', '/pipelines', { name: 'Editor', team: 'ENG' }));
    const newRelease = await ok('POST', '/releases', { name: tag, tag, pipelineId: pipeline.id });
    const ids = model
      .live()
      .slice(0, 20)
      .map(({ id }) => id);
    await ok('POST', `/releases/${newRelease.id}/issues`, { issueIds: ids });
    await ok('POST', `/releases/${newRelease.id}/notes/draft`, { save: true });
    await ok('POST', `/releases/${newRelease.id}/publish`);
    return newRelease.id;
  };
  let first = '';
  return new Map<number, () => Promise<void>>([
    [5, async () => void (await simulation.join('Eva'))],
    [8, async () => void (first = await release('1.0.0'))],
    [9, async () => void (await ok('POST', `/releases/${first}/rollback`, { reason: 'It loses comments.' }))],
    [11, () => dropLabel('late')],
    [13, async () => void (await ok('PATCH', `/labels/${labels.get('checked')}`, { name: 'reviewed' }))],
    [15, () => simulation.leave(people[4]!)],
    [17, lowerTarget],
    [22, async () => void (await release('1.0.1'))],
  ]);

  async function dropLabel(name: string): Promise<void> {
    const label = labels.get(name)!;
    labels.delete(name);
    await simulation.perform({ do: 'dropLabel', by: people[0]!, label });
  }

  /** Lowers the target of a policy; running clocks retain their due time. */
  async function lowerTarget(): Promise<void> {
    const high = (await ok('GET', '/sla-policies')).data[1];
    await ok('PATCH', `/sla-policies/${high.id}`, { targetMinutes: 600 });
    model.policies[1]!.targetMinutes = 600;
  }
}

/** Advances the time of the server and the model. */
export async function pass(simulation: Simulation, ms: number): Promise<void> {
  const { app, model } = simulation;
  app.clock.advance(ms);
  await app.settled();
  model.pass(app.clock.now());
}

/** Performs one act and waits for its effects at the same time; each act has its own time. */
export async function act(simulation: Simulation, chance: Chance): Promise<void> {
  const { app, model } = simulation;
  await something(simulation, chance);
  await app.settled();
  app.clock.advance(1);
  model.pass(app.clock.now());
}

/** A random number of milliseconds, so that no act coincides with a due time. */
export const pauseOf = ({ below }: Chance, hours: number): number => minuteMs + below(hours * hourMs);
