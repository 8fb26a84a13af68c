// Creation with one plugin (4 partitions) that reads and updates each issue, until all of its runs are committed, against creation
// without it.
import type { LoadPlan, LoadResult } from '../load/load.ts';
import { touch } from '../plugins.ts';
import { cpuMs, descendantsOf } from '../processes.ts';
import { judged, median, type Findings, type Side } from '../report.ts';
import { sideOf, type Effort } from '../rounds.ts';
import { withServers, type TatamiChild } from '../servers/start.ts';
import { creations } from './create.ts';

export function pluginRuns(effort: Effort): Promise<Findings> {
  const count = Math.round(effort.roundMs * 1.5);
  return withServers(async ({ load, tatami }) => {
    const without = await tatami();
    const withPlugin = await tatami();
    await withPlugin.child.ask('install', await touch());
    const servers = { ours: withPlugin, without };
    const results = { ours: [] as LoadResult[], without: [] as LoadResult[] };
    const settledRates = { ours: [] as number[], without: [] as number[] };
    const cpuUs = { ours: [] as number[], without: [] as number[] };
    const sidecarUs: number[] = [];
    for (let round = -1; round < effort.rounds; round++)
      for (const name of ['ours', 'without'] as const) {
        const startedMs = performance.now();
        const cpuBefore = cpuMs(servers[name].child.pid);
        const sidecarsBefore = cpuOfSidecars(servers[name]);
        const result = await load.ask<LoadResult>('run', planOf(servers[name], count));
        await servers[name].child.ask('settled');
        if (result.refused > 0) throw new Error(`${name}: ${result.refused} creations were refused.`);
        if (round < 0) continue;
        results[name].push(result);
        cpuUs[name].push(((cpuMs(servers[name].child.pid) - cpuBefore) / count) * 1000);
        settledRates[name].push((count / (performance.now() - startedMs)) * 1000);
        if (name === 'ours') sidecarUs.push(((cpuOfSidecars(servers.ours) - sidecarsBefore) / count) * 1000);
      }
    await everyIssueWasTouched(withPlugin, count * (effort.rounds + 1));
    const side = (name: 'ours' | 'without'): Side => ({
      ...sideOf(results[name]),
      perSecond: median(settledRates[name]),
      cpuUs: median(cpuUs[name]),
    });
    return {
      ratios: [
        judged({
          name: 'create with a plugin, settled',
          ours: median(settledRates.ours),
          yardstick: median(settledRates.without),
          unit: '/s',
          cpuRatio: median(cpuUs.without) / median(cpuUs.ours),
          reach: 0.35,
          bound: 'least',
          sides: { 'with a plugin': side('ours'), without: side('without') },
        }),
      ],
      figures: [
        {
          name: 'CPU time of the core per run, without its creation',
          value: median(cpuUs.ours) - median(cpuUs.without),
          unit: 'µs',
        },
        { name: 'CPU time of the sidecars per run', value: median(sidecarUs), unit: 'µs' },
      ],
    };
  });
}

function planOf(server: TatamiChild, count: number): LoadPlan {
  const { url, headers, child } = server;
  return { url, method: 'POST', requests: creations, headers, connections: 64, count, pid: child.pid };
}

/**
 * Returns the CPU time of the sidecars in milliseconds. Assumes that no sidecar is replaced during a round:
 * the time of an exited process is lost.
 */
function cpuOfSidecars({ child }: TatamiChild): number {
  return descendantsOf(child.pid).reduce((sum, pid) => sum + cpuMs(pid), 0);
}

/** Checks that the plugin updated every issue; the measurement is meaningless otherwise. */
async function everyIssueWasTouched(server: TatamiChild, count: number): Promise<void> {
  const path = `/issues?priority=none&limit=1`;
  const { data } = await server.child.ask<{ data: unknown[] }>('call', { method: 'GET', path });
  if (data.length > 0) throw new Error(`Not all of ${count} issues were updated by the plugin.`);
}
