// Start time and memory of `tatami serve`, reported without targets, and the CPU time of a start of the executable
// against one from source.
import { join } from 'node:path';
import { packageRoot } from '../../core/platform/lib/process/own-program.ts';
import { crowd, touch } from '../plugins.ts';
import { childrenOf, cpuMs, freePort, rssMb, untilReady } from '../processes.ts';
import { judged, median, type Figure, type Findings, type Ratio } from '../report.ts';
import type { Effort } from '../rounds.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';

const fromSource = join(packageRoot, 'bin/tatami');
const restMs = 1_500;
const crowdSize = 200;

export function footprint(effort: Effort): Promise<Findings> {
  return withServers(async (bench) => {
    const starts: number[] = [];
    const dataDir = bench.temporary();
    const first = await startMain(dataDir, ['--first-start']);
    for (let round = 0; round < effort.rounds; round++)
      starts.push((await startMain(bench.temporary(), [])).readyMs);
    return {
      ratios: [await compareStarts(bench.temporary(), dataDir, effort)],
      figures: [
        { name: 'start to ready, empty data directory (median)', value: median(starts), unit: 'ms' },
        { name: 'start to ready, first start with a workspace', value: first.readyMs, unit: 'ms' },
        { name: 'RSS idle, no plugin', value: (await startMain(bench.temporary(), [])).rss, unit: 'MiB' },
        ...(await withPlugins(bench)),
      ],
    };
  });
}

/** @param folder for the executable and the files that it unpacks */
async function compareStarts(folder: string, dataDir: string, { rounds }: Effort): Promise<Ratio> {
  const target = `linux-${process.arch}`;
  const build = ['build/main.ts', '--target', target, '--level', '3', '--out', folder];
  const { success, stderr } = Bun.spawnSync([process.execPath, ...build], { cwd: packageRoot });
  if (!success) throw new Error(`The build failed: ${stderr.toString()}`);
  const executable = join(folder, `tatami-${target}`);
  const env = { TATAMI_CACHE_DIR: join(folder, 'cache') };
  const cpu: Record<string, number[]> = { [executable]: [], [fromSource]: [] };
  for (let round = -1; round < rounds; round++)
    for (const [command, used] of Object.entries(cpu)) {
      const start = await startMain(dataDir, [], { command, env });
      if (round >= 0) used.push(start.cpu);
    }
  return judged({
    name: 'start of the executable on existing data, CPU time',
    ours: median(cpu[executable]!),
    yardstick: median(cpu[fromSource]!),
    unit: 'ms',
    cpuRatio: null,
    reach: 1.3,
    bound: 'most',
    sides: {},
  });
}

interface Program {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Start {
  readonly readyMs: number;
  /** MiB */
  readonly rss: number;
  /** Until it rests, in milliseconds. */
  readonly cpu: number;
}

async function startMain(
  dataDir: string,
  flags: readonly string[],
  { command, env }: Program = { command: fromSource, env: {} },
): Promise<Start> {
  const port = freePort();
  const startedMs = performance.now();
  const child = Bun.spawn([command, 'serve', '--data-dir', dataDir, '--port', `${port}`, ...flags], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  try {
    const readyMs = await untilReady(`http://127.0.0.1:${port}`, startedMs);
    await Bun.sleep(restMs);
    return { readyMs, rss: rssMb(child.pid), cpu: cpuMs(child.pid) };
  } finally {
    child.kill();
    await child.exited;
  }
}

async function withPlugins(bench: Bench): Promise<Figure[]> {
  const server = await bench.tatami();
  await server.child.ask('install', await touch(1));
  await runAll(server);
  const one = memoryOf(server);
  for (const document of await crowd(crowdSize)) await server.child.ask('install', document);
  await runAll(server);
  const many = memoryOf(server);
  return [
    { name: 'RSS idle, one plugin: core', value: one.core, unit: 'MiB' },
    { name: 'RSS idle, one plugin: sidecars (active and standby)', value: one.sidecars, unit: 'MiB' },
    { name: `RSS, ${crowdSize} plugins after one run each: core`, value: many.core, unit: 'MiB' },
    { name: `RSS, ${crowdSize} plugins after one run each: sidecars`, value: many.sidecars, unit: 'MiB' },
  ];
}

/** Creates one event for every plugin and waits until memory settles. */
async function runAll(server: TatamiChild): Promise<void> {
  const body = { team: 'ENG', title: 'For every plugin' };
  await server.child.ask('call', { method: 'POST', path: '/issues', body });
  await server.child.ask('settled');
  await Bun.sleep(restMs);
}

function memoryOf({ child }: TatamiChild): { core: number; sidecars: number } {
  return {
    core: rssMb(child.pid),
    sidecars: childrenOf(child.pid).reduce((sum, pid) => sum + rssMb(pid), 0),
  };
}
