// Helpers of the sandbox tests: a real sandbox, jobs for it, and the number of processes that remain.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNode } from '../../core/platform/sandbox/locate.ts';
import { startSandbox } from '../../core/platform/sandbox/supervisor.ts';
import type {
  CallAnswer,
  RunLimits,
  Sandbox,
  SandboxJob,
  SandboxOptions,
  SandboxOutcome,
} from '../../core/platform/sandbox/supervisor.ts';
import { sha256Hex } from '../../sdk/plugin/manifest.ts';
import { bundlePlugin } from '../../sdk/plugin/bundle.ts';

/** The defaults of an event handler, with a short wall time so that tests of waiting runs are fast. */
export const eventLimits: RunLimits = {
  cpuMs: 250,
  entryMs: 100,
  wallMs: 3000,
  memoryMb: 32,
  calls: 100,
  concurrentCalls: 6,
  logBytes: 16 * 1024,
  logLines: 100,
  startupMs: 250,
};

export interface TestSandbox extends Sandbox {
  logged: { level: string; message: string; fields: object | undefined }[];
}

export async function openSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const logged: TestSandbox['logged'] = [];
  const log: SandboxOptions['log'] = (level, message, fields) => void logged.push({ level, message, fields });
  const sandbox = await startSandbox({
    nodePath: findNode(),
    log,
    clock: Date.now,
    jail: 'auto',
    ...options,
  });
  return {
    run: (job) => sandbox.run(job),
    evict: (id) => sandbox.evict(id),
    status: () => sandbox.status(),
    stop: () => sandbox.stop(),
    logged,
  };
}

/** Value for `after`: the standby sidecar starts without delay. */
export const standbyAtOnce: NonNullable<SandboxOptions['after']> = (_delayMs, start) => {
  const timer = setTimeout(start, 0);
  return () => clearTimeout(timer);
};

export interface Code {
  sha256: string;
  source: string;
  handlers?: string[];
}

export async function codeOf(source: string): Promise<Code> {
  return { sha256: await sha256Hex(source), source };
}

/** A plugin with one handler for `issue.created`, whose body is given. */
export function pluginOf(body: string, before = ''): Promise<Code> {
  const scopes = `{ 'issues:write': {}, 'comments:write': {}, 'labels:read': {} }`;
  return codeOf(
    `${before}\nexport default { scopes: ${scopes}, on: { 'issue.created': { async handle(event, ctx) { ${body} } } } };`,
  );
}

export async function bundleFile(name: string): Promise<Code> {
  return codeOf((await bundlePlugin(join(import.meta.dir, name))).code);
}

let nextRun = 1;

/** Returns the arguments, except for ids with a special meaning in tests. */
async function answerCall(op: string, args: string): Promise<CallAnswer> {
  if (op === 'net.fetch')
    return { ok: false, error: { code: 'egress_denied', message: 'The manifest names no host.' } };
  if (args === '["fail"]')
    return { ok: false, error: { code: 'not_found', message: 'There is no such issue.' } };
  return { ok: true, value: JSON.stringify({ op, args: args.slice(0, 200) }) };
}

export function jobOf(installId: string, code: Code, more: Partial<SandboxJob> = {}): SandboxJob {
  const event = { id: 'evt_1', type: 'issue.created', data: { id: 'iss_1', title: 'Ping' } };
  const run = { id: 'run_1', attempt: 1, mode: 'apply', depth: 0 };
  return {
    runId: `run_${nextRun++}`,
    workspaceId: 'wsp_1',
    installId,
    partition: 0,
    code,
    handler: { kind: 'event', name: 'issue.created' },
    input: JSON.stringify({ event, run, settings: {}, nowMs: 1_790_000_000_000, seed: 'seed' }),
    limits: eventLimits,
    call: answerCall,
    ...more,
  };
}

/** Repeats a job while it is interrupted, as the runtime does. */
export async function runToEnd(
  sandbox: Sandbox,
  job: SandboxJob,
): Promise<Exclude<SandboxOutcome, { status: 'interrupted' }>> {
  for (let attempt = 1; attempt <= 20; attempt++) {
    const outcome = await sandbox.run(job);
    if (outcome.status !== 'interrupted') return outcome;
  }
  throw new Error('interrupted twenty times');
}

/** Live descendants of this process that run our Node. */
export function sidecarPids(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => isSidecar(pid)).map(Number);
}

/** Behind `unshare` a sidecar is a grandchild. */
function isSidecar(pid: string): boolean {
  try {
    const { state, parent } = statOf(pid);
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return (
      state !== 'Z' &&
      /--jitless/.test(command) &&
      !/unshare/.test(command) &&
      [parent, statOf(parent).parent].includes(String(process.pid))
    );
  } catch {
    return false;
  }
}

function statOf(pid: string): { state: string; parent: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, parent };
}

/** Waits for the effect of another event loop; the time limit is a bound, not a measurement. */
export async function until(what: string, holds: () => boolean, withinMs = 40_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`Timed out: ${what}.`);
    await Bun.sleep(10);
  }
}
