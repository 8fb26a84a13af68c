// Lists the sidecars with their role, their group and the end of their stderr.
import type { SidecarProcess } from './process.ts';

export type SidecarRole = 'active' | 'standby' | 'quarantine';

export interface FleetMember {
  readonly sidecar: SidecarProcess;
  role: SidecarRole;
  /** Undefined for the standby. */
  group: string | undefined;
  ready: boolean;
  /** Timer that ends the sidecar if it stays idle. */
  rest: Timer | undefined;
}

export interface Roster {
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

export function createRoster(): Roster {
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

export function promote(member: FleetMember, role: SidecarRole, group: string): void {
  member.role = role;
  member.group = group;
}
