// One sidecar process: starts it in its jail, speaks with it over descriptor 3, and reports when it is ready, when it says
// something and when it is gone. It decides one thing only: a process that breaks the protocol dies.
import { plainText } from '../../lib/printable.ts';
import { ProtocolBreach, type Heard } from '../frames.ts';
import { groupBytesMax, type ControlGroup, type Places } from '../jail/cgroup.ts';
import { childrenOf, userOf } from '../jail/confinement.ts';
import { levelOf, missingOf, noJail } from '../jail/level.ts';
import type { JailReport } from '../jail/level.ts';
import type { EntryReport, ToSidecar } from '../protocol.ts';
import { createHeldCodes } from './codes.ts';
import { completeJail } from './complete-jail.ts';
import { createLink, type Link } from './link.ts';
import { createRoom, type Room } from './room.ts';
import { startChild, yieldToOthers, type Child, type ChildOptions } from './spawn.ts';
import { openProcessStatus, type ProcessStatus, type Vitals } from './vitals.ts';

/** What it says of runs. */
export type Spoken = Exclude<Heard, { t: 'ready' | 'pong' }>;

export interface SpawnOptions extends ChildOptions {
  /** Where control groups can be made. */
  places: Places;
  isolatesMax: number;
  idleMs: number;
  /** It has been given something to do. */
  busy(): boolean;
  /** @throws ProtocolBreach */
  onMessage(message: Spoken): void;
  /** Exactly once, after the last message. */
  onGone(why: string): void;
  onStderr(text: string): void;
}

export interface SidecarProcess {
  /** Of the sidecar itself once it is ready; before that of the first process of its chain. */
  readonly pid: number;
  readonly ready: Promise<JailReport>;
  /** Nothing of it is left. */
  readonly exited: Promise<void>;
  readonly room: Room;
  /** When it last gave a sign of life. */
  readonly heardAt: number;
  /** The kernel has killed it for want of memory. */
  readonly outOfMemory: boolean;
  isolates: number;
  /** At the last look, by whoever watches. */
  rssSeenBytes: number;
  send(message: ToSidecar): void;
  /** Sends a bundle unless the process has it, and has it forget others above a total. */
  give(sha256: string, source: string, installId: string): void;
  /** Idle isolates and bundles of an install; a bundle that another one needs is sent again. */
  evict(installId: string): void;
  /** SIGKILL: `process.exit()` of the sidecar would wait for threads that may never stop. */
  kill(reason: string): void;
  /** Zeros before it is ready and after it is gone. */
  vitals(): Vitals;
}

/** Starting takes a fifth of a second of processor time, which a busy machine may take long to give. */
const readyMs = 60_000;
/** Host calls in progress, in UTF-16 units of their arguments and largest answers. */
const callUnitsMax = 16 * 1024 * 1024;
/** V8 says in a few KB why it aborts; nothing else is ever said there. */
const stderrBytesMax = 256 * 1024;
const noVitals: Vitals = { rssBytes: 0, pageTableBytes: 0, threads: 0 };

/** What the steps of one process's life share. */
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

export function spawnSidecar(options: SpawnOptions): SidecarProcess {
  const life = begin(options);
  const over = Promise.withResolvers<void>();
  const kill = (reason: string): void => killOnce(life, reason);
  const jailing = createJailing(life);

  const heard = (message: Heard): void => {
    if (message.t === 'ready') jailing.begin(message.jail);
    else if (message.t === 'pong') sidecar.isolates = message.isolates;
    else options.onMessage(message);
  };

  const link = createLink({
    busy: options.busy,
    onMessage: heard,
    onSent: () => sidecar.room.admit(),
    onBreach: (why) => kill(`it broke the protocol: ${why}`),
  });
  const send = (message: ToSidecar): void => {
    if (!life.gone) link.send(message);
  };
  const codes = createHeldCodes(send);

  const exited = async (died: string): Promise<void> => {
    // What it wrote before dying is still in the socket.
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
    room: createRoom({ unitsMax: callUnitsMax, backlog: () => link.backlog, onFull: link.pause }),
    isolates: 0,
    rssSeenBytes: 0,
    get pid() {
      return life.pid;
    },
    get heardAt() {
      return link.heardAt;
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

/** The time until a sidecar is ready: its jail is completed once it says that it has started. */
function createJailing(life: Life) {
  const ready = Promise.withResolvers<JailReport>();
  ready.promise.catch(() => undefined);
  const late = setTimeout(() => killOnce(life, 'it did not start in time'), readyMs);
  let confining: Promise<void> | undefined;

  const complete = async (said: EntryReport): Promise<void> => {
    try {
      const report = await confine(life, said);
      if (!report) return;
      clearTimeout(late);
      ready.resolve(report);
    } catch (error) {
      killOnce(life, `it cannot be confined: ${String(error)}`);
    }
  };

  return {
    ready: ready.promise,
    /** @throws ProtocolBreach the second time */
    begin(said: EntryReport): void {
      if (confining) throw new ProtocolBreach('It started twice.');
      confining = complete(said);
    },
    fail(why: string): void {
      clearTimeout(late);
      ready.reject(new Error(`The sandbox sidecar did not start: ${why}.`));
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

/** A process that the system refuses is told of like any other death. */
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
  return signal === null ? `it exited with code ${code}` : `it died of signal ${signal}`;
}

async function connect(life: Life, child: Child, link: Link): Promise<void> {
  const fd = child.stdio[3];
  if (typeof fd !== 'number') return killOnce(life, 'it has no descriptor 3');
  const { isolatesMax, idleMs, programs } = life.options;
  try {
    await link.open(fd, { t: 'init', guest: programs.guest, isolatesMax, idleMs });
  } catch (error) {
    killOnce(life, `its descriptor 3 failed: ${String(error)}`);
  }
}

async function readStderr(life: Life, child: Child): Promise<void> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of child.stderr) {
    bytes += chunk.byteLength;
    if (bytes > stderrBytesMax) return killOnce(life, 'it floods its standard error');
    life.options.onStderr(plainText(decoder.decode(chunk, { stream: true })));
  }
}

/** Completes the jail from outside and judges it; undefined when the process is killed for what it lacks. */
async function confine(life: Life, said: EntryReport): Promise<JailReport | undefined> {
  const { jail, confinement } = life.options;
  if (jail !== 'off' && confinement.prefix.length > 0) {
    const [sidecar] = childrenOf(life.pid) ?? [];
    if (sidecar === undefined) return void killOnce(life, 'its process cannot be found');
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
  // Behind `unshare` the sidecar is killed itself, so that its parent ends when it is really gone.
  if (child && pid !== child.pid) process.kill(pid, 'SIGKILL');
  else child?.kill('SIGKILL');
}

/** @returns why it is gone */
function noteDeath(life: Life, died: string): string {
  life.outOfMemory = life.killReason === undefined && life.group?.outOfMemory() === true;
  life.status?.close();
  return life.killReason ?? (life.outOfMemory ? 'it used up the memory of its control group' : died);
}
