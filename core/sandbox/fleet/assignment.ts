// Gives a group of plugins the sidecar that it does not have yet, where there is a place for one more.
import type { SidecarProcess } from './process.ts';
import { promote, type Member, type Role, type Roster } from './roster.ts';

/** Groups with a process at once; the least recently used that is idle gives way. */
const groupsMax = 8;

export interface AssignmentOptions {
  readonly roster: Roster;
  load(sidecar: SidecarProcess): number;
  /** Nothing may be started now. */
  isBlocked(): boolean;
  spawn(role: Role, group: string): Member;
  retire(sidecar: SidecarProcess, why: string): void;
  /** Starts what is missing. */
  fill(): void;
}

export type Assign = (role: 'active' | 'quarantine', group: string) => Member | undefined;

export function createAssignment({ roster, load, ...fleet }: AssignmentOptions): Assign {
  /** Whether there is a place for one more of this role, which an idle one gives where there is none left. */
  const makePlace = (role: 'active' | 'quarantine'): boolean => {
    const others = roster.members().filter((member) => member.role === role);
    if (others.length < (role === 'active' ? groupsMax : 1)) return true;
    const idle = others.find(({ sidecar }) => load(sidecar) === 0);
    if (idle) fleet.retire(idle.sidecar, 'another group needs its place');
    return idle !== undefined;
  };

  return (role, group) => {
    if (fleet.isBlocked()) return undefined;
    if (role === 'quarantine') return makePlace(role) ? fleet.spawn(role, group) : undefined;
    // The standby is warm, so that the group need not wait for a start.
    const standby = roster.holder('standby');
    if (!standby?.ready || !makePlace(role)) return undefined;
    promote(standby, role, group);
    fleet.fill();
    return standby;
  };
}
