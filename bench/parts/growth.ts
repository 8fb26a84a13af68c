// File space per issue, run, delivery and event, and request latency as the file grows. Each issue is labelled by auto-triage and
// sent to one webhook.
import Database from 'libsql';
import { packFirstParty } from '../../core/features/plugins/packages.ts';
import { median, judged, type Figure, type Findings, type Ratio } from '../report.ts';
import type { Effort } from '../rounds.ts';
import { issueInput } from '../servers/seed.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';

const bulk = 100;
const readCount = 200;
/** Maximum ratio of the latency with the most issues to that with the fewest. */
const slowerMax = 1.5;

/** Tables per entity. The first one holds its rows; their indexes are counted too. */
const tablesOf: Readonly<Record<string, readonly string[]>> = {
  issue: ['issues', 'issue_labels'],
  event: ['events'],
  run: ['runs'],
  delivery: ['deliveries', 'attempts'],
};

type Question = 'create' | 'get' | 'list';
interface Grown {
  readonly issues: number;
  /** Bytes per entity, and of the whole file per issue. */
  readonly bytes: Readonly<Record<string, number>>;
  readonly p50Ms: Readonly<Record<Question, number>>;
}

export function growth(effort: Effort): Promise<Findings> {
  const sizes = [1_000, effort.rounds > 3 ? 20_000 : 4_000, ...(effort.isLarge ? [200_000] : [])];
  return withServers(async (bench) => {
    const all: Grown[] = [];
    for (const size of sizes) all.push(await grow(bench, size));
    return { ratios: flatness(all), figures: all.flatMap(figuresOf) };
  });
}

async function grow(bench: Bench, issues: number): Promise<Grown> {
  const receiver = bench.start('servers/webhook-receiver.ts');
  const server = await bench.tatami();
  const [url] = await receiver.ask<string[]>('start', { endpoints: 1 });
  const hook = { url, events: ['issue.*'] };
  await server.child.ask('call', { method: 'POST', path: '/webhooks', body: hook });
  await server.child.ask('install', await packFirstParty('auto-triage'));
  for (let n = 0; n < issues; n += bulk) {
    const body = { issues: Array.from({ length: bulk }, (_, i) => issueInput(n + i)) };
    await server.child.ask('call', { method: 'POST', path: '/issues/bulk', body });
    if (n % 2_000 === 0) await server.child.ask('settled');
  }
  await server.child.ask('settled');
  const bytes = bytesIn(server.database, issues);
  const p50Ms = await quickness(await bench.anew(server));
  return { issues, bytes, p50Ms };
}

/** Counts whole pages of each table and index, including free space in them. */
function bytesIn(database: string, issues: number): Record<string, number> {
  const db = new Database(`file:${database}?mode=ro`);
  const trees = db
    .prepare(
      `SELECT s.tbl_name AS name, sum(d.pgsize) AS bytes FROM dbstat AS d JOIN sqlite_schema AS s ON s.name = d.name
       WHERE d.aggregate = TRUE GROUP BY s.tbl_name`,
    )
    .all() as { name: string; bytes: number }[];
  const rowsOf = (table: string): number =>
    (db.prepare(`SELECT count(*) AS count FROM ${table}`).all()[0] as { count: number }).count;
  const sum = (tables: readonly string[] | null): number =>
    trees.reduce((total, { name, bytes }) => total + (tables?.includes(name) === false ? 0 : bytes), 0);
  const each = Object.entries(tablesOf).map(([entity, tables]) => [entity, sum(tables) / rowsOf(tables[0]!)]);
  const all = sum(null) / issues;
  db.close();
  return { ...Object.fromEntries(each), 'issue with everything it caused': all };
}

async function quickness({ url, headers, child }: TatamiChild): Promise<Record<Question, number>> {
  const { data } = await child.ask<{ data: { id: string }[] }>('call', {
    method: 'GET',
    path: '/issues?limit=100',
  });
  const timed = async (path: (n: number) => string, body?: unknown): Promise<number> => {
    const took: number[] = [];
    for (let n = 0; n < readCount; n++) {
      const startedMs = performance.now();
      const response = await fetch(`${url}/api/v1${path(n)}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      await response.text();
      if (!response.ok) throw new Error(`${path(n)} answered ${response.status}.`);
      took.push(performance.now() - startedMs);
    }
    return median(took);
  };
  return {
    get: await timed((n) => `/issues/${data[n % data.length]!.id}`),
    list: await timed(() => '/issues?limit=50'),
    create: await timed(() => '/issues', { team: 'ENG', title: 'One more' }),
  };
}

function flatness(all: readonly Grown[]): Ratio[] {
  const [least, most] = [all[0]!, all.at(-1)!];
  return (['create', 'get', 'list'] as const).map((question) =>
    judged({
      name: `p50 of ${question} at ${most.issues.toLocaleString('en')} issues, to that at ${least.issues.toLocaleString('en')}`,
      ours: most.p50Ms[question],
      yardstick: least.p50Ms[question],
      unit: 'ms',
      cpuRatio: null,
      reach: slowerMax,
      bound: 'most',
      sides: {},
    }),
  );
}

const figuresOf = ({ issues, bytes }: Grown): Figure[] =>
  Object.entries(bytes).map(([entity, value]) => ({
    ...{
      name: `an ${entity}, of ${issues.toLocaleString('en')} issues`.replace(/^an (?=[dr])/, 'a '),
      value,
    },
    unit: 'bytes',
  }));
