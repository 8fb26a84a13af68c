/**
 * The sidecars: one active, one warm standby that takes over at once, and one for quarantined plugins, started on demand. A process
 * that fails to start is tried again, ever more slowly.
 */
import { SidecarProcess } from './process.ts';
import type { SpawnOptions } from './process.ts';
import type { FromSidecar, JailReport } from '../protocol.ts';

export type Role = 'active' | 'standby' | 'quarantine';

export interface FleetOptions {
  spawn: Omit<SpawnOptions, 'onMessage' | 'onGone' | 'onStderr'>;
  onMessage(sidecar: SidecarProcess, message: FromSidecar): void;
  /** The process died by itself; its role has already been filled anew. */
  onGone(sidecar: SidecarProcess, why: string): void;
  /** A sidecar can take runs, or one may be asked for again. */
  onChange(jail?: JailReport): void;
  log(level: 'info' | 'warn' | 'error', message: string, fields?: object): void;
}

interface Member {
  sidecar: SidecarProcess;
  role: Role;
  ready: boolean;
}

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5000;
const QUARANTINE_IDLE_MS = 30_000;
const STDERR_TAIL = 4000;

export class Fleet {
  #options: FleetOptions;
  #members = new Map<SidecarProcess, Member>();
  #dying = new Set<Promise<unknown>>();
  #failures = 0;
  #retry: Timer | undefined;
  #rest: Timer | undefined;
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

  /** The sidecar of this role when it is ready; asking for the quarantine starts it. */
  find(role: 'active' | 'quarantine'): SidecarProcess | undefined {
    const member = this.#holder(role);
    if (!member && role === 'quarantine' && !this.#stopped && !this.#retry) this.#spawn('quarantine');
    return member?.ready ? member.sidecar : undefined;
  }

  /** What it wrote to stderr last; V8 says there why it aborts. */
  lastWords(sidecar: SidecarProcess): string {
    return this.#stderr.get(sidecar) ?? '';
  }

  /** Takes it out of service and kills it; the standby takes its place before this returns. */
  retire(sidecar: SidecarProcess, why: string): void {
    if (!this.#members.delete(sidecar)) return;
    this.#dying.add(sidecar.exited);
    sidecar.kill(why);
    this.#fill();
  }

  /** The quarantine has nothing to do; it ends when that stays so. */
  restQuarantine(): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      const member = this.#holder('quarantine');
      if (member) this.retire(member.sidecar, 'nothing is left in quarantine');
    }, QUARANTINE_IDLE_MS);
  }

  keepQuarantine(): void {
    clearTimeout(this.#rest);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#rest);
    for (const { sidecar } of this.members()) this.retire(sidecar, 'the sandbox stops');
    await Promise.all(this.#dying);
  }

  #holder(role: Role): Member | undefined {
    return this.members().find((member) => member.role === role);
  }

  #fill(): void {
    if (this.#stopped || this.#retry) return;
    const standby = this.#holder('standby');
    if (!this.#holder('active') && standby) standby.role = 'active';
    const active = this.#holder('active');
    if (!active) this.#spawn('active');
    else if (active.ready && !this.#holder('standby')) this.#spawn('standby');
  }

  #spawn(role: Role): void {
    const sidecar: SidecarProcess = new SidecarProcess({
      ...this.#options.spawn,
      onMessage: (message) => {
        if (this.#members.has(sidecar)) this.#options.onMessage(sidecar, message);
      },
      onGone: (why) => this.#gone(sidecar, why),
      onStderr: (text) => this.#stderr.set(sidecar, (this.lastWords(sidecar) + text).slice(-STDERR_TAIL)),
    });
    const member: Member = { sidecar, role, ready: false };
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
  }

  #gone(sidecar: SidecarProcess, why: string): void {
    this.#dying.delete(sidecar.exited);
    const member = this.#members.get(sidecar);
    if (!member) return;
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
    const ms = Math.min(RETRY_MS_MIN * 2 ** this.#failures++, RETRY_MS_MAX);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#fill();
      this.#options.onChange();
    }, ms);
  }
}
