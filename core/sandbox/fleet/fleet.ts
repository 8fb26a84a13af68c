// The sidecars: one active for each group of plugins that may share a process, one warm standby for whichever group
// needs one next, and one for quarantined plugins, started on demand. A process that fails to start is tried again,
// ever more slowly.
import { SidecarProcess } from './process.ts';
import type { SpawnOptions, Spoken } from './process.ts';
import type { JailReport } from '../jail/level.ts';

export type Role = 'active' | 'standby' | 'quarantine';

export interface FleetOptions {
  spawn: Omit<SpawnOptions, 'busy' | 'onMessage' | 'onGone' | 'onStderr'>;
  /** There are groups; otherwise all plugins are of one, whose name is empty. */
  split: boolean;
  /** Runs in flight in this sidecar. */
  load(sidecar: SidecarProcess): number;
  /** @throws ProtocolBreach */
  onMessage(sidecar: SidecarProcess, message: Spoken): void;
  /** The process died by itself; its role has already been filled anew. */
  onGone(sidecar: SidecarProcess, why: string): void;
  /** A sidecar can take runs, or one may be asked for again. */
  onChange(jail?: JailReport): void;
  log(level: 'info' | 'warn' | 'error', message: string, fields?: object): void;
}

interface Member {
  sidecar: SidecarProcess;
  role: Role;
  /** Of the standby: none yet. */
  group: string | undefined;
  ready: boolean;
  /** Ends it once it has had nothing to do for long enough. */
  rest: Timer | undefined;
}

const retryMsMin = 100;
const retryMsMax = 5000;
/** The one active of a sandbox that is not split has no such end. */
const idleMs = 30_000;
/** Groups with a process at once; the least recently used that is idle gives way. */
const groupsMax = 8;
const stderrTailChars = 4000;

export class Fleet {
  #options: FleetOptions;
  #members = new Map<SidecarProcess, Member>();
  #dying = new Set<Promise<unknown>>();
  #failures = 0;
  #retry: Timer | undefined;
  #stopped = false;
  #stderr = new WeakMap<SidecarProcess, string>();

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#fill();
  }

  members(): readonly Member[] {
    return [...this.#members.values()];
  }

  /** No sidecar has come up in several tries. */
  get down(): boolean {
    return this.#failures >= 3;
  }

  /** The group's sidecar of this role when there is one that is ready; asking starts what is missing. */
  find(role: 'active' | 'quarantine', group: string): SidecarProcess | undefined {
    const member = this.#holder(role, group) ?? this.#assign(role, group);
    return member?.ready ? member.sidecar : undefined;
  }

  #assign(role: 'active' | 'quarantine', group: string): Member | undefined {
    if (this.#stopped || this.#retry) return undefined;
    const others = this.members().filter((member) => member.role === role);
    const most = role === 'active' ? groupsMax : 1;
    const [idle] = others.filter(({ sidecar }) => this.#options.load(sidecar) === 0);
    if (others.length >= most && !idle) return undefined;
    const standby = role === 'active' ? this.#holder('standby') : undefined;
    if (role === 'active' && !standby?.ready) return undefined;
    if (others.length >= most && idle) this.retire(idle.sidecar, 'another group needs its place');
    if (!standby) return this.#spawn(role, group);
    standby.role = role;
    standby.group = group;
    this.#fill();
    return standby;
  }

  /** What it wrote to stderr last; V8 says there why it aborts. */
  lastWords(sidecar: SidecarProcess): string {
    return this.#stderr.get(sidecar) ?? '';
  }

  /** Takes it out of service and kills it; the standby takes its place before this returns. */
  retire(sidecar: SidecarProcess, why: string): void {
    clearTimeout(this.#members.get(sidecar)?.rest);
    if (!this.#members.delete(sidecar)) return;
    this.#dying.add(sidecar.exited);
    sidecar.kill(why);
    this.#fill();
  }

  /** It has nothing to do; it ends when that stays so. */
  rest(sidecar: SidecarProcess): void {
    const member = this.#members.get(sidecar);
    if (!member || (member.role === 'active' && !this.#options.split)) return;
    clearTimeout(member.rest);
    member.rest = setTimeout(() => this.retire(sidecar, 'it was idle'), idleMs);
  }

  /** It has something to do; the last used is the last of its kind to give way. */
  keep(sidecar: SidecarProcess): void {
    const member = this.#members.get(sidecar);
    if (!member) return;
    clearTimeout(member.rest);
    this.#members.delete(sidecar);
    this.#members.set(sidecar, member);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    for (const { sidecar } of this.members()) this.retire(sidecar, 'the sandbox stops');
    await Promise.all(this.#dying);
  }

  #holder(role: Role, group?: string): Member | undefined {
    for (const member of this.#members.values())
      if (member.role === role && member.group === group) return member;
    return undefined;
  }

  #fill(): void {
    if (this.#stopped || this.#retry) return;
    const standby = this.#holder('standby');
    if (this.#options.split) return void (standby ?? this.#spawn('standby'));
    if (!this.#holder('active', '') && standby) {
      standby.role = 'active';
      standby.group = '';
    }
    const active = this.#holder('active', '');
    if (!active) this.#spawn('active', '');
    else if (active.ready && !this.#holder('standby')) this.#spawn('standby');
  }

  #spawn(role: Role, group?: string): Member {
    const sidecar: SidecarProcess = new SidecarProcess({
      ...this.#options.spawn,
      busy: () => this.#options.load(sidecar) > 0,
      onMessage: (message) => {
        if (this.#members.has(sidecar)) this.#options.onMessage(sidecar, message);
      },
      onGone: (why) => this.#gone(sidecar, why),
      onStderr: (text) => this.#stderr.set(sidecar, (this.lastWords(sidecar) + text).slice(-stderrTailChars)),
    });
    const member: Member = { sidecar, role, group, ready: false, rest: undefined };
    this.#members.set(sidecar, member);
    sidecar.ready.then(
      (jail) => {
        member.ready = true;
        this.#failures = 0;
        this.#fill();
        this.#options.onChange(jail);
      },
      () => undefined,
    );
    return member;
  }

  #gone(sidecar: SidecarProcess, why: string): void {
    this.#dying.delete(sidecar.exited);
    const member = this.#members.get(sidecar);
    if (!member) return;
    clearTimeout(member.rest);
    this.#members.delete(sidecar);
    this.#options.log('warn', 'A sandbox sidecar is gone.', {
      pid: sidecar.pid,
      why,
      stderr: this.lastWords(sidecar),
    });
    if (member.ready) this.#fill();
    else this.#retryLater();
    this.#options.onGone(sidecar, why);
  }

  #retryLater(): void {
    if (this.#stopped) return;
    const ms = Math.min(retryMsMin * 2 ** this.#failures++, retryMsMax);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#fill();
      this.#options.onChange();
    }, ms);
  }
}
