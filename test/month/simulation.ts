// The setup of the month: three teams in three time zones with members, SLA policies and projects, and the
// requests of acts.
import { createClock, startApp, type Client, type Json, type TestApp } from '../app.ts';
import { allTrackerScopes, install, packSource } from '../features/plugins/pack.ts';
import { Model, type Act, type StateType, type Written } from './model.ts';
import type { Office } from './hours.ts';
import type { Rhythm } from './model-cycles.ts';
import type { Policy } from './model-sla.ts';

const v1 = '/api/v1';
/** A Sunday. Summer time ends in Zagreb on October 31 and in New York on November 7. */
export const monthBegins = Date.parse('2027-10-10T12:00:00Z');

const rhythms: readonly Rhythm[] = [
  { team: 'ENG', timeZone: 'Europe/Zagreb', weeks: 1, startsOn: 'monday', cooldownWeeks: 0, rollsOver: true },
  {
    team: 'OPS',
    timeZone: 'America/New_York',
    weeks: 2,
    startsOn: 'wednesday',
    cooldownWeeks: 0,
    rollsOver: true,
  },
  { team: 'DES', timeZone: 'Asia/Tokyo', weeks: 1, startsOn: 'friday', cooldownWeeks: 1, rollsOver: false },
];
const zagreb: Office = { timeZone: 'Europe/Zagreb', hours: [[9, 17]], holidays: ['2027-11-01'] };
const newYork: Office = { timeZone: 'America/New_York', hours: [[9, 12], [13, 17]], holidays: [] }; // prettier-ignore

export interface Simulation {
  app: TestApp;
  readonly model: Model;
  /** Ids of current members, the owner first. */
  readonly people: string[];
  readonly labels: Map<string, string>;
  readonly projects: { readonly id: string; readonly milestones: string[] }[];
  /** Sends a request as the owner. @throws on an error response */
  ok(method: string, path: string, body?: object): Promise<Json>;
  /** Returns all pages of a list. */
  all(path: string): Promise<Json[]>;
  /** A client with the key of a member. */
  as(member: string): Client;
  join(name: string): Promise<string>;
  leave(member: string): Promise<void>;
  /** Sends an act, and applies it to the model afterwards. */
  perform(act: Act, way?: 'board' | 'triage'): Promise<void>;
}

export async function startSimulation(dataDir: string): Promise<Simulation> {
  const clock = createClock(monthBegins);
  const app = await startApp({ clock, dataDir });
  const simulation = simulationOf(app);
  const { ok, model, people, labels, projects } = simulation;
  people.push(app.workspace.userId);
  model.inboxes.admins.add(app.workspace.userId);
  model.triaged.add('OPS');
  for (const { team: key, timeZone, rollsOver, weeks, startsOn, cooldownWeeks } of rhythms) {
    const { id } =
      key === 'ENG' ? { id: app.workspace.teamId } : await ok('POST', '/teams', { key, name: key });
    const cycles = { weeks, startsOn, cooldownWeeks, rollsOver };
    await ok('PATCH', `/teams/${id}`, { timeZone, cycles, triage: key === 'OPS' ? 'all' : 'off' });
  }
  for (const name of ['Ana', 'Ben', 'Cleo', 'Dan']) await simulation.join(name);
  for (const name of ['late', 'checked', 'kept'])
    labels.set(name, (await ok('POST', '/labels', { name })).id);
  await makePromises(simulation);
  const [, ana, ben] = people;
  for (const name of ['Saving', 'Printing']) {
    const body = { name, leadId: ana, members: [ben], status: 'started' };
    const { id } = await ok('POST', '/projects', body);
    const milestones: string[] = [];
    for (const step of ['Alpha', 'Beta'])
      milestones.push((await ok('POST', `/projects/${id}/milestones`, { name: step })).id);
    projects.push({ id, milestones });
    model.projects.set(id, { people: [ana!, ben!] });
  }
  const options = ['s', 'l'].map((value) => ({ value, name: value }));
  await ok('POST', '/fields', { key: 'size', name: 'Size', type: 'select', options });
  await ok('POST', '/fields', { key: 'points', name: 'Points', type: 'number' });
  await app.settled();
  await automate(app.call);
  return simulation;
}

