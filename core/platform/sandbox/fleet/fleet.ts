// Manages the sidecars: one active per group of plugins that may share a process, one warm standby for the
// next group that needs a sidecar, and one for quarantined plugins, started on demand. A failed start is
// retried with backoff.
import type { Clock } from '../../lib/time/clock.ts';
import type { JailReport } from '../jail/level.ts';
import { spawnSidecar, type SidecarProcess, type SidecarSettings, type Spoken } from './process.ts';

/** An idle sidecar ends after this time, except for the active one of a sandbox that is not split. */
const idleMs = 30_000;
/**
 * Delay of the first standby of a sandbox that is not split: the first runs get the CPU to themselves, and a
 * process that runs for seconds starts one sidecar instead of two. A crash before then waits for a new
 * sidecar, about 0.2 s.
 */
const standbyDelayMs = 10_000;

/** Maximum number of groups with a process. Above it, an idle one is evicted. */
const groupsMax = 8;

export type SidecarRole = 'active' | 'standby' | 'quarantine';

interface FleetMember {
  readonly sidecar: SidecarProcess;
  role: SidecarRole;
  /** Undefined for the standby. */
  group: string | undefined;
  ready: boolean;
  /** Timer that ends the sidecar if it stays idle. */
  rest: Timer | undefined;
}

interface FleetOptions {
  spawn: SidecarSettings;
  after: Clock['after'];
  /** False if all plugins are in one group, whose name is empty. */
  split: boolean;
  /** Returns the number of runs in flight in this sidecar. */
  load(sidecar: SidecarProcess): number;
  /** @throws ProtocolBreach */
  onMessage(sidecar: SidecarProcess, message: Spoken): void;
  /** Called when a process exits unexpectedly, after its replacement was started or scheduled. */
  onGone(sidecar: SidecarProcess, why: string): void;
  /** Called when a sidecar became ready, or when `find` may start one again. */
  onChange(jail?: JailReport): void;
  log(level: 'info' | 'warn' | 'error', message: string, fields?: object): void;
}

export interface Fleet {
  members(): readonly FleetMember[];
  /** True after three failed starts in a row. */
  readonly down: boolean;
  /** Returns the group's sidecar in this role if it is ready; otherwise starts or assigns one if possible. */
  find(role: 'active' | 'quarantine', group: string): SidecarProcess | undefined;
  /** Returns the end of the sidecar's stderr, where V8 writes why it aborts. */
  lastWords(sidecar: SidecarProcess): string;
  /** Kills the sidecar and fills its role at once, by the standby or a new process. */
  retire(sidecar: SidecarProcess, why: string): void;
  /** Marks the sidecar as idle; it ends if it stays idle. */
  rest(sidecar: SidecarProcess): void;
  /** Marks the sidecar as used: it does not end, and becomes the last to be evicted. */
  markUsed(sidecar: SidecarProcess): void;
  stop(): Promise<void>;
}

export function createFleet(options: FleetOptions): Fleet {
  const { split, load, after } = options;
  const roster = createRoster();
  /** Killed sidecars that have not exited yet. */
  const dying = new Set<Promise<unknown>>();
  const retries = createRetries(() => {
    fill();
    options.onChange();
  });

  const spawn = (role: SidecarRole, group?: string): FleetMember =>
    spawnMember(options, roster, { role, group }, { ready: noteReady, gone: noteGone });

  const noteReady = (jail: JailReport): void => {
    retries.succeeded();
    fill();
    options.onChange(jail);
  };

  const noteGone = (sidecar: SidecarProcess, why: string): void => {
    dying.delete(sidecar.exited);
    const member = roster.remove(sidecar);
    if (!member) return;
    const stderr = roster.lastWords(sidecar);
    options.log('warn', 'A sandbox sidecar exited.', { pid: sidecar.pid, why, stderr });
    if (member.ready) fill();
    else retries.failed();
    options.onGone(sidecar, why);
  };

  const missing = () => (retries.isWaiting ? undefined : missingOf(roster, split));
  const { fill, stop: stopFilling } = createFilling(missing, spawn, after, split ? 0 : standbyDelayMs);

  const retire = (sidecar: SidecarProcess, why: string): void => {
    if (!roster.remove(sidecar)) return;
    dying.add(sidecar.exited);
    sidecar.kill(why);
    fill();
  };

  const assign = createAssignment({ roster, load, isBlocked: () => retries.isWaiting, spawn, retire, fill });
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
      if (roster.of(sidecar)?.role === 'active' && !split) return;
      roster.rest(sidecar, idleMs, () => retire(sidecar, 'idle'));
    },
    markUsed: roster.markUsed,
    async stop() {
      retries.stop();
      stopFilling();
      for (const { sidecar } of roster.members()) retire(sidecar, 'the sandbox is stopping');
      await Promise.all(dying);
    },
  };
}

