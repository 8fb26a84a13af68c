// Measures sandbox runs without a server: 16 partitions, two host calls per run with immediate answers. The baseline is bare isolates
// in the same Node, entered the same number of times.
import { exchangeOf } from '../exchange.ts';
import { touch } from '../plugins.ts';
import { judged, median, type Findings, type Side } from '../report.ts';
import type { Effort } from '../rounds.ts';
import { startBareIsolates } from '../servers/bare-isolates-process.ts';
import type { RunsResult, SandboxStart } from '../servers/sandbox-server.ts';
import { withServers } from '../servers/start.ts';

const installs = 4;
const partitions = 4;
const concurrency = installs * partitions;

export function sandbox(effort: Effort): Promise<Findings> {
  const plan = { durationMs: effort.roundMs };
  return withServers(async ({ start }) => {
    const exchange = exchangeOf();
    const ours = start('servers/sandbox-server.ts');
    const document = await touch(partitions);
    await ours.ask('start', { document, exchange, installs, partitions } satisfies SandboxStart);
    await using bare = await startBareIsolates({ exchange, concurrency });
    const sides = { ours: () => ours.ask<RunsResult>('run', plan), bare: () => bare.run(plan) };
    const results = { ours: [] as RunsResult[], bare: [] as RunsResult[] };
    for (let round = -1; round < effort.rounds; round++)
      for (const name of ['ours', 'bare'] as const) {
        const result = await sides[name]();
        if (round >= 0) results[name].push(result);
      }
    return findingsOf(results);
  });
}

function findingsOf(results: Readonly<Record<'ours' | 'bare', RunsResult[]>>): Findings {
  const of = (name: 'ours' | 'bare', field: keyof RunsResult): number =>
    median(results[name].map((result) => result[field]));
  const side = (name: 'ours' | 'bare'): Side => ({
    perSecond: of(name, 'perSecond'),
    cpuUs: of(name, 'coreUs') + of(name, 'sidecarUs'),
    p50Ms: of(name, 'p50Ms'),
    p99Ms: of(name, 'p99Ms'),
  });
  const sides = { ours: side('ours'), bare: side('bare') };
  return {
    ratios: [
      judged({
        name: `runs of the sandbox alone, 2 calls, ${concurrency} partitions`,
        ours: sides.ours.perSecond,
        yardstick: sides.bare.perSecond,
        unit: '/s',
        cpuRatio: sides.bare.cpuUs / sides.ours.cpuUs,
        reach: 0.6,
        isByCpu: true,
        bound: 'least',
        sides,
      }),
    ],
    figures: [
      { name: 'CPU time of the core per run', value: of('ours', 'coreUs'), unit: 'µs' },
      { name: 'CPU time of the sidecar per run', value: of('ours', 'sidecarUs'), unit: 'µs' },
    ],
  };
}