async function makePromises({ ok, model }: Simulation): Promise<void> {
  const policies: readonly (Omit<Policy, 'passes'> & {
    readonly filter: Readonly<Record<string, string>>;
  })[] = [
    {
      ...{ name: 'Urgent', kind: 'resolution', targetMinutes: 480, atRiskMinutes: 60, office: zagreb },
      ...{ filter: { priority: 'urgent' }, pausedIn: ['triage', 'unstarted'] },
    },
    {
      ...{ name: 'High', kind: 'resolution', targetMinutes: 1440, atRiskMinutes: null, office: null },
      ...{ filter: { priority: 'high' }, pausedIn: [] },
    },
    {
      ...{ name: 'Answer', kind: 'first_response', targetMinutes: 240, atRiskMinutes: 30, office: newYork },
      ...{ filter: { team: 'OPS' }, pausedIn: [] },
    },
  ];
  for (const [position, { office, filter, pausedIn, ...policy }] of policies.entries()) {
    const calendar = office && (await ok('POST', '/calendars', { name: policy.name, ...calendarOf(office) }));
    const sent = { ...policy, filter, pausedIn, position, calendarId: calendar?.id ?? null };
    await ok('POST', '/sla-policies', sent);
    const [[name, value] = ['', '']] = Object.entries(filter);
    const passes = (issue: object): boolean => (issue as Record<string, unknown>)[name] === value;
    model.policies.push({ ...policy, office, pausedIn, passes });
  }
}

function calendarOf({ timeZone, hours, holidays }: Office): object {
  const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
  const spans = hours.map(([from, to]) => ({ from: clock(from), to: clock(to) }));
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'];
  return { timeZone, holidays, hours: Object.fromEntries(days.map((day) => [day, spans])) };
}

/** Installs a rule that makes crashes urgent. The model implements the same rule independently. */
async function automate(call: Client): Promise<void> {
  const definition = `{
    id: 'com.test.month', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes.replace(/;$/, '')},
    on: { 'issue.created': { handle: async (event, ctx) => {
      if (!event.data.title.startsWith('Crash')) return;
      await ctx.issues.update(event.data.id, { priority: 'urgent' });
      await ctx.comments.create(event.data.id, { body: 'This cannot wait.' });
    } } },
  }`;
  await install(call, await packSource(definition));
}

const memberScopes = [
  ...['issues:write', 'comments:write', 'inbox:write', 'boards:write', 'projects:write'],
  ...['members:read', 'events:read'],
];

function simulationOf(first: TestApp): Simulation {
  const tokens = new Map<string, string>([[first.workspace.userId, first.workspace.apiKey]]);
  const names = new Map<string, string>();
  const send = async (call: Client, method: string, path: string, body?: object): Promise<Json> => {
    const { status, json, text } = await call(method, v1 + path, body);
    if (status >= 300) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${status} ${text}`);
    return json;
  };
  const simulation: Simulation = {
    app: first,
    model: new Model(monthBegins, rhythms),
    ...{ people: [], labels: new Map(), projects: [] },
    ok: (method, path, body) => send(simulation.app.call, method, path, body),
    async all(path) {
      const items: Json[] = [];
      for (let after = ''; ;) {
        const page = await simulation.ok('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${after}`);
        items.push(...page.data);
        if (!page.pageInfo.hasNextPage) return items;
        after = `&after=${page.pageInfo.endCursor}`;
      }
    },
    as: (member) => simulation.app.clientOf(tokens.get(member)!),
    async join(name) {
      const { id } = await simulation.ok('POST', '/members', { name });
      const key = { name, memberId: id, scopes: memberScopes };
      tokens.set(id, (await simulation.ok('POST', '/api-keys', key)).key);
      names.set(id, name);
      simulation.people.push(id);
      return id;
    },
    async leave(member) {
      await simulation.ok('DELETE', `/members/${member}`);
      simulation.people.splice(simulation.people.indexOf(member), 1);
      simulation.model.inboxes.leave(member);
    },
    async perform(act, way) {
      const request = await requestOf(simulation, act, names, way);
      const created = await send(simulation.as(act.by), ...request);
      simulation.model.apply(act.do === 'create' ? { ...act, id: created.id } : act);
    },
  };
  return simulation;
}

