// The sandbox as the rest of the core sees it: jobs go in, outcomes come out.
import type { Clock } from '../lib/clock.ts';
import type { SidecarPrograms } from './fleet/bundle.ts';
import type { Role } from './fleet/fleet.ts';
import type { JailLevel } from './jail/level.ts';
import type { LogLevel, Progress, RunLimits, Told } from './protocol.ts';
import type { HandlerKind } from '../../sdk/plugin/handlers.ts';

export interface Sandbox {
  /** Runs one handler in the partition's warm isolate, loading it when needed; one at a time per (install, partition), further jobs for it queue inside. Never rejects. */
  run(job: SandboxJob): Promise<SandboxOutcome>;
  /** Uninstall, upgrade, disable: its idle isolates, bundles and strikes are forgotten. */
  evict(installId: string): void;
  status(): SandboxStatus;
  /** Kills the sidecars; every open job comes back as interrupted. Leaves no process and no timer. */
  stop(): Promise<void>;
}

export interface SandboxStatus {
  state: 'ready' | 'starting' | 'down';
  jail: JailLevel;
  /** Those that can take runs. */
  sidecars: { pid: number; role: Role; rssBytes: number; isolates: number }[];
}

export interface SandboxJob {
  runId: string;
  workspaceId: string;
  installId: string;
  partition: number;
  /** One bundled ES module; the source crosses the wire once per sidecar. `handlers`, when given, are the manifest's (`event:issue.created`, `schedule:learn`): code that registers others fails at start-up. */
  code: { sha256: string; source: string; handlers?: string[] };
  handler: { kind: HandlerKind; name: string };
  /** JSON `{event, run, settings, nowMs, seed, scopes?}`; `scopes` are the granted ones, for `ctx.has`. */
  input: string;
  limits: RunLimits;
  /** `op` such as `issues.get`; `args` is what the guest claims to be the JSON text of an array, no longer than `textMaxOf(op)`. */
  call(op: string, args: string): Promise<CallAnswer>;
  /** Schedules and replays: an isolate of its own, beside the partition's queue. */
  fresh?: boolean;
  /** Is told what the run says and hears, for its recording. */
  tape?: Tape;
  /** Of a replay, which needs `fresh`: what its calls and timers are answered, in place of `call` and of time. */
  pace?: Pace;
  /** Once aborted, the run is stopped and comes back as interrupted. */
  signal?: AbortSignal;
}

/** What a run says and hears, in its order. It may keep what it is given, which nobody changes. */
export interface Tape {
  /** The run begins, perhaps once more. */
  begin(): void;
  told(message: Told): void;
  /** The guest has been given so many messages, the order of its run among them, and made these calls. */
  heard(acked: number, calls: readonly MadeCall[]): void;
}

/** `sleep` is a timer. Calls are numbered as they are made, from any number on. */
export type MadeCall = readonly [call: number, op: string, args: string];

export interface Pace {
  /** The guest made a call or set a timer. @returns false where the run is to end here */
  take(call: MadeCall): boolean;
  /** The guest has had everything, and waits or has come to its end. @returns what it is given next, all at once; null where it is to end here */
  next(): readonly Paced[] | null;
}

export interface Paced {
  readonly call: number;
  readonly answer: CallAnswer;
  /** The run's age on the guest's clock from then on. */
  readonly elapsedMs: number;
}

/** `value` is JSON text; the guest sees an error as a thrown error with `.code`. */
export type CallAnswer =
  { ok: true; value: string } | { ok: false; error: { code: string; message: string } };

export interface RunUsage {
  cpuMs: number;
  memoryBytes: number;
  wallMs: number;
  queueMs: number;
  calls: number;
  logs: { level: LogLevel; message: string; atMs: number }[];
}

type FailureReason =
  | 'error'
  | 'retry_later'
  | 'drop'
  | 'invalid_result'
  | 'cpu'
  | 'wall'
  | 'memory'
  | 'call_budget'
  | 'startup'
  | 'rejection'
  | 'killed'
  | 'protocol';

export type SandboxOutcome = RunUsage &
  /** `progress`: of a schedule that said how far it came. `result`: JSON text that an action or a route returned, as the guest claims. */
  (
    | { status: 'succeeded'; progress?: Progress; result?: string }
    /** `killed`: the isolate or process died of it, a strike. */
    | {
        status: 'failed';
        reason: FailureReason;
        message: string;
        retryAfterMs?: number;
        killed: boolean;
        /** Of what was thrown, as V8 writes it; places are of the bundle, named `plugin.js`. */
        stack?: string;
      }
    /** Lost through no fault of this plugin, or unclear whose: run it again, no strike. */
    | { status: 'interrupted'; message: string }
  );

export interface SandboxOptions {
  nodePath: string;
  log: (level: 'info' | 'warn' | 'error', message: string, fields?: object) => void;
  clock: () => number;
  /** Timer of the first standby; the machine's by default. */
  after?: Clock['after'];
  /** `auto` takes what the kernel gives and logs it, `strict` refuses to start with less than all of it. */
  jail: 'auto' | 'strict' | 'off';
  /** Plugins of which one sidecar may hold several: all, those of one workspace, or none but the install itself. */
  split?: 'none' | 'workspace' | 'install';
  /** In place of the sidecar's own programs: tests put a hostile one there. */
  programs?: SidecarPrograms;
  /** Warm isolates per sidecar, the least recently used go first. */
  isolatesMax?: number;
  /** Runs in flight in the active sidecar, waiting ones included. */
  concurrentRunsMax?: number;
}
