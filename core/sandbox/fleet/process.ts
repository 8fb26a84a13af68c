// One sidecar process: spawns it in its jail, speaks with it over descriptor 3, and reports when it is ready, when it
// says something and when it is gone. Decides nothing but that one which breaks the protocol dies.
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { cleanBunFlags } from '../../lib/clean-bun.ts';
import { plainText } from '../../lib/printable.ts';
import { ProtocolBreach } from '../frames.ts';
import { createControlGroup, groupBytesMax } from '../jail/cgroup.ts';
import type { ControlGroup, findPlaces } from '../jail/cgroup.ts';
import { childrenOf, userOf } from '../jail/confinement.ts';
import type { Confinement } from '../jail/confinement.ts';
import { capResources } from '../jail/core-side.ts';
import type { User } from '../jail/core-side.ts';
import type { JailOrder } from '../jail/entry.ts';
import { levelOf, missingOf, noJail } from '../jail/level.ts';
import type { JailReport } from '../jail/level.ts';
import type { EntryReport, FromSidecar, ToSidecar } from '../protocol.ts';
import type { SidecarPrograms } from './bundle.ts';
import { Link } from './link.ts';
import { Room } from './room.ts';
import { ProcessStatus } from './vitals.ts';
import type { Vitals } from './vitals.ts';

/** What it says of runs. */
export type Spoken = Exclude<FromSidecar, { t: 'ready' | 'pong' }>;

export interface SpawnOptions {
  nodePath: string;
  addonPath: string;
  programs: SidecarPrograms;
  jail: 'auto' | 'strict' | 'off';
  confinement: Confinement;
  /** Where control groups can be made. */
  places: ReturnType<typeof findPlaces>;
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

type Child = Subprocess<Blob, 'ignore', 'pipe'>;

const codesTotalMax = 32 * 1024 * 1024;
/** Starting takes a fifth of a second of processor time, which a busy machine may take long to give. */
const readyMs = 60_000;
/** Host calls in progress, in UTF-16 units of their arguments and largest answers. */
const callUnitsMax = 16 * 1024 * 1024;
/** V8 says in a few KB why it aborts; nothing else is ever said there. */
const stderrBytesMax = 256 * 1024;
const noEntry: EntryReport = { landlock: 0, seccomp: false, rlimits: false };
export const jailEntry = join(import.meta.dir, '../jail/entry.ts');
const niceness = 10;

export class SidecarProcess {
  /** Of the sidecar itself once it is ready; before that of the first process of its chain. */
  pid: number;
  readonly ready: Promise<JailReport>;
  readonly room: Room;
  isolates = 0;
  /** At the last look, by whoever watches. */
  rssSeenBytes = 0;
  /** The kernel has killed it for want of memory. */
  outOfMemory = false;
  gone = false;
  killReason: string | undefined;
  /** Bundles this process holds, the least recently used first, with the install that used each last. */
  #codes = new Map<string, { installId: string; size: number }>();
  #child: Child | undefined;
  #link: Link;
  #group: ControlGroup | undefined;
  #status: ProcessStatus | undefined;
  #options: SpawnOptions;
  #user: User | undefined;
  #started = false;
  #confining: Promise<void> = Promise.resolve();
  #end!: () => void;
  #over = new Promise<void>((resolve) => (this.#end = resolve));
  #settleReady!: { resolve(report: JailReport): void; reject(error: Error): void };

