// Interface of the sandbox to the rest of the core.
import type { Clock } from '../lib/time/clock.ts';
import type { SidecarPrograms } from './fleet/spawn.ts';
import type { SidecarRole } from './fleet/fleet.ts';
import type { JailLevel } from './jail/level.ts';
import type { GuestLogLevel, GuestProgress, RunLimits, CallReply } from './protocol.ts';
import type { HandlerKind } from '../../../sdk/plugin/handlers.ts';

export interface Sandbox {
  /**
   * Runs one handler in the warm isolate of its partition, loading it if needed. Jobs of one (install, partition) run one at a time,
   * the others are queued. Never rejects.
   */
  run(job: SandboxJob): Promise<SandboxOutcome>;
  /** Drops the idle isolates, bundles and violations of an install. Call on uninstall, upgrade and disable. */
  evict(installId: string): void;
  status(): SandboxStatus;
  /** Kills the sidecars; every open job ends as interrupted. No process and no timer remains. */
  stop(): Promise<void>;
}

export interface SandboxStatus {
  state: 'ready' | 'starting' | 'down';
  jail: JailLevel;
  /** Sidecars that are ready to take runs. */
  sidecars: { pid: number; role: SidecarRole; rssBytes: number; isolates: number }[];
}

export interface SandboxJob {
  runId: string;
  workspaceId: string;
  installId: string;
  partition: number;
  /**
   * One bundled ES module; the source is sent once per sidecar. `handlers` are those of the manifest (`event:issue.created`,
   * `schedule:learn`); if given, code that registers different ones fails at start-up.
   */
  code: { sha256: string; source: string; handlers?: string[] };
  handler: { kind: HandlerKind; name: string };
  /** JSON `{event, run, settings, nowMs, seed, scopes?}`; `scopes` are the granted scopes, for `ctx.has`. */
  input: string;
  limits: RunLimits;
  /**
   * Answers a call such as `issues.get`. `args` should be a JSON array of at most `textMaxOf(op)` characters,
   * but is untrusted.
   */
  call(op: string, args: string): Promise<CallAnswer>;
  /** True to run in a new isolate, outside the queue of the partition; for schedules and replays. */
  fresh?: boolean;
  /** Receives the messages of the run in both directions, for its recording. */
  tape?: Tape;
  /** For a replay, which needs `fresh`: answers calls and timers from a recording in place of `call` and the clock. */
  pace?: Pace;
  /** Stops the run when aborted; the run then ends as interrupted. */
  signal?: AbortSignal;
}

/** Records the messages of a run in order. Arguments are immutable and may be stored. */
export interface Tape {
  /** Called when the run starts, and again if the run is restarted. */
  begin(): void;
  /** Called for each message to the guest. */
  recordReply(message: CallReply): void;
  /** Called for the calls of the guest; `acked` counts the messages that the guest has consumed, the order of the run included. */
  recordCalls(acked: number, calls: readonly GuestCall[]): void;
}

/** The operation `sleep` is a timer. Numbers ascend in call order; the first may be any number. */
export type GuestCall = readonly [call: number, op: string, args: string];

export interface Pace {
  /** Called when the guest makes a call or sets a timer. @returns false to end the run here */
  take(call: GuestCall): boolean;
  /**
   * Called when the guest has consumed everything, and waits or has ended.
   * @returns the answers to deliver together next; null to end the run here
   */
  next(): readonly Paced[] | null;
}

export interface Paced {
  readonly call: number;
  readonly answer: CallAnswer;
  /** Age of the run on the guest's clock from this answer on. */
  readonly elapsedMs: number;
}

/** `value` is JSON text; an error is thrown in the guest, with its code as `.code`. */
export type CallAnswer =
  { ok: true; value: string } | { ok: false; error: { code: string; message: string } };

export interface RunUsage {
  cpuMs: number;
  memoryBytes: number;
  wallMs: number;
  queueMs: number;
  calls: number;
  logs: { level: GuestLogLevel; message: string; atMs: number }[];
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
  /** `progress` is reported by a schedule. `result` is JSON text returned by an action or a route, untrusted. */
  (
    | { status: 'succeeded'; progress?: GuestProgress; result?: string }
    /** `killed`: the isolate or process died because of this run, which is a violation. */
    | {
        status: 'failed';
        reason: FailureReason;
        message: string;
        retryAfterMs?: number;
        killed: boolean;
        /** V8 stack of the thrown error; positions are in the bundle, named `plugin.js`. */
        stack?: string;
      }
    /** The run was lost without a proven fault of the plugin: run it again, and record no violation. */
    | { status: 'interrupted'; message: string }
  );

export interface SandboxOptions {
  nodePath: string;
  log: (level: 'info' | 'warn' | 'error', message: string, fields?: object) => void;
  clock: () => number;
  /** Timer for the first standby; default is the system clock. */
  after?: Clock['after'];
  /** `auto` uses the parts that the kernel offers and logs the level; `strict` refuses to start below level full. */
  jail: 'auto' | 'strict' | 'off';
  /** Plugins that may share a sidecar: all (`none`), those of one workspace, or only one install. */
  split?: 'none' | 'workspace' | 'install';
  /** Replaces the programs of the sidecar; tests use a hostile one. */
  programs?: SidecarPrograms;
  /** Maximum number of warm isolates per sidecar; the least recently used is dropped first. */
  isolatesMax?: number;
  /** Entries after which a guest with short ones is entered on the sidecar's main thread; tests use 0 and a million. */
  inlineAfter?: number;
  /** Maximum number of runs in flight in the active sidecar, including runs that wait for an answer. */
  concurrentRunsMax?: number;
}
