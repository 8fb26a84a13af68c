// CPU costs as ratios to a baseline that runs in turns with them: a create and a create with a plugin run, each until all background work is
// done, and a start; and the resident memory of an idle server.
import { fileURLToPath } from 'node:url';
import type { LoadResult } from '../load/load.ts';
import { creations } from '../parts/create.ts';
import { touch } from '../plugins.ts';
import { cpuMs, descendantsOf, freePort, rssMb, untilReady } from '../processes.ts';
import { median } from '../report.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';

/** Names of the measured costs. All but `idleMemory` are multiples of the baseline's cost of a create. */
export const costNames = ['create', 'createAndRun', 'start', 'idleMemory'] as const;
export type CostName = (typeof costNames)[number];
export type Costs = Readonly<Record<CostName, number>>;

const warmUp = { create: 3_000, createAndRun: 600 };
const round = { create: 600, createAndRun: 400 };
const rounds = { create: 10, createAndRun: 6, start: 3 };
/** Time after which a started server has nothing left to do. */
const idleMs = 1_500;
const connections = 64;

interface Side {
  /** Sends creations and resolves with the CPU time of each in microseconds, background work included. */
  create(count: number): Promise<number>;
}

/** @param only measures these costs */
export function measureCosts(only: readonly CostName[]): Promise<Partial<Costs>> {
  return withServers(async (bench) => {
    const costs: Partial<Record<CostName, number>> = {};
    const bare = await bench.yardstick();
    const baseline: Side = {
      async create(count) {
        const plan = { url: bare.url, pid: bare.child.pid, headers: {}, count };
        return (await send(bench, plan)).cpuUs;
      },
    };
    await baseline.create(warmUp.create);
    if (only.includes('create'))
      costs.create = await ratio(sideOf(bench, await bench.tatami()), baseline, 'create');
    if (only.includes('createAndRun')) {
      const server = await bench.tatami();
      await server.child.ask('install', await touch());
      costs.createAndRun = await ratio(sideOf(bench, server), baseline, 'createAndRun');
    }
    if (only.includes('start') || only.includes('idleMemory')) {
      const starts: { cpuMs: number; rssMb: number; baselineUs: number }[] = [];
      for (let n = -1; n < rounds.start; n++) {
        const baselineUs = await baseline.create(round.create);
        const started = await startOnce(bench.temporary());
        if (n >= 0) starts.push({ ...started, baselineUs });
      }
      costs.start = median(starts.map((one) => (one.cpuMs * 1_000) / one.baselineUs));
      costs.idleMemory = median(starts.map((one) => one.rssMb));
    }
    return costs;
  });
}

async function ratio(ours: Side, baseline: Side, what: 'create' | 'createAndRun'): Promise<number> {
  await ours.create(warmUp[what]);
  const costs = { ours: [] as number[], baseline: [] as number[] };
  for (let n = 0; n < rounds[what]; n++) {
    costs.ours.push(await ours.create(round[what]));
    costs.baseline.push(await baseline.create(round.create));
  }
  return median(costs.ours) / median(costs.baseline);
}

/** The costs of a server include those of its sidecars. */
function sideOf(bench: Bench, { url, headers, child }: TatamiChild): Side {
  const cpu = (): number =>
    [child.pid, ...descendantsOf(child.pid)].reduce((sum, pid) => sum + cpuMs(pid), 0);
  return {
    async create(count) {
      const before = cpu();
      await send(bench, { url, headers, pid: child.pid, count });
      await child.ask('settled');
      return ((cpu() - before) / count) * 1_000;
    },
  };
}

async function send(
  { load }: Bench,
  plan: { url: string; headers: Readonly<Record<string, string>>; pid: number; count: number },
): Promise<LoadResult> {
  const result = await load.ask<LoadResult>('run', {
    ...plan,
    method: 'POST',
    requests: creations,
    connections,
  });
  if (result.refused > 0) throw new Error(`${result.refused} creations were refused.`);
  return result;
}

const command = fileURLToPath(new URL('../../bin/tatami', import.meta.url));

async function startOnce(dataDir: string): Promise<{ cpuMs: number; rssMb: number }> {
  const port = freePort();
  const child = Bun.spawn([command, 'serve', '--data-dir', dataDir, '--port', `${port}`], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  try {
    await untilReady(`http://127.0.0.1:${port}`, performance.now());
    const cpu = cpuMs(child.pid);
    await Bun.sleep(idleMs);
    return { cpuMs: cpu, rssMb: rssMb(child.pid) };
  } finally {
    child.kill();
    await child.exited;
  }
}
