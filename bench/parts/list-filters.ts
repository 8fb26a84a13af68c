// Each filter and sort of the issue list, and a deep page, at 100,000 issues against the same at 1,000. Most filters match only the
// sixty oldest issues, so a list that scans all the others gets slower. Requests are sent one after the other.
import type { LoadPlan } from '../load/load.ts';
import { judged, type Figure, type Findings, type Ratio } from '../report.ts';
import { interleave, type Effort } from '../rounds.ts';
import { issueInput } from '../servers/seed.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';

const few = 1_000;
const many = 100_000;
const rare = 60;
/** Page of two issues that exists in both sizes. */
const deepPage = 500;
const bulk = 100;

interface Query {
  readonly name: string;
  readonly query: string;
  /** True if the latency should not grow with the number of issues. Other queries are reported without a target; see docs/spec/api.md. */
  readonly flat: boolean;
}

interface Seeded extends TatamiChild {
  readonly queries: readonly Query[];
}

export function listFilters(effort: Effort): Promise<Findings> {
  return withServers(async (bench) => {
    const small = await seeded(bench, few);
    const large = await seeded(bench, many);
    const ratios: Ratio[] = [];
    const figures: Figure[] = [];
    for (const [index, { name, flat }] of large.queries.entries()) {
      const plan = (server: Seeded): Omit<LoadPlan, 'durationMs'> => ({
        method: 'GET',
        url: server.url,
        requests: [{ path: `/api/v1/issues?${server.queries[index]!.query}` }],
        headers: server.headers,
        connections: 1,
        pid: server.child.pid,
      });
      const sides = await interleave(
        bench.load,
        { rounds: effort.rounds, roundMs: effort.roundMs / 15 },
        { large: plan(large), small: plan(small) },
      );
      const [ours, yardstick] = [sides.large.p50Ms, sides.small.p50Ms];
      if (flat)
        ratios.push(
          judged({
            name: `list-filters: ${name}`,
            ours,
            yardstick,
            unit: 'ms',
            cpuRatio: null,
            reach: 1.5,
            bound: 'most',
            sides: {},
          }),
        );
      else
        figures.push({
          name: `list-filters, without target: ${name}`,
          value: ours,
          unit: `ms; at 1,000 ${yardstick.toPrecision(3)} ms, ratio ${(ours / yardstick).toFixed(1)}`,
        });
    }
    return { ratios, figures };
  });
}

/** Restarts the server after seeding, so that the two servers differ only in their issues. */
async function seeded(bench: Bench, count: number): Promise<Seeded> {
  const first = await bench.tatami();
  const call: Call = (method, path, body) => first.child.ask('call', { method, path, body });
  await call('POST', '/teams', { key: 'OPS', name: 'Operations' });
  await call('POST', '/labels', { name: 'rare', color: '#123456' });
  const { id: project } = await call<{ id: string }>('POST', '/projects', { name: 'Rare' });
  const { id: parent } = await call<{ id: string }>('POST', '/issues', { team: 'ENG', title: 'The parent' });
  const { data: members } = await call<{ data: { id: string }[] }>('GET', '/members');
  const { data: states } = await call<{ data: { id: string; type: string }[] }>('GET', '/workflows?team=OPS');
  const state = states.find(({ type }) => type === 'started')!.id;
  const seedIds = { project, parent, state, assignee: members[0]!.id };
  for (let n = 0; n < count; n += bulk)
    await call('POST', '/issues/bulk', {
      issues: Array.from({ length: bulk }, (_, index) => inputOf(n + index, seedIds)),
    });
  const path = await deepPath(call);
  const times = await timesOf(call);
  return { ...(await bench.anew(first)), queries: queriesOf({ ...seedIds, ...times, path }) };
}

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

interface SeedIds {
  readonly project: string;
  readonly parent: string;
  readonly assignee: string;
  readonly state: string;
}

/** The first sixty issues have values that no other issue has. */
function inputOf(n: number, seedIds: SeedIds): Record<string, unknown> {
  const common = { ...issueInput(n), priority: ['none', 'low', 'medium', 'high'][n % 4] };
  if (n >= rare) return common;
  return {
    ...common,
    projectId: seedIds.project,
    parentId: seedIds.parent,
    assigneeId: seedIds.assignee,
    stateId: seedIds.state,
    team: 'OPS',
    title: `Rare ${n}`,
    priority: 'urgent',
    labels: ['rare'],
    estimate: 13,
    dueDate: '2026-01-01',
    externalSource: 'rare',
    externalId: `${n}`,
  };
}

