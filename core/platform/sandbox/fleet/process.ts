// Runs one sidecar process: starts it in its jail, exchanges messages over descriptor 3, and reports its
// start, messages and exit. Kills the process if its start fails, if it breaks the protocol, or on request.
import { plainText } from '../../lib/text/printable.ts';
import { ProtocolBreach, type SidecarMessage } from '../frames.ts';
import { groupBytesMax, type ControlGroup, type CgroupHierarchies } from '../jail/cgroup.ts';
import { childrenOf, userOf } from '../jail/prepare.ts';
import { levelOf, missingOf, noJail, type JailReport } from '../jail/level.ts';
import type { EntryReport, ToSidecar } from '../protocol.ts';
import {
  completeJail,
  startChild,
  yieldToOthers,
  type Child,
  type ChildOptions,
  type ChildSettings,
} from './spawn.ts';
import { createLink, type Link } from './link.ts';
import { createCallCapacity, type CallCapacity } from './sending.ts';
import { openProcessStatus, type ProcessStatus, type Vitals } from './watch.ts';

/** Messages about runs. */
export type Spoken = Exclude<SidecarMessage, { t: 'ready' | 'pong' }>;

/** Options of all sidecars of a sandbox. */
export interface SidecarSettings extends ChildSettings {
  /** Directories in which control groups can be created. */
  hierarchies: CgroupHierarchies;
  isolatesMax: number;
  idleMs: number;
  /** Entries after which a guest with short ones is entered on the sidecar's main thread. */
  inlineAfter: number;
}

export interface SpawnOptions extends SidecarSettings, ChildOptions {
  /** Returns true while the sidecar has runs. */
  busy(): boolean;
  /** @throws ProtocolBreach */
  onMessage(message: Spoken): void;
  /** Called exactly once, after the last message. */
  onGone(why: string): void;
  onStderr(text: string): void;
}

export interface SidecarProcess {
  /** Process id of the sidecar once it is ready; before that of the first process of its chain. */
  readonly pid: number;
  readonly ready: Promise<JailReport>;
  /** Resolves once the process and its control group are gone. */
  readonly exited: Promise<void>;
  readonly callCapacity: CallCapacity;
  /** Time of the last sign of life, on the clock of `performance.now()`. */
  readonly lastActiveAt: number;
  /** True if the kernel killed the process for lack of memory. */
  readonly outOfMemory: boolean;
  isolates: number;
  /** Resident memory as last measured by the watch. */
  rssSeenBytes: number;
  send(message: ToSidecar): void;
  /** Sends a bundle unless the sidecar has it. Drops the least recently used bundles while the total size exceeds the limit. */
  give(sha256: string, source: string, installId: string): void;
  /** Drops idle isolates and bundles of an install; if another install needs a dropped bundle, the bundle is sent again. */
  evict(installId: string): void;
  /** Sends SIGKILL, because `process.exit()` of the sidecar would wait for threads that may never stop. */
  kill(reason: string): void;
  /** All zero before the sidecar is ready and after its exit. */
  vitals(): Vitals;
}

/** A start needs 0.2 s of CPU time, which can take long on a busy machine. */
const readyMs = 60_000;
/** Capacity for host calls in progress, in UTF-16 units of their arguments and largest answers. */
const callUnitsMax = 16 * 1024 * 1024;
/** V8 writes a few KB when it aborts; a genuine sidecar writes nothing else to stderr. */
const stderrBytesMax = 256 * 1024;
const noVitals: Vitals = { rssBytes: 0, pageTableBytes: 0, threads: 0 };

/** State shared by the lifecycle functions of one process. */
interface Life {
  readonly options: SpawnOptions;
  readonly user: ReturnType<typeof userOf>;
  child: Child | undefined;
  pid: number;
  status: ProcessStatus | undefined;
  group: ControlGroup | undefined;
  killReason: string | undefined;
  gone: boolean;
  outOfMemory: boolean;
}

// Tracks the bundles cached in a sidecar, so that a cached bundle is not sent again. Drops the least recently used bundles while the total
// size exceeds the limit.

