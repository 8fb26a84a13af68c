// Boards, searches, time travel and SLA clocks at 100,000 issues, 200 projects, 500 cycles and 50 boards, against the bare SQL of
// the same pages.
import type { LoadPlan } from '../load/load.ts';
import { judged, type Findings, type Ratio, type Side } from '../report.ts';
import { interleave, type Effort } from '../rounds.ts';
import { boardOf, callOf, catalogue, createAll, wordOf, type Catalogue } from '../servers/catalogue.ts';
import type { RecordedStatement } from '../servers/recorded.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';
import { dueAtOnce } from './sla-burst.ts';

const large = { issues: 100_000, projects: 200, cycles: 500, boards: 50 };
const small = { issues: 10_000, projects: 20, cycles: 50, boards: 5 };
const policies = 20;
/** Number of events after the time that is read with `asOf`. */
const ago = 1_000;
const searchMostMs = 30;
/** Queries of words by rank: rank 25 occurs in a fifth of all texts, rank 600 in one of a hundred. */
const searches = {
  'a common word': (n: number) => `${wordOf(300 + n)} `,
  'two common words': (n: number) => `${wordOf(40 + n)} ${wordOf(90 + n)} `,
  'a word prefix': (n: number) => wordOf(300 + n * 20).slice(0, 4),
  'a word in a fifth of all texts': (n: number) => `${wordOf(22 + n)} `,
};

type Path = string;

export function catalogueCosts(effort: Effort): Promise<Findings> {
  return withServers(async (bench) => {
    const startedMs = performance.now();
    const ours = await catalogue(bench, effort.rounds < 5 ? small : large);
    const seededMs = performance.now() - startedMs;
    const measuredPages = await pages(bench, effort, ours);
    const created = await creations(bench, effort);
    const due = await dueAtOnce(bench, effort, ours);
    return {
      ratios: [...measuredPages.ratios, ...created, ...due],
      figures: [
        ...measuredPages.figures,
        { name: 'catalogue: seeded in', value: seededMs / 1_000, unit: 's' },
      ],
    };
  });
}

async function pages(bench: Bench, effort: Effort, ours: Catalogue): Promise<Required<Findings>> {
  const { id } = (await callOf(ours)<{ data: { id: string }[] }>('GET', '/issues?limit=1&sort=createdAt'))
    .data[0]!;
  const board = `/boards/${ours.board}/cards?perColumn=25`;
  const searched = Object.entries(searches).map(([name, q]) => ({
    name,
    paths: Array.from({ length: 6 }, (_, n) => `/search?q=${encodeURIComponent(q(n))}`),
  }));
  const bare = await bareOf(
    bench,
    ours,
    board,
    searched.flatMap(({ paths }) => paths),
  );
  const sidesOf = (left: PagesLoad, right: PagesLoad) => measured(bench, effort, left, right);
  const ratios = [
    ratioOf(
      'board of 8 × 25 cards',
      await sidesOf({ of: ours, paths: [board] }, { of: bare, paths: [board] }),
      'perSecond',
      { bound: 'least', reach: 0.5 },
    ),
  ];
  for (const { name, paths } of searched)
    ratios.push(...searchRatios(name, await sidesOf({ of: ours, paths }, { of: bare, paths })));
  const asOf = async (path: Path): Promise<Sides> => {
    const at = `${path}${path.includes('?') ? '&' : '?'}asOf=${ours.sequence - ago}`;
    return sidesOf({ of: ours, paths: [at] }, { of: ours, paths: [path] });
  };
  const name = `as of ${ago.toLocaleString('en')} events ago`;
  const got = await asOf(`/issues/${id}`);
  const listed = await asOf('/issues?limit=50');
  return {
    ratios: [...ratios, ratioOf(`get ${name}`, got, 'p50Ms', { bound: 'most', reach: 3 })],
    figures: [
      {
        name: `catalogue: list ${name}`,
        value: listed.ours.p50Ms,
        unit: `ms; now ${listed.yardstick.p50Ms.toPrecision(3)} ms`,
      },
    ],
  };
}

function searchRatios(name: string, sides: Sides): Ratio[] {
  const most = { ...sides.yardstick, p99Ms: searchMostMs };
  return [
    ratioOf(`search ${name}, p50`, sides, 'p50Ms', { bound: 'most', reach: 3 }),
    ratioOf(`search ${name}, p99`, { ours: sides.ours, yardstick: most }, 'p99Ms', {
      bound: 'most',
      reach: 1,
    }),
  ];
}

interface Served {
  readonly url: string;
  readonly headers: TatamiChild['headers'];
  readonly child: { readonly pid: number };
}
interface PagesLoad {
  readonly of: Served;
  readonly paths: readonly Path[];
}
type Sides = Readonly<Record<'ours' | 'yardstick', Side>>;