interface Vacancy {
  readonly role: SidecarRole;
  readonly group: string | undefined;
}

/** Creates a function that starts missing sidecars one at a time, and the first standby after a delay. */
function createFilling(
  missing: () => Vacancy | undefined,
  spawn: (role: SidecarRole, group?: string) => FleetMember,
  after: Clock['after'],
  /** Delay of the first standby; 0 for none. */
  delayMs: number,
) {
  let cancel: (() => void) | undefined;
  let isWarm = delayMs === 0;
  const fill = (): void => {
    const vacancy = missing();
    if (!vacancy) return;
    if (isWarm || vacancy.role !== 'standby') spawn(vacancy.role, vacancy.group);
    else cancel ??= after(delayMs, warm);
  };
  const warm = (): void => {
    isWarm = true;
    fill();
  };
  return { fill, stop: () => cancel?.() };
}

function spawnMember(
  options: FleetOptions,
  roster: Roster,
  { role, group }: Vacancy,
  on: { ready(jail: JailReport): void; gone(sidecar: SidecarProcess, why: string): void },
): FleetMember {
  const sidecar = spawnSidecar({
    ...options.spawn,
    idle: role === 'quarantine',
    busy: () => options.load(sidecar) > 0,
    onMessage: (message) => {
      if (roster.of(sidecar)) options.onMessage(sidecar, message);
    },
    onGone: (why) => on.gone(sidecar, why),
    onStderr: (text) => roster.noteWords(sidecar, text),
  });
  const member = roster.add({ sidecar, role, group, ready: false, rest: undefined });
  sidecar.ready.then(
    (jail) => {
      member.ready = true;
      on.ready(jail);
    },
    () => undefined,
  );
  return member;
}

/** Promotes the standby if the active sidecar is missing, then returns the role that has no process. */
function missingOf(roster: Roster, split: boolean): Vacancy | undefined {
  const standby = roster.holder('standby');
  if (split) return standby ? undefined : { role: 'standby', group: undefined };
  if (!roster.holder('active', '') && standby) promote(standby, 'active', '');
  const active = roster.holder('active', '');
  if (!active) return { role: 'active', group: '' };
  return active.ready && !roster.holder('standby') ? { role: 'standby', group: undefined } : undefined;
}

interface AssignmentOptions {
  readonly roster: Roster;
  load(sidecar: SidecarProcess): number;
  /** Returns true while no process may be started. */
  isBlocked(): boolean;
  spawn(role: SidecarRole, group: string): FleetMember;
  retire(sidecar: SidecarProcess, why: string): void;
  /** Starts missing sidecars. */
  fill(): void;
}

type Assign = (role: 'active' | 'quarantine', group: string) => FleetMember | undefined;

