// Effect of syncs that take 10 ms longer, on creation and on reads at a steady rate during 64 concurrent
// writes, against the same server without the delay. Also measures the effect of the 64 writers on reads
// without the delay.
import type { LoadPlan, LoadResult } from '../load/load.ts';
import { judged, type Findings, type Side } from '../report.ts';
import { interleave, sideOf, type Effort } from '../rounds.ts';
import { delayedSyncs } from '../servers/delayed-syncs.ts';
import { withServers, type TatamiChild } from '../servers/start.ts';
import { creations } from './create.ts';

const delayMs = 10;
const writers = 64;
const readsPerSecond = 500;

type Situation = 'alone' | 'besideWriters' | 'besideSlowWriters';

export function slowDisk(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, start, temporary, tatami }) => {
    const delayed = await delayedSyncs(temporary(), delayMs);
    if (delayed === null) {
      console.error(
        'Skipping slow-disk: it needs a C compiler named cc (Debian: apt-get install gcc libc6-dev).',
      );
      return {};
    }
    const usual = await tatami({ issues: 1_000 });
    const slow = await tatami({ issues: 1_000 }, delayed);
    const created = await interleave(load, effort, { slow: writesOf(slow), usual: writesOf(usual) });
    const reading = start('load/load.ts');
    const situations: Readonly<Record<Situation, { server: TatamiChild; isWritten: boolean }>> = {
      alone: { server: usual, isWritten: false },
      besideWriters: { server: usual, isWritten: true },
      besideSlowWriters: { server: slow, isWritten: true },
    };
    const results: Record<Situation, LoadResult[]> = { alone: [], besideWriters: [], besideSlowWriters: [] };
    const durationMs = effort.roundMs * 2;
    for (let round = -1; round < effort.rounds; round++)
      for (const name of Object.keys(situations) as Situation[]) {
        const { server, isWritten } = situations[name];
        const [result, written] = await Promise.all([
          reading.ask<LoadResult>('run', { ...readsOf(server), durationMs }),
          isWritten ? load.ask<LoadResult>('run', { ...writesOf(server), durationMs }) : null,
        ]);
        if (result.refused > 0 || (written?.refused ?? 0) > 0)
          throw new Error(`${name}: some requests were refused.`);
        if (round >= 0) results[name].push(result);
      }
    return findings(created, {
      alone: sideOf(results.alone),
      besideWriters: sideOf(results.besideWriters),
      besideSlowWriters: sideOf(results.besideSlowWriters),
    });
  });
}

function writesOf({ url, headers, child }: TatamiChild): Omit<LoadPlan, 'durationMs'> {
  return { url, headers, pid: child.pid, method: 'POST', requests: creations, connections: writers };
}

function readsOf({ url, headers, child, issueIds }: TatamiChild): Omit<LoadPlan, 'durationMs'> {
  const requests = issueIds.map((id) => ({ path: `/api/v1/issues/${id}` }));
  const load = { connections: 32, perSecond: readsPerSecond };
  return { url, headers, pid: child.pid, method: 'GET', requests, ...load };
}

function findings(
  created: Readonly<Record<'slow' | 'usual', Side>>,
  { alone, besideWriters, besideSlowWriters }: Readonly<Record<Situation, Side>>,
): Findings {
  return {
    ratios: [
      judged({
        name: `p99 of a read beside ${writers} writers, syncs ${delayMs} ms later`,
        ours: besideSlowWriters.p99Ms,
        yardstick: besideWriters.p99Ms,
        unit: 'ms',
        cpuRatio: null,
        reach: 1.3,
        bound: 'most',
        sides: { 'with the delay': besideSlowWriters, without: besideWriters },
      }),
      judged({
        name: `p50 of a read beside ${writers} writers, to alone`,
        ours: besideWriters.p50Ms,
        yardstick: alone.p50Ms,
        unit: 'ms',
        cpuRatio: null,
        reach: 2,
        bound: 'most',
        sides: { alone },
      }),
      judged({
        name: `durable create, ${writers} clients, syncs ${delayMs} ms later`,
        ours: created.slow.perSecond,
        yardstick: created.usual.perSecond,
        unit: '/s',
        cpuRatio: created.usual.cpuUs / created.slow.cpuUs,
        reach: 0.6,
        bound: 'least',
        sides: { 'with the delay': created.slow, without: created.usual },
      }),
    ],
  };
}