function measured({ load }: Bench, effort: Effort, ours: PagesLoad, yardstick: PagesLoad): Promise<Sides> {
  const plan = ({ of, paths }: PagesLoad): Omit<LoadPlan, 'durationMs'> => ({
    method: 'GET',
    url: of.url,
    requests: paths.map((path) => ({ path: `/api/v1${path}` })),
    headers: of.headers,
    connections: 1,
    pid: of.child.pid,
  });
  const rounds = { ...effort, roundMs: effort.roundMs / 2 };
  return interleave(load, rounds, { ours: plan(ours), yardstick: plan(yardstick) });
}

function ratioOf(
  name: string,
  { ours, yardstick }: Sides,
  by: 'perSecond' | 'p50Ms' | 'p99Ms' | 'cpuUs',
  goal: { readonly bound: 'least' | 'most'; readonly reach: number },
): Ratio {
  const unit = { perSecond: '/s', p50Ms: 'ms', p99Ms: 'ms', cpuUs: 'µs cpu' }[by];
  const isFixed = by === 'p99Ms';
  const cpuRatio = goal.bound === 'least' ? yardstick.cpuUs / ours.cpuUs : ours.cpuUs / yardstick.cpuUs;
  return judged({
    name: `catalogue: ${name}`,
    ours: ours[by],
    yardstick: yardstick[by],
    unit,
    cpuRatio: isFixed ? null : cpuRatio,
    ...goal,
    sides: isFixed ? {} : { ours, yardstick },
  });
}

/** Serves the SQL of the board, and for each search only its full-text query, with the same ranking and limit. */
async function bareOf(
  bench: Bench,
  ours: Catalogue,
  board: Path,
  searched: readonly Path[],
): Promise<Served> {
  const recorded = (path: Path) => ours.child.ask<RecordedStatement[]>('recordRead', path);
  const entries = [[`/api/v1${board}`, await recorded(board)] as const];
  for (const path of searched) {
    const hits = (await recorded(path)).find(({ params }) => params.includes('match'));
    if (!hits) throw new Error(`${path} does not query the full-text index.`);
    entries.push([`/api/v1${path}`, [{ ...hits, ...fullText(hits.values) }]]);
  }
  const child = bench.start('servers/pages-server.ts');
  const { url } = await child.ask<{ url: string }>('start', {
    database: ours.database,
    pages: Object.fromEntries(entries),
  });
  return { child, url, headers: {} };
}

function fullText({ match, limit }: RecordedStatement['values']) {
  return {
    text: `SELECT rowid AS doc, bm25(search_index, 8.0, 2.0, 1.0) AS score FROM search_index
      WHERE search_index MATCH ?1 ORDER BY score, rowid DESC LIMIT ?2`,
    params: ['match', 'limit'],
    values: { match: match!, limit: limit! },
  };
}

/**
 * Compares creation with boards and policies that do not match against creation without any, and creation
 * that emits one more event, `sla.started`, against creation without a policy.
 */
async function creations(bench: Bench, effort: Effort): Promise<Ratio[]> {
  const bare = await bench.tatami();
  const furnished = await bench.tatami();
  const call = callOf(furnished);
  const { data } = await call<{ data: { id: string }[] }>('GET', '/workflows?team=ENG');
  await createAll(call, small.boards * 10, '/boards', (n) =>
    boardOf(
      n,
      data.map(({ id }) => id),
    ),
  );
  await createAll(call, policies, '/sla-policies', (n) => ({
    name: `Policy ${n}`,
    filter: { priority: n === 0 ? 'urgent' : 'high', team: 'ENG' },
    targetMinutes: 10_000,
  }));
  const plan = (of: Served, priority: string) => ({
    method: 'POST' as const,
    url: of.url,
    requests: [
      { path: '/api/v1/issues', body: JSON.stringify({ team: 'ENG', title: 'The save dialog', priority }) },
    ],
    headers: of.headers,
    pid: of.child.pid,
  });
  const quiet = await interleave(bench.load, effort, {
    ours: { ...plan(furnished, 'low'), connections: 64 },
    yardstick: { ...plan(bare, 'low'), connections: 64 },
  });
  const rate = { connections: 16, perSecond: 100 };
  const started = await interleave(bench.load, effort, {
    ours: { ...plan(furnished, 'urgent'), ...rate },
    yardstick: { ...plan(bare, 'urgent'), ...rate },
  });
  return [
    ratioOf('create beside 50 boards and 20 policies', quiet, 'cpuUs', { bound: 'most', reach: 1.1 }),
    ratioOf('create, 100/s, that starts a clock', started, 'p50Ms', { bound: 'most', reach: 1.1 }),
  ];
}