  constructor(options: SpawnOptions) {
    this.#options = options;
    this.#user = options.jail === 'off' ? undefined : userOf(options.confinement);
    this.ready = new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.kill('it did not start in time'), readyMs);
      this.#settleReady = {
        resolve: (report) => (clearTimeout(timer), resolve(report)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      };
    });
    this.ready.catch(() => undefined);
    this.#link = new Link({
      busy: options.busy,
      onMessage: (message) => this.#heard(message),
      onSent: () => this.room.admit(),
      onBreach: (why) => this.kill(`it broke the protocol: ${why}`),
    });
    this.room = new Room(
      callUnitsMax,
      () => this.#link.backlog,
      (full) => this.#link.pause(full),
    );
    this.#child = this.#spawn();
    this.pid = this.#child?.pid ?? 0;
    if (!this.#child) return;
    void this.#readStderr(this.#child);
    void this.#connect(this.#child);
  }

  /** Undefined when the system refuses a process; that is told like any other death. */
  #spawn(): Child | undefined {
    const { programs } = this.#options;
    try {
      const child = Bun.spawn(commandFor(this.#options), {
        ...this.#user,
        cwd: '/',
        // The fourth entry is the inherited descriptor 3.
        stdio: [new Blob([programs.sidecar]), 'ignore', 'pipe', 'socket-fd'],
        env: { OPENSSL_CONF: '/dev/null', TZ: 'UTC' },
        onExit: (_child, code, signal) => void this.#exited(code, signal === null ? null : String(signal)),
      });
      setPriority(child.pid, niceness);
      return child;
    } catch (error) {
      this.killReason = String(error);
      void this.#exited(null, null);
      return undefined;
    }
  }

  send(message: ToSidecar): void {
    if (!this.gone) this.#link.send(message);
  }

  /** Sends a bundle unless the process has it, and has it forget others above a total. */
  give(sha256: string, source: string, installId: string): void {
    if (!this.#codes.delete(sha256)) this.send({ t: 'code', sha256, source });
    this.#codes.set(sha256, { installId, size: source.length });
    let total = 0;
    for (const { size } of this.#codes.values()) total += size;
    for (const [oldest, { size }] of this.#codes) {
      if (total <= codesTotalMax || oldest === sha256) break;
      total -= size;
      this.#forget([oldest]);
    }
  }

  /** Idle isolates and bundles of an install; a bundle that another one needs is sent again. */
  evict(installId: string): void {
    const codes = [...this.#codes]
      .filter(([, code]) => code.installId === installId)
      .map(([sha256]) => sha256);
    this.send({ t: 'evict', prefix: `${installId}/` });
    this.#forget(codes);
  }

  #forget(codes: string[]): void {
    if (codes.length === 0) return;
    for (const sha256 of codes) this.#codes.delete(sha256);
    this.send({ t: 'forget', codes });
  }

  /** SIGKILL: `process.exit()` of the sidecar would wait for threads that may never stop. */
  kill(reason: string): void {
    if (this.gone || this.killReason !== undefined) return;
    this.killReason = reason;
    const child = this.#child;
    // Behind `unshare` the sidecar is killed itself, so that its parent ends when it is really gone.
    if (child && this.pid !== child.pid) process.kill(this.pid, 'SIGKILL');
    else child?.kill('SIGKILL');
  }

  /** Nothing of it is left. */
  get exited(): Promise<unknown> {
    return this.#over;
  }

  get heardAt(): number {
    return this.#link.heardAt;
  }

  /** Zeros before it is ready and after it is gone. */
  vitals(): Vitals {
    return this.#status?.vitals() ?? { rssBytes: 0, pageTableBytes: 0, threads: 0 };
  }

  async #connect(child: Child): Promise<void> {
    const fd = child.stdio[3];
    if (typeof fd !== 'number') return this.kill('it has no descriptor 3');
    const { programs, isolatesMax, idleMs } = this.#options;
    try {
      await this.#link.open(fd, { t: 'init', guest: programs.guest, isolatesMax, idleMs });
    } catch (error) {
      this.kill(`its descriptor 3 failed: ${String(error)}`);
    }
  }

  #heard(message: FromSidecar): void {
    if (message.t === 'ready') {
      if (this.#started) throw new ProtocolBreach('It started twice.');
      this.#started = true;
      this.#confining = this.#settle(message.jail).catch((error) =>
        this.kill(`it cannot be confined: ${String(error)}`),
      );
    } else if (message.t === 'pong') this.isolates = message.isolates;
    else this.#options.onMessage(message);
  }

  /** Completes the jail from outside and judges it. No guest code has run yet. */
  async #settle(said: EntryReport): Promise<void> {
    const { jail, confinement, places } = this.#options;
    const jailed = jail !== 'off';
    if (jailed && confinement.prefix.length > 0) {
      const [sidecar] = childrenOf(this.pid) ?? [];
      if (sidecar === undefined) return this.kill('its process cannot be found');
      this.pid = sidecar;
      setPriority(sidecar, niceness);
    }
    this.#status = new ProcessStatus(this.pid);
    if (!jailed) return this.#settleReady.resolve(noJail);
    const { namespaces, ownUser } = confinement;
    const alone = ownUser || namespaces.includes('user');
    const { powerless, filtered } = this.#status.confinement();
    const report: JailReport = {
      landlock: said.landlock,
      seccomp: said.seccomp && filtered,
      rlimits: said.rlimits && (await capResources(this.pid, this.#user, alone)),
      powerless,
      ownUser: alone,
      namespaces,
      controlGroup: await this.#enterGroup(places),
    };
    if (jail === 'strict' && levelOf(report) !== 'full')
      return this.kill(`a strict jail needs ${missingOf(report).join(' and ')}`);
    this.#settleReady.resolve(report);
  }

  async #enterGroup(places: SpawnOptions['places']): Promise<boolean> {
    if (places.length === 0) return false;
    try {
      this.#group = await createControlGroup(places, this.pid);
      await this.#group.adopt(this.pid);
      return true;
    } catch {
      return false;
    }
  }

  async #readStderr(child: Child): Promise<void> {
    const decoder = new TextDecoder();
    let bytes = 0;
    for await (const chunk of child.stderr) {
      bytes += chunk.byteLength;
      if (bytes > stderrBytesMax) return this.kill('it floods its standard error');
      this.#options.onStderr(plainText(decoder.decode(chunk, { stream: true })));
    }
  }

  async #exited(code: number | null, signal: string | null): Promise<void> {
    // What it wrote before dying is still in the socket.
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.gone = true;
    this.#link.close();
    this.outOfMemory = this.killReason === undefined && this.#group?.outOfMemory() === true;
    if (this.outOfMemory) this.rssSeenBytes = groupBytesMax;
    this.#status?.close();
    const died = signal === null ? `it exited with code ${code}` : `it died of signal ${signal}`;
    const why = this.killReason ?? (this.outOfMemory ? 'it used up the memory of its control group' : died);
    this.#settleReady.reject(new Error(`The sandbox sidecar did not start: ${why}.`));
    this.#options.onGone(why);
    await this.#confining;
    await this.#group?.remove();
    this.#end();
  }
}

function commandFor(options: SpawnOptions): string[] {
  const { nodePath, addonPath, jail, confinement } = options;
  const flags = [
    '--jitless',
    '--no-node-snapshot',
    '--permission',
    '--allow-addons',
    `--allow-fs-read=${addonPath}`,
  ];
  const node = [
    nodePath,
    ...flags,
    '--no-warnings',
    '--max-old-space-size=256',
    '--input-type=module',
    '-',
    addonPath,
  ];
  if (jail === 'off') return [...node, JSON.stringify(noEntry)];
  const order: JailOrder = {
    command: [...node, '{jail}'],
    readable: [addonPath],
    keepCapabilities: !confinement.powerless,
  };
  return [...confinement.prefix, process.execPath, ...cleanBunFlags, jailEntry, JSON.stringify(order)];
}
