// The sandbox alone, in a separate process: the real supervisor, sidecars and jail, with a stub that answers
// every host call at once.
import { findNode } from '../../core/platform/sandbox/locate.ts';
import { startSandbox, type Sandbox, type SandboxJob } from '../../core/platform/sandbox/supervisor.ts';
import { limitsOf } from '../../core/features/plugins/planning/limits.ts';
import type { PluginPackage } from '../../sdk/plugin/manifest.ts';
import { answerParent } from '../children.ts';
import type { Exchange } from '../exchange.ts';
import { percentilesOf } from '../latencies.ts';
import { cpuMs } from '../processes.ts';

export interface SandboxStart {
  readonly document: PluginPackage;
  readonly exchange: Exchange;
  readonly installs: number;
  readonly partitions: number;
}

export interface RunsResult {
  readonly runs: number;
  readonly perSecond: number;
  /** CPU time of this process and of the sidecar, per run. */
  readonly coreUs: number;
  readonly sidecarUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

let sandbox: Sandbox;
let jobs: SandboxJob[] = [];

async function start({ document, exchange, installs, partitions }: SandboxStart): Promise<string> {
  const log = process.env.BENCH_LOG ? console.error : () => undefined;
  sandbox = await startSandbox({ nodePath: findNode(), jail: 'auto', clock: Date.now, log });
  const { manifest, code: source, sha256 } = document;
  const handler = { kind: 'event', name: 'issue.created' } as const;
  const [get, update] = exchange.answers;
  jobs = Array.from({ length: installs * partitions }, (_, partitionIndex) => ({
    runId: `run_${partitionIndex}`,
    workspaceId: 'ws_bench',
    installId: `plg_${partitionIndex % installs}`,
    partition: Math.floor(partitionIndex / installs),
    code: { sha256, source, handlers: [...manifest.handlers] },
    handler,
    input: exchange.input,
    limits: limitsOf(manifest, handler),
    call: async (op) => ({ ok: true, value: op === 'issues.get' ? get : update }),
  }));
  return sandbox.status().jail;
}

/** Every partition starts its next run when the last one has ended. */
async function run({ durationMs }: { durationMs: number }): Promise<RunsResult> {
  const active = sandbox.status().sidecars.find(({ role }) => role === 'active');
  if (!active) throw new Error('No sidecar is ready.');
  const before = { core: process.cpuUsage(), sidecarMs: cpuMs(active.pid) };
  const startedMs = performance.now();
  const endsMs = startedMs + durationMs;
  const latencies: number[] = [];
  const partitionIndex = async (job: SandboxJob): Promise<void> => {
    for (let now = performance.now(); now < endsMs; now = performance.now()) {
      const outcome = await sandbox.run(job);
      if (outcome.status !== 'succeeded' || outcome.calls !== 2)
        throw new Error(`Unexpected outcome of a run: ${JSON.stringify(outcome)}`);
      latencies.push(performance.now() - now);
    }
  };
  await Promise.all(jobs.map(partitionIndex));
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before.core);
  const runs = latencies.length;
  return {
    runs,
    perSecond: (runs / tookMs) * 1000,
    coreUs: (user + system) / runs,
    sidecarUs: ((cpuMs(active.pid) - before.sidecarMs) / runs) * 1000,
    ...percentilesOf(latencies),
  };
}

answerParent({ start, run });
