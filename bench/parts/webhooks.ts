// Deliveries to ten endpoints, against the same POSTs from a bare loop; latency from event to receipt at a modest rate; and the
// effect of one hanging endpoint on nine others.
import type { Child } from '../children.ts';
import type { BareLoopPlan, BareLoopResult, HttpClient } from '../load/bare-loop.ts';
import type { LoadResult } from '../load/load.ts';
import { cpuMs } from '../processes.ts';
import { judged, median, type Findings, type Side } from '../report.ts';
import type { Effort } from '../rounds.ts';
import { withServers, type TatamiChild } from '../servers/start.ts';
import type { ReceiverRound } from '../servers/webhook-receiver.ts';
import { creations } from './create.ts';
import { backlog } from './webhook-backlog.ts';

const endpoints = 10;
/** Requests that Tatami has in flight at one endpoint. */
const connections = 8;
const eventsPerSecond = 50;
const p99MsMax = 50;
const bulk = 100;
const bulks = [
  {
    path: '/api/v1/issues/bulk',
    body: JSON.stringify({ issues: creations.slice(0, bulk).map(({ body }) => JSON.parse(body)) }),
  },
];

interface Ours {
  readonly server: TatamiChild;
  /** Indexes of the receiver's endpoints that are counted. */
  readonly counted: readonly number[];
}

const reachOf: Readonly<Record<HttpClient, number>> = { fetch: 0.45, egress: 0.6 };

export async function webhooks(effort: Effort): Promise<Findings> {
  const parts = [await throughput(effort), await hanging(effort), await backlog(effort)];
  return {
    ratios: parts.flatMap(({ ratios = [] }) => ratios),
    figures: parts.flatMap(({ figures = [] }) => figures),
  };
}

export async function register(server: TatamiChild, urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const body = { url, events: ['issue.created'] };
    await server.child.ask('call', { method: 'POST', path: '/webhooks', body });
  }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

const eventsOf = (effort: Effort): number => Math.ceil((effort.roundMs * 0.3) / bulk) * bulk;

/**
 * Measures a burst of events, from the first request until every delivery of the counted endpoints is
 * received and recorded.
 */
async function burst(
  { load, receiver, events }: { load: Child; receiver: Child; events: number },
  { server, counted }: Ours,
  isWhole: boolean,
): Promise<Side> {
  const deliveries = events * counted.length;
  await receiver.ask('begin');
  const cpuBefore = cpuMs(server.child.pid);
  const startedMs = performance.timeOrigin + performance.now();
  const plan = { url: server.url, headers: server.headers, method: 'POST', requests: bulks, connections: 1 };
  const [created, received] = await Promise.all([
    load.ask<LoadResult>('run', { ...plan, count: events / bulk, pid: server.child.pid }),
    receiver.ask<ReceiverRound>('reached', { endpoints: counted, count: deliveries }),
  ]);
  if (created.refused > 0) throw new Error(`${created.refused} creations were refused.`);
  let endedMs = received.lastAtMs;
  if (isWhole) {
    await server.child.ask('settled');
    endedMs = performance.timeOrigin + performance.now();
  }
  const cpu = cpuMs(server.child.pid) - cpuBefore;
  const { counts } = await receiver.ask<ReceiverRound>('round');
  if (counted.some((endpoint) => counts[endpoint] !== events))
    throw new Error(`Expected ${events} events per endpoint, received ${counts.join(', ')}.`);
  return {
    perSecond: (deliveries / (endedMs - startedMs)) * 1000,
    cpuUs: (cpu / deliveries) * 1000,
    p50Ms: received.p50Ms,
    p99Ms: received.p99Ms,
  };
}

function throughput(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, start, tatami }) => {
    const server = await tatami();
    const receiver = start('servers/webhook-receiver.ts');
    const bare = start('load/bare-loop.ts');
    const urls = await receiver.ask<string[]>('start', { endpoints });
    await register(server, urls);
    const ours: Ours = { server, counted: numbers(endpoints) };
    const common = { load, receiver, events: eventsOf(effort) };
    await burst(common, ours, true);
    const created = await creating(load, await tatami(), common.events);
    const captured = await receiver.ask<BareLoopPlan['captured']>('captured');
    const loop = (client: HttpClient, more: Partial<BareLoopPlan> = {}): Promise<BareLoopResult> => {
      const plan: BareLoopPlan = {
        client,
        urls,
        captured,
        connections,
        durationMs: effort.roundMs / 2,
        ...more,
      };
      return bare.ask('run', plan);
    };
    const rounds = { ours: [] as Side[], fetch: [] as Side[], egress: [] as Side[] };
    for (let round = -1; round < effort.rounds; round++) {
      const sides = {
        fetch: await loop('fetch'),
        ours: await burst(common, ours, true),
        egress: await loop('egress'),
      };
      if (round < 0) continue;
      for (const client of ['ours', 'fetch', 'egress'] as const) rounds[client].push(sides[client]);
    }
    const sides = { ours: sideOf(rounds.ours), fetch: sideOf(rounds.fetch), egress: sideOf(rounds.egress) };
    const against = (client: HttpClient, name: string) =>
      judged({
        name,
        ours: sides.ours.perSecond,
        yardstick: sides[client].perSecond,
        unit: '/s',
        cpuRatio: sides[client].cpuUs / sides.ours.cpuUs,
        reach: reachOf[client],
        isByCpu: true,
        bound: 'least',
        sides: client === 'egress' ? sides : {},
      });
    const { ratios, figures } = await unloaded(common, ours, effort, loop);
    return {
      ratios: [
        against('fetch', 'deliveries to 10 endpoints: bare fetch'),
        against('egress', 'deliveries to 10 endpoints: bare egress client'),
        ...ratios,
      ],
      figures: [{ name: 'creating the events, per delivery', value: created, unit: 'µs cpu' }, ...figures],
    };
  });
}