const codesTotalMax = 32 * 1024 * 1024;

interface CodeCache {
  /** Sends a bundle unless the sidecar has it. Drops the least recently used bundles while the total size exceeds the limit. */
  give(sha256: string, source: string, installId: string): void;
  /** Drops the bundles that this install used last; if another install needs such a bundle, the bundle is sent again. */
  evict(installId: string): void;
}

function createCodeCache(send: (message: ToSidecar) => void): CodeCache {
  /** Least recently used first, with the install that used each last. Bounded by `codesTotalMax`. */
  const cached = new Map<string, { readonly installId: string; readonly size: number }>();
  let total = 0;

  const drop = (sha256: string): boolean => {
    total -= cached.get(sha256)?.size ?? 0;
    return cached.delete(sha256);
  };
  const forget = (codes: string[]): void => {
    if (codes.length === 0) return;
    for (const sha256 of codes) drop(sha256);
    send({ t: 'forget', codes });
  };

  return {
    give(sha256, source, installId) {
      if (!drop(sha256)) send({ t: 'code', sha256, source });
      cached.set(sha256, { installId, size: source.length });
      total += source.length;
      if (total <= codesTotalMax) return;
      for (const oldest of cached.keys()) {
        if (total <= codesTotalMax || oldest === sha256) break;
        forget([oldest]);
      }
    },
    evict: (installId) =>
      forget([...cached].filter(([, code]) => code.installId === installId).map(([sha256]) => sha256)),
  };
}

export function spawnSidecar(options: SpawnOptions): SidecarProcess {
  const life = begin(options);
  const over = Promise.withResolvers<void>();
  const kill = (reason: string): void => killOnce(life, reason);
  const jailing = createJailing(life);

  const onFrame = (message: SidecarMessage): void => {
    if (message.t === 'ready') jailing.begin(message.jail);
    else if (message.t === 'pong') sidecar.isolates = message.isolates;
    else options.onMessage(message);
  };

  const link = createLink({
    busy: options.busy,
    onMessage: onFrame,
    onSent: () => sidecar.callCapacity.admit(),
    onBreach: (why) => kill(`protocol violation: ${why}`),
  });
  const send = (message: ToSidecar): void => {
    if (!life.gone) link.send(message);
  };
  const codes = createCodeCache(send);

  const exited = async (died: string): Promise<void> => {
    // Messages that the process wrote before its exit are still in the socket.
    await new Promise((resolve) => setTimeout(resolve, 1));
    life.gone = true;
    link.close();
    const why = noteDeath(life, died);
    if (life.outOfMemory) sidecar.rssSeenBytes = groupBytesMax;
    jailing.fail(why);
    options.onGone(why);
    await jailing.done();
    await life.group?.remove();
    over.resolve();
  };

  const sidecar: SidecarProcess = {
    ready: jailing.ready,
    exited: over.promise,
    callCapacity: callCapacityOf(link),
    isolates: 0,
    rssSeenBytes: 0,
    get pid() {
      return life.pid;
    },
    get lastActiveAt() {
      return link.lastActiveAt;
    },
    get outOfMemory() {
      return life.outOfMemory;
    },
    send,
    give: codes.give,
    evict(installId) {
      send({ t: 'evict', prefix: `${installId}/` });
      codes.evict(installId);
    },
    kill,
    vitals: () => life.status?.vitals() ?? noVitals,
  };
  start(life, exited, link);
  return sidecar;
}

function callCapacityOf(link: Link): CallCapacity {
  return createCallCapacity({ unitsMax: callUnitsMax, backlog: () => link.backlog, onFull: link.pause });
}

