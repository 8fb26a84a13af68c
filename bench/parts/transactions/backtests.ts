// Backtests against live runs of the same plugin on the same server: each round creates issues until their runs are committed, then
// backtests the plugin on exactly these events.
import type { LoadResult } from '../../load/load.ts';
import { touch } from '../../plugins.ts';
import { judged, median, type Findings } from '../../report.ts';
import { sideOf, type Effort } from '../../rounds.ts';
import { withServers, type TatamiChild } from '../../servers/start.ts';
import { cpuMs } from '../../processes.ts';
import { planOf } from './settled-runs.ts';

interface Backtest {
  readonly id: string;
  readonly status: string;
  readonly report: { readonly runs: { readonly total: number; readonly failed: number } } | null;
}

const pollMs = 10;

export function backtests(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, tatami }) => {
    const server = await tatami();
    await server.child.ask('install', await touch());
    const count = Math.round(effort.roundMs * 1.5);
    const results: LoadResult[] = [];
    const rates = { live: [] as number[], past: [] as number[] };
    const cpu = { live: [] as number[], past: [] as number[] };
    for (let round = -1; round < effort.rounds; round++) {
      const since = new Date().toISOString();
      const live = await timed(server, count, async () => {
        const result = await load.ask<LoadResult>('run', planOf(server, count));
        await server.child.ask('settled');
        if (result.refused > 0) throw new Error(`${result.refused} creations were refused.`);
        results.push(result);
      });
      const past = await timed(server, count, () => backtest(server, since, count));
      if (round < 0) continue;
      for (const [side, one] of Object.entries({ live, past }) as ['live' | 'past', typeof live][]) {
        rates[side].push(one.perSecond);
        cpu[side].push(one.cpuUs);
      }
    }
    const [ours, yardstick] = [median(rates.past), median(rates.live)];
    const side = sideOf(results.slice(1));
    return {
      ratios: [
        judged({
          ...{ name: 'events of a backtest against live runs', unit: '/s', reach: 1.5, bound: 'least' },
          ...{ ours, yardstick },
          cpuRatio: median(cpu.live) / median(cpu.past),
          sides: { live: { ...side, perSecond: yardstick, cpuUs: median(cpu.live) } },
        }),
      ],
    };
  });
}

async function timed({ child }: TatamiChild, count: number, work: () => Promise<void>) {
  const startedMs = performance.now();
  const cpuBefore = cpuMs(child.pid);
  await work();
  return {
    perSecond: (count / (performance.now() - startedMs)) * 1000,
    cpuUs: ((cpuMs(child.pid) - cpuBefore) / count) * 1000,
  };
}

async function backtest({ child }: TatamiChild, since: string, count: number): Promise<void> {
  const path = '/plugins/touch/backtests';
  let one = await child.ask<Backtest>('call', { method: 'POST', path, body: { since } });
  while (['queued', 'running'].includes(one.status)) {
    await Bun.sleep(pollMs);
    one = await child.ask<Backtest>('call', { method: 'GET', path: `/backtests/${one.id}` });
  }
  const { total, failed } = one.report?.runs ?? { total: 0, failed: 0 };
  if (total !== count || failed > 0)
    throw new Error(`The backtest is ${one.status}: ${total} runs of ${count}, ${failed} of them failed.`);
}