/**
 * Returns the CPU time of creating events without subscribers, per delivery that subscribers would cause. The
 * first pass warms up; the second counts.
 */
async function creating(load: Child, { url, headers, child }: TatamiChild, events: number): Promise<number> {
  const plan = { url, headers, method: 'POST', requests: bulks, connections: 1, pid: child.pid };
  await load.ask('run', { ...plan, count: (events / bulk) * 2 });
  const { cpuUs } = await load.ask<LoadResult>('run', { ...plan, count: (events / bulk) * 2 });
  return cpuUs / bulk / endpoints;
}

async function unloaded(
  { load, receiver }: { load: Child; receiver: Child },
  { server, counted }: Ours,
  effort: Effort,
  loop: (client: HttpClient, more: Partial<BareLoopPlan>) => Promise<BareLoopResult>,
): Promise<Required<Findings>> {
  const durationMs = effort.roundMs * 4;
  await receiver.ask('begin');
  const result = await load.ask<LoadResult>('run', {
    url: server.url,
    headers: server.headers,
    method: 'POST',
    requests: creations,
    connections: 4,
    perSecond: eventsPerSecond,
    durationMs,
    pid: server.child.pid,
  });
  if (result.refused > 0) throw new Error(`${result.refused} creations were refused.`);
  const count = result.requests * counted.length;
  const { p50Ms, p99Ms } = await receiver.ask<ReceiverRound>('reached', { endpoints: counted, count });
  const bare = await loop('fetch', { durationMs, eventsPerSecond });
  return {
    ratios: [
      judged({
        name: `event to receipt at ${eventsPerSecond} events/s, p99`,
        ours: p99Ms,
        yardstick: p99MsMax,
        unit: 'ms',
        cpuRatio: null,
        reach: 1,
        bound: 'most',
        sides: {},
      }),
    ],
    figures: [
      { name: `event to receipt at ${eventsPerSecond} events/s, p50`, value: p50Ms, unit: 'ms' },
      { name: 'round trip of the bare fetch at that rate, p50', value: bare.p50Ms, unit: 'ms' },
      { name: 'round trip of the bare fetch at that rate, p99', value: bare.p99Ms, unit: 'ms' },
    ],
  };
}

/**
 * Compares nine endpoints alone with the same nine and a tenth, which accepts requests and never responds.
 */
function hanging(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, start, tatami }) => {
    const receiver = start('servers/webhook-receiver.ts');
    const urls = await receiver.ask<string[]>('start', { endpoints: endpoints * 2 - 1 });
    const [beside, alone] = [await tatami(), await tatami()];
    await register(beside, urls.slice(0, endpoints));
    await register(alone, urls.slice(endpoints));
    const servers: Record<'beside' | 'alone', Ours> = {
      beside: { server: beside, counted: numbers(endpoints - 1) },
      alone: { server: alone, counted: numbers(endpoints - 1).map((n) => n + endpoints) },
    };
    const common = { load, receiver, events: eventsOf(effort) };
    const rounds = { beside: [] as Side[], alone: [] as Side[] };
    for (let round = -1; round < effort.rounds; round++)
      for (const name of ['alone', 'beside'] as const) {
        await receiver.ask('hang', [endpoints - 1]);
        const side = await burst(common, servers[name], false);
        await receiver.ask('hang', []);
        await servers[name].server.child.ask('settled');
        if (round >= 0) rounds[name].push(side);
      }
    const sides = { 'beside it': sideOf(rounds.beside), alone: sideOf(rounds.alone) };
    return {
      ratios: [
        judged({
          name: 'nine endpoints beside one that hangs',
          ours: sides['beside it'].perSecond,
          yardstick: sides.alone.perSecond,
          unit: '/s',
          cpuRatio: sides.alone.cpuUs / sides['beside it'].cpuUs,
          reach: 0.9,
          bound: 'least',
          sides,
        }),
      ],
    };
  });
}

function sideOf(rounds: readonly Side[]): Side {
  const of = (field: keyof Side): number => median(rounds.map((round) => round[field]));
  return { perSecond: of('perSecond'), cpuUs: of('cpuUs'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') };
}