interface Listed {
  readonly data: readonly { readonly createdAt: string; readonly updatedAt: string }[];
  readonly pageInfo: { readonly endCursor: string };
}

async function deepPath(call: Call): Promise<string> {
  const path = '/issues?limit=2';
  let query = '';
  for (let page = 1; page < deepPage; page++) {
    const { pageInfo } = await call<Listed>('GET', `${path}${query}`);
    query = `&after=${encodeURIComponent(pageInfo.endCursor)}`;
  }
  return `limit=2${query}`;
}

/** Returns the creation times of the fiftieth issue from either end. */
async function timesOf(call: Call): Promise<{ late: string; early: string }> {
  const at = async (sort: string): Promise<string> =>
    (await call<Listed>('GET', `/issues?limit=50&sort=${sort}`)).data.at(-1)!.createdAt;
  return { late: await at('-createdAt'), early: await at('createdAt') };
}

function queriesOf(known: SeedIds & { late: string; early: string; path: string }): Query[] {
  const by = (filter: object): string => `filter=${encodeURIComponent(JSON.stringify(filter))}`;
  const { project, parent, assignee, late, early } = known;
  const flat: Readonly<Record<string, string>> = {
    'newest first': 'limit=50',
    [`page ${deepPage}, of 2`]: known.path,
    'team=, most': 'team=ENG',
    'team=, few': 'team=OPS',
    'state=, most': 'state=backlog',
    'assignee=, few': `assignee=${assignee}`,
    'assignee=none, most': 'assignee=none',
    'label=, a third': 'label=bug',
    'label=, few': 'label=rare',
    'priority=, a quarter': 'priority=low',
    'priority=, few': 'priority=urgent',
    'updatedSince=, few': `updatedSince=${late}`,
    'updatedSince=, all, sort=updatedAt': `updatedSince=2000-01-01T00:00:00Z&sort=updatedAt`,
    'by project, few': by({ project }),
    'by parent, few': by({ parent }),
    'by creator, none': by({ creator: `plg_${'0'.repeat(26)}` }),
    'by externalId, one': by({ externalSource: 'rare', externalId: '7' }),
    'by createdAt, few early': by({ createdAt: { lt: early } }),
    'sort=createdAt': 'sort=createdAt',
    'sort=updatedAt': 'sort=updatedAt',
    'sort=-updatedAt': 'sort=-updatedAt',
    'sort=-priority': 'sort=-priority',
    'team= and state=, few': 'team=OPS&state=started',
    'team=, most, and label=, few': 'team=ENG&label=rare',
    'team=, most, sort=-priority': 'team=ENG&sort=-priority',
  };
  const growing: Readonly<Record<string, string>> = {
    'state= of two teams, few': 'state=started',
    'state not, few': by({ state: { nin: ['backlog'] } }),
    'updatedSince=, all': `updatedSince=2000-01-01T00:00:00Z`,
    'by estimate, few': by({ estimate: 13 }),
    'by dueDate before, few': by({ dueDate: { lt: '2026-02-01' } }),
    'by externalSource, few': by({ externalSource: 'rare' }),
    'by number, few': by({ number: 7 }),
    'one or the other, few': by({ or: [{ label: 'rare' }, { priority: 'urgent' }] }),
    'title contains, few': by({ title: { contains: 'rare' } }),
    'description contains, none': by({ description: { contains: 'no such words' } }),
    'sort=number': 'sort=number',
    'sort=-number': 'sort=-number',
    'sort=priority': 'sort=priority',
    'sort=-priority,updatedAt': 'sort=-priority,updatedAt',
    'sort=estimate': 'sort=estimate',
    'sort=dueDate': 'sort=dueDate',
    'sort=title': 'sort=title',
  };
  const listed = (queries: typeof flat, isFlat: boolean): Query[] =>
    Object.entries(queries).map(([name, query]) => ({ name, query, flat: isFlat }));
  return [...listed(flat, true), ...listed(growing, false)];
}
