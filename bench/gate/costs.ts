// CPU costs as ratios to a baseline that runs in turns with them: a create and a create with a plugin run, each until all background work is
// done, and a start; and the resident memory of an idle server.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, lockPath } from '../../core/app/start/cache.ts';
import { packageRoot } from '../../core/platform/lib/process/own-program.ts';
import type { LoadResult } from '../load/load.ts';
import { creations } from '../parts/create.ts';
import { touch } from '../plugins.ts';
import { cpuMs, descendantsOf, freePort, pagesTouched, rssMb, untilReady, workUs } from '../processes.ts';
import { median } from '../report.ts';
import type { YardstickStart } from '../yardstick/server.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';

/**
 * Names of the measured costs: multiples of a create of the baseline, `start` one of a start of it, `startPages` pages of memory,
 * and `idleMemory` MiB.
 */
export const costNames = ['create', 'createAndRun', 'start', 'startPages', 'idleMemory'] as const;
export type CostName = (typeof costNames)[number];
export type Costs = Readonly<Record<CostName, number>>;

const warmUp = { create: 3_000, createAndRun: 600 };
const round = { create: 600, createAndRun: 400 };
const rounds = { create: 10, createAndRun: 6, start: 3 };
/** Time after which a started server has nothing left to do. */
const idleMs = 1_500;
const bundleMsMax = 60_000;
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
        const before = workUs(bare.child.pid);
        await send(bench, { url: bare.url, pid: bare.child.pid, headers: {}, count });
        return (workUs(bare.child.pid) - before) / count;
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
    if (only.some((name) => name === 'start' || name === 'startPages' || name === 'idleMemory')) {
      await startOnce(bench.temporary());
      await bundleIsBuilt();
      const starts: Start[] = [];
      const bareStarts: number[] = [];
      for (let n = 0; n < rounds.start; n++) {
        bareStarts.push(await startBare(bench));
        starts.push(await startOnce(bench.temporary()));
      }
      costs.start = (median(starts.map((one) => one.cpuMs)) * 1_000) / median(bareStarts);
      costs.startPages = median(starts.map((one) => one.pages));
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

/** Returns the CPU time in microseconds of a start of the baseline server. */
async function startBare(bench: Bench): Promise<number> {
  const child = bench.start('yardstick/server.ts');
  await child.ask('start', {
    path: join(bench.temporary(), 'yardstick.db'),
    issues: 0,
  } satisfies YardstickStart);
  const cpuUs = await child.ask<number>('cpuUs');
  await child.kill();
  return cpuUs;
}

/** A server that starts from source requests the start-up bundle, which another process builds. */
async function bundleIsBuilt(): Promise<void> {
  const isBuilt = (): boolean =>
    readdirSync(cacheFolder(packageRoot)).some((name) => /^[0-9a-f]{32}$/.test(name)) &&
    lstatSync(lockPath(packageRoot), { throwIfNoEntry: false }) === undefined;
  for (const endMs = performance.now() + bundleMsMax; !isBuilt(); await Bun.sleep(100))
    if (performance.now() > endMs) throw new Error('The start-up bundle was not built.');
}

const command = fileURLToPath(new URL('../../bin/tatami', import.meta.url));

interface Start {
  readonly cpuMs: number;
  readonly pages: number;
  readonly rssMb: number;
}

async function startOnce(dataDir: string): Promise<Start> {
  const port = freePort();
  const child = Bun.spawn([command, 'serve', '--data-dir', dataDir, '--port', `${port}`], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  try {
    await untilReady(`http://127.0.0.1:${port}`, performance.now());
    const start = { cpuMs: cpuMs(child.pid), pages: pagesTouched(child.pid) };
    await Bun.sleep(idleMs);
    return { ...start, rssMb: rssMb(child.pid) };
  } finally {
    child.kill();
    await child.exited;
  }
}
