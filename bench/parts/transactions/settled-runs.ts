// The same creations against two servers in alternating rounds, each until all resulting runs are committed.
import type { LoadPlan, LoadResult } from '../../load/load.ts';
import type { Child } from '../../children.ts';
import { cpuMs } from '../../processes.ts';
import { median, type Side } from '../../report.ts';
import { sideOf, type Effort } from '../../rounds.ts';
import type { TatamiChild } from '../../servers/start.ts';
import { creations } from '../create.ts';

/**
 * @returns the sides; the rate includes the time until all runs are settled, and the CPU time is that of the
 * core per creation
 */
export async function settledRuns<Name extends string>(
  load: Child,
  effort: Effort,
  servers: Readonly<Record<Name, TatamiChild>>,
): Promise<Record<Name, Side>> {
  const names = Object.keys(servers) as Name[];
  const count = Math.round(effort.roundMs * 1.5);
  const rounds = new Map(
    names.map((name) => [
      name,
      { results: [] as LoadResult[], perSecond: [] as number[], cpuUs: [] as number[] },
    ]),
  );
  for (let round = -1; round < effort.rounds; round++)
    // Alternates the order, so that neither server always goes first.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const server = servers[name];
      const startedMs = performance.now();
      const cpuBefore = cpuMs(server.child.pid);
      const result = await load.ask<LoadResult>('run', planOf(server, count));
      await server.child.ask('settled');
      if (result.refused > 0) throw new Error(`${name}: ${result.refused} creations were refused.`);
      if (round < 0) continue;
      const of = rounds.get(name)!;
      of.results.push(result);
      of.perSecond.push((count / (performance.now() - startedMs)) * 1000);
      of.cpuUs.push(((cpuMs(server.child.pid) - cpuBefore) / count) * 1000);
    }
  return Object.fromEntries(
    names.map((name) => {
      const { results, perSecond, cpuUs } = rounds.get(name)!;
      return [name, { ...sideOf(results), perSecond: median(perSecond), cpuUs: median(cpuUs) }];
    }),
  ) as Record<Name, Side>;
}

export function planOf({ url, headers, child }: TatamiChild, count: number): LoadPlan {
  return { url, method: 'POST', requests: creations, headers, connections: 64, count, pid: child.pid };
}