type Request = readonly [method: string, path: string, body?: object];

async function requestOf(
  simulation: Simulation,
  act: Act,
  names: ReadonlyMap<string, string>,
  way?: 'board' | 'triage',
): Promise<[string, string, object?]> {
  const path = 'id' in act ? `/issues/${act.id}` : '';
  switch (act.do) {
    case 'create': {
      const written = await sentOf(simulation, act.team, act.written);
      return ['POST', '/issues', { ...written, team: act.team, parentId: act.parent }];
    }
    case 'update': {
      const { team } = simulation.model.issues.get(act.id)!;
      const { state } = act.patch;
      if (way === 'triage')
        return ['POST', `${path}/triage/${state === 'canceled' ? 'decline' : 'accept'}`, {}];
      if (way === 'board') return boardMove(simulation, act.id, state!);
      return ['PATCH', path, await sentOf(simulation, team, act.patch)];
    }
    case 'comment': {
      const mentioned = act.mentions.map((member) => `@${names.get(member)}`);
      return ['POST', `${path}/comments`, { body: ['Look at this', ...mentioned].join(' ') }];
    }
    default:
      return plainRequestOf(act, path) as [string, string, object?];
  }
}

function plainRequestOf(act: Exclude<Act, { do: 'create' | 'update' | 'comment' }>, path: string): Request {
  switch (act.do) {
    case 'move':
      return ['POST', `${path}/move`, { team: act.team }];
    case 'delete':
      return ['DELETE', path];
    case 'restore':
      return ['POST', `${path}/restore`];
    case 'block':
      return ['POST', `${path}/relations`, { type: 'blocks', issueId: act.other }];
    case 'duplicate':
      return ['POST', `${path}/relations`, { type: 'duplicate_of', issueId: act.other }];
    case 'dropLabel':
      return ['DELETE', `/labels/${act.label}`];
    case 'post':
      return [
        'POST',
        `/projects/${act.project}/project-updates`,
        { health: 'at_risk', body: 'It takes longer.' },
      ];
    case 'readAll':
      return ['POST', '/inbox/read-all'];
  }
}

async function boardMove(
  { ok }: Simulation,
  issueId: string,
  state: StateType,
): Promise<[string, string, object]> {
  const [board] = (await ok('GET', '/boards')).data;
  const column = { unstarted: 'Todo', started: 'In Progress', completed: 'Done' }[state as 'started'];
  return ['POST', `/boards/${board.id}/move`, { issueId, column, position: 'top' }];
}

/** Converts an act to a request body. */
async function sentOf({ ok }: Simulation, team: string, written: Partial<Written>): Promise<object> {
  const { state, assignee, project, milestone, cycle, ...rest } = written;
  const has = (name: string): boolean => name in written;
  const states: Json[] = has('state') ? (await ok('GET', `/workflows?team=${team}`)).data : [];
  const cycles: Json[] = cycle ? (await ok('GET', `/cycles?team=${team}&limit=100`)).data : [];
  return {
    ...rest,
    ...(has('state') ? { stateId: states.find(({ type }) => type === state).id } : {}),
    ...(has('assignee') ? { assigneeId: assignee } : {}),
    ...(has('project') ? { projectId: project } : {}),
    ...(has('milestone') ? { milestoneId: milestone } : {}),
    ...(has('cycle') ? { cycleId: cycles.find(({ number }) => number === cycle)?.id ?? null } : {}),
  };
}
