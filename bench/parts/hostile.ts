// Latency of reads at a steady rate, and of the runs of a well-behaved plugin, while eight plugins loop,
// allocate and spam on a few new issues a second, against the same server with those plugins paused. Plugins
// that the server disables are enabled again each second, which is harsher than production, where a plugin
// stays disabled after three kills.
import type { LoadPlan, LoadResult } from '../load/load.ts';
import { percentilesOf } from '../latencies.ts';
import { hostile as hostilePlugins, touch } from '../plugins.ts';
import { judged, type Figure, type Findings, type Side } from '../report.ts';
import { sideOf, type Effort } from '../rounds.ts';
import { withServers, type TatamiChild } from '../servers/start.ts';
import { creations } from './create.ts';

const readsPerSecond = 1_000;
const eventsPerSecond = 3;

export function hostile(effort: Effort): Promise<Findings> {
  const roundMs = effort.roundMs * 2;
  return withServers(async ({ load, tatami }) => {
    const server = await tatami({ issues: 1_000 });
    const honest = await server.child.ask<string>('install', await touch(1));
    const ids: string[] = [];
    for (const document of await hostilePlugins()) ids.push(await server.child.ask('install', document));
    const results = { ours: [] as LoadResult[], without: [] as LoadResult[] };
    const honestMs = { ours: [] as number[], without: [] as number[] };
    let revived = 0;
    for (let round = -1; round < effort.rounds; round++)
      for (const name of ['ours', 'without'] as const) {
        const active = name === 'ours';
        await setAll(server, ids, active);
        if (!active) await server.child.ask('settled');
        const startedAt = Date.now();
        const again = active
          ? setInterval(() => void setAll(server, ids, true).then((n) => (revived += n)), 1_000)
          : null;
        const [result] = await Promise.all([
          load.ask<LoadResult>('run', readsOf(server, roundMs)),
          load.ask<LoadResult>('run', eventsOf(server, roundMs)),
        ]);
        if (again) clearInterval(again);
        if (result.refused > 0) throw new Error(`${result.refused} reads were refused.`);
        if (round < 0) continue;
        results[name].push(result);
        honestMs[name].push(...(await honestRuns(server, honest, startedAt)));
      }
    const sides: Record<'ours' | 'without', Side> = {
      ours: sideOf(results.ours),
      without: sideOf(results.without),
    };
    return {
      ratios: [
        judged({
          name: 'p99 of a read beside 8 hostile plugins',
          ours: sides.ours.p99Ms,
          yardstick: sides.without.p99Ms,
          unit: 'ms',
          cpuRatio: null,
          reach: 1.5,
          bound: 'most',
          sides: { 'beside them': sides.ours, without: sides.without },
        }),
      ],
      figures: [
        ...honestFigures('beside them', honestMs.ours),
        ...honestFigures('without', honestMs.without),
        { name: 'hostile plugins disabled, then enabled again', value: revived, unit: 'times' },
      ],
    };
  });
}

interface RunSummary {
  readonly status: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

/** Time from the event to the end of each run since then, in whole milliseconds. */
async function honestRuns(server: TatamiChild, id: string, sinceMs: number): Promise<number[]> {
  const path = `/plugins/${id}/runs?limit=100`;
  const { data } = await server.child.ask<{ data: RunSummary[] }>('call', { method: 'GET', path });
  const runs = data.filter(({ createdAt }) => Date.parse(createdAt) >= sinceMs);
  const done = runs.filter(({ status }) => status === 'succeeded');
  if (done.length < runs.length - 2)
    throw new Error(`${done.length} of ${runs.length} well-behaved runs succeeded.`);
  return done.map(({ createdAt, finishedAt }) => Date.parse(finishedAt ?? '') - Date.parse(createdAt));
}

function honestFigures(side: string, latenciesMs: readonly number[]): Figure[] {
  const { p50Ms, p99Ms } = percentilesOf(latenciesMs);
  return [
    { name: `a well-behaved run ${side}, p50`, value: p50Ms, unit: 'ms' },
    { name: `a well-behaved run ${side}, p99`, value: p99Ms, unit: 'ms' },
  ];
}

function readsOf(server: TatamiChild, durationMs: number): LoadPlan {
  const requests = server.issueIds.map((id) => ({ path: `/api/v1/issues/${id}` }));
  return {
    ...common(server, durationMs),
    method: 'GET',
    requests,
    connections: 16,
    perSecond: readsPerSecond,
  };
}

function eventsOf(server: TatamiChild, durationMs: number): LoadPlan {
  const plan = { ...common(server, durationMs), method: 'POST', requests: creations } as const;
  return { ...plan, connections: 2, perSecond: eventsPerSecond };
}

function common({ url, headers, child }: TatamiChild, durationMs: number) {
  return { url, headers, durationMs, pid: child.pid };
}

/** @returns the number of plugins whose state was changed */
async function setAll(server: TatamiChild, ids: readonly string[], active: boolean): Promise<number> {
  const state = active ? 'active' : 'paused_by_admin';
  let changed = 0;
  for (const id of ids) {
    const known = await server.child.ask<{ state: string }>('call', {
      method: 'GET',
      path: `/plugins/${id}`,
    });
    if (known.state === state) continue;
    changed++;
    await server.child.ask('call', { method: 'PATCH', path: `/plugins/${id}`, body: { state } });
  }
  return changed;
}