/** Completes the jail once the sidecar reports its start; `ready` then resolves. */
function createJailing(life: Life) {
  const ready = Promise.withResolvers<JailReport>();
  ready.promise.catch(() => undefined);
  const late = setTimeout(() => killOnce(life, `not ready within ${readyMs / 1000} s`), readyMs);
  let confining: Promise<void> | undefined;

  const complete = async (said: EntryReport): Promise<void> => {
    try {
      const report = await confine(life, said);
      if (!report) return;
      clearTimeout(late);
      ready.resolve(report);
    } catch (error) {
      killOnce(life, `the jail could not be completed: ${String(error)}`);
    }
  };

  return {
    ready: ready.promise,
    /** @throws ProtocolBreach if called twice */
    begin(said: EntryReport): void {
      if (confining) throw new ProtocolBreach('The sidecar reported its start twice.');
      confining = complete(said);
    },
    fail(why: string): void {
      clearTimeout(late);
      ready.reject(new Error(`The sandbox sidecar did not start: ${why}. Check the log of the server.`));
    },
    done: async () => confining,
  };
}

function begin(options: SpawnOptions): Life {
  return {
    options,
    user: options.jail === 'off' ? undefined : userOf(options.confinement),
    child: undefined,
    pid: 0,
    status: undefined,
    group: undefined,
    killReason: undefined,
    gone: false,
    outOfMemory: false,
  };
}

/** Starts the process. A refusal by the system is reported like an exit. */
function start(life: Life, exited: (died: string) => Promise<void>, link: Link): void {
  const { options, user } = life;
  try {
    const child = startChild(options, user, (code, signal) => void exited(deathOf(code, signal)));
    life.child = child;
    life.pid = child.pid;
    void readStderr(life, child);
    void connect(life, child, link);
  } catch (error) {
    life.killReason = String(error);
    void exited('');
  }
}

function deathOf(code: number | null, signal: string | null): string {
  return signal === null ? `exited with code ${code}` : `killed by signal ${signal}`;
}

async function connect(life: Life, child: Child, link: Link): Promise<void> {
  const fd = child.stdio[3];
  if (typeof fd !== 'number') return killOnce(life, 'descriptor 3 is missing');
  const { isolatesMax, idleMs, inlineAfter, programs } = life.options;
  try {
    await link.open(fd, { t: 'init', guest: programs.guest, isolatesMax, idleMs, inlineAfter });
  } catch (error) {
    killOnce(life, `descriptor 3 failed: ${String(error)}`);
  }
}

async function readStderr(life: Life, child: Child): Promise<void> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of child.stderr) {
    bytes += chunk.byteLength;
    if (bytes > stderrBytesMax)
      return killOnce(life, `more than ${stderrBytesMax / 1024} KB of output on stderr`);
    life.options.onStderr(plainText(decoder.decode(chunk, { stream: true })));
  }
}

/** Completes the jail from outside and checks its level; returns undefined if it kills the process. */
async function confine(life: Life, said: EntryReport): Promise<JailReport | undefined> {
  const { jail, confinement } = life.options;
  if (jail !== 'off' && confinement.prefix.length > 0) {
    const [sidecar] = childrenOf(life.pid) ?? [];
    if (sidecar === undefined) return void killOnce(life, 'the child process of unshare was not found');
    life.pid = sidecar;
    yieldToOthers(sidecar, life.options.idle);
  }
  const status = openProcessStatus(life.pid);
  life.status = status;
  if (jail === 'off') return noJail;
  const { report, group } = await completeJail(
    { pid: life.pid, status, user: life.user },
    said,
    life.options,
  );
  life.group = group;
  if (jail === 'strict' && levelOf(report) !== 'full')
    return void killOnce(life, `a strict jail needs ${missingOf(report).join(' and ')}`);
  return report;
}

function killOnce(life: Life, reason: string): void {
  if (life.gone || life.killReason !== undefined) return;
  life.killReason = reason;
  const { child, pid } = life;
  // Kills the sidecar itself, not its parent `unshare`, which then exits only after the sidecar is gone.
  if (child && pid !== child.pid) killIfAlive(pid);
  else child?.kill('SIGKILL');
}

/** A sidecar that has just died is still known until its parent has exited. */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

/** @returns the reason of the exit */
function noteDeath(life: Life, died: string): string {
  life.outOfMemory = life.killReason === undefined && life.group?.outOfMemory() === true;
  life.status?.close();
  return life.killReason ?? (life.outOfMemory ? 'memory limit of the control group reached' : died);
}
