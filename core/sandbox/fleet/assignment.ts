// Assigns a sidecar to a group of plugins that has none, within the limit of processes.
import type { SidecarProcess } from './process.ts';
import { promote, type FleetMember, type SidecarRole, type Roster } from './roster.ts';

/** Maximum number of groups with a process. Above it, an idle one is evicted. */
const groupsMax = 8;

export interface AssignmentOptions {
  readonly roster: Roster;
  load(sidecar: SidecarProcess): number;
  /** Returns true while no process may be started. */
  isBlocked(): boolean;
  spawn(role: SidecarRole, group: string): FleetMember;
  retire(sidecar: SidecarProcess, why: string): void;
  /** Starts missing sidecars. */
  fill(): void;
}

export type Assign = (role: 'active' | 'quarantine', group: string) => FleetMember | undefined;

export function createAssignment({ roster, load, ...fleet }: AssignmentOptions): Assign {
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
