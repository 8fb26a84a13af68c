// The sidecars: one active for each group of plugins that may share a process, one warm standby for whichever group
// needs one next, and one for quarantined plugins, started on demand. A process that fails to start is tried again,
// ever more slowly.
import { spawnSidecar, type SidecarProcess, type SpawnOptions, type Spoken } from './process.ts';
import type { JailReport } from '../jail/level.ts';
import { createRetries } from './retries.ts';
import { createRoster, type Member, type Role } from './roster.ts';

export type { Role } from './roster.ts';

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

/** The one active of a sandbox that is not split has no such end. */
const idleMs = 30_000;
/** Groups with a process at once; the least recently used that is idle gives way. */
const groupsMax = 8;

export interface Fleet {
  members(): readonly Member[];
  /** No sidecar has come up in several tries. */
  readonly down: boolean;
  /** The group's sidecar of this role when there is one that is ready; asking starts what is missing. */
  find(role: 'active' | 'quarantine', group: string): SidecarProcess | undefined;
  /** What it wrote to stderr last; V8 says there why it aborts. */
  lastWords(sidecar: SidecarProcess): string;
  /** Takes it out of service and kills it; the standby takes its place before this returns. */
  retire(sidecar: SidecarProcess, why: string): void;
  /** It has nothing to do; it ends when that stays so. */
  rest(sidecar: SidecarProcess): void;
  /** It has something to do; the last used is the last of its kind to give way. */
  keep(sidecar: SidecarProcess): void;
  stop(): Promise<void>;
}

export function createFleet(options: FleetOptions): Fleet {
  const roster = createRoster();
  const dying = new Set<Promise<unknown>>();
  const retries = createRetries(() => {
    fill();
    options.onChange();
  });
  let stopped = false;

  const spawn = (role: Role, group?: string): Member => {
    const sidecar = spawnSidecar({
      ...options.spawn,
      busy: () => options.load(sidecar) > 0,
      onMessage: (message) => {
        if (roster.of(sidecar)) options.onMessage(sidecar, message);
      },
      onGone: (why) => noteGone(sidecar, why),
      onStderr: (text) => roster.noteWords(sidecar, text),
    });
    const member = roster.add({ sidecar, role, group, ready: false, rest: undefined });
    sidecar.ready.then(
      (jail) => {
        member.ready = true;
        retries.succeeded();
        fill();
        options.onChange(jail);
      },
      () => undefined,
    );
    return member;
  };

  /** Starts what is missing, one process at a time. */
  const fill = (): void => {
    if (stopped || retries.isWaiting) return;
    const standby = roster.holder('standby');
    if (options.split) return void (standby ?? spawn('standby'));
    if (!roster.holder('active', '') && standby) promote(standby, 'active', '');
    const active = roster.holder('active', '');
    if (!active) spawn('active', '');
    else if (active.ready && !roster.holder('standby')) spawn('standby');
  };

  const retire = (sidecar: SidecarProcess, why: string): void => {
    if (!roster.remove(sidecar)) return;
    dying.add(sidecar.exited);
    sidecar.kill(why);
    fill();
  };

  const noteGone = (sidecar: SidecarProcess, why: string): void => {
    dying.delete(sidecar.exited);
    const member = roster.remove(sidecar);
    if (!member) return;
    const stderr = roster.lastWords(sidecar);
    options.log('warn', 'A sandbox sidecar is gone.', { pid: sidecar.pid, why, stderr });
    if (member.ready) fill();
    else if (!stopped) retries.failed();
    options.onGone(sidecar, why);
  };

  /** Whether there is a place for one more of this role, made by ending an idle one where there must be. */
  const makePlace = (role: 'active' | 'quarantine'): boolean => {
    const others = roster.members().filter((member) => member.role === role);
    if (others.length < (role === 'active' ? groupsMax : 1)) return true;
    const idle = others.find(({ sidecar }) => options.load(sidecar) === 0);
    if (idle) retire(idle.sidecar, 'another group needs its place');
    return idle !== undefined;
  };

  /** A group gets the standby, which is warm; a quarantine is started when it is needed. */
  const assign = (role: 'active' | 'quarantine', group: string): Member | undefined => {
    if (stopped || retries.isWaiting) return undefined;
    if (role === 'quarantine') return makePlace(role) ? spawn(role, group) : undefined;
    const standby = roster.holder('standby');
    if (!standby?.ready || !makePlace(role)) return undefined;
    promote(standby, role, group);
    fill();
    return standby;
  };

  fill();
  return {
    members: roster.members,
    get down() {
      return retries.failures >= 3;
    },
    find(role, group) {
      const member = roster.holder(role, group) ?? assign(role, group);
      return member?.ready ? member.sidecar : undefined;
    },
    lastWords: roster.lastWords,
    retire,
    rest(sidecar) {
      const member = roster.of(sidecar);
      if (!member || (member.role === 'active' && !options.split)) return;
      clearTimeout(member.rest);
      member.rest = setTimeout(() => retire(sidecar, 'it was idle'), idleMs);
    },
    keep: roster.keep,
    async stop() {
      stopped = true;
      retries.stop();
      for (const { sidecar } of roster.members()) retire(sidecar, 'the sandbox stops');
      await Promise.all(dying);
    },
  };
}

function promote(member: Member, role: Role, group: string): void {
  member.role = role;
  member.group = group;
}