function createAssignment({ roster, load, ...fleet }: AssignmentOptions): Assign {
  /** Returns true if one more sidecar of this role fits, after evicting an idle one if needed. */
  const freeCapacity = (role: 'active' | 'quarantine'): boolean => {
    const others = roster.members().filter((member) => member.role === role);
    if (others.length < (role === 'active' ? groupsMax : 1)) return true;
    const idle = others.find(({ sidecar }) => load(sidecar) === 0);
    if (idle) fleet.retire(idle.sidecar, 'evicted for another group');
    return idle !== undefined;
  };

  return (role, group) => {
    if (fleet.isBlocked()) return undefined;
    if (role === 'quarantine') return freeCapacity(role) ? fleet.spawn(role, group) : undefined;
    // The warm standby saves the group the wait for a start.
    const standby = roster.holder('standby');
    if (!standby?.ready || !freeCapacity(role)) return undefined;
    promote(standby, role, group);
    fleet.fill();
    return standby;
  };
}

function promote(member: FleetMember, role: SidecarRole, group: string): void {
  member.role = role;
  member.group = group;
}

/** Sidecars with their role, their group and the end of their stderr. */
interface Roster {
  /** Returns the members, least recently used first. */
  members(): readonly FleetMember[];
  of(sidecar: SidecarProcess): FleetMember | undefined;
  holder(role: SidecarRole, group?: string): FleetMember | undefined;
  add(member: FleetMember): FleetMember;
  /** @returns the removed member; undefined if the sidecar was not listed */
  remove(sidecar: SidecarProcess): FleetMember | undefined;
  /** Calls `then` after this time, unless the sidecar is used or removed earlier. */
  rest(sidecar: SidecarProcess, ms: number, then: () => void): void;
  /** Makes the sidecar the most recently used one, and cancels `rest`. */
  markUsed(sidecar: SidecarProcess): void;
  noteWords(sidecar: SidecarProcess, text: string): void;
  lastWords(sidecar: SidecarProcess): string;
}

const lastWordsChars = 4000;

function createRoster(): Roster {
  /** Bounded by the groups with a process, one standby and one quarantine. */
  const members = new Map<SidecarProcess, FleetMember>();
  const words = new WeakMap<SidecarProcess, string>();

  const remove = (sidecar: SidecarProcess): FleetMember | undefined => {
    const member = members.get(sidecar);
    clearTimeout(member?.rest);
    members.delete(sidecar);
    return member;
  };
  const add = (member: FleetMember): FleetMember => {
    members.set(member.sidecar, member);
    return member;
  };
  const lastWords = (sidecar: SidecarProcess): string => words.get(sidecar) ?? '';

  return {
    members: () => [...members.values()],
    of: (sidecar) => members.get(sidecar),
    holder(role, group) {
      for (const member of members.values())
        if (member.role === role && member.group === group) return member;
      return undefined;
    },
    add,
    remove,
    rest(sidecar, ms, then) {
      const member = members.get(sidecar);
      if (!member) return;
      clearTimeout(member.rest);
      member.rest = setTimeout(then, ms);
    },
    markUsed(sidecar) {
      const member = remove(sidecar);
      if (member) add(member);
    },
    noteWords: (sidecar, text) => void words.set(sidecar, (lastWords(sidecar) + text).slice(-lastWordsChars)),
    lastWords,
  };
}

const retryMs = { first: 100, most: 5000 };

/** Retries after failed starts of a sidecar, with exponential backoff. */
interface Retries {
  /** Number of failed starts since the last successful one. */
  readonly failures: number;
  /** True until the next retry, and always after `stop`. */
  readonly isWaiting: boolean;
  failed(): void;
  succeeded(): void;
  /** Cancels the pending retry and prevents further ones. */
  stop(): void;
}

function createRetries(tryAgain: () => void): Retries {
  let failures = 0;
  let timer: Timer | undefined;
  let stopped = false;
  return {
    get failures() {
      return failures;
    },
    get isWaiting() {
      return stopped || timer !== undefined;
    },
    failed() {
      if (stopped) return;
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          timer = undefined;
          tryAgain();
        },
        Math.min(retryMs.first * 2 ** failures++, retryMs.most),
      );
    },
    succeeded() {
      failures = 0;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
