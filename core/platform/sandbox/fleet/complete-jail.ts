// Completes the jail of a started sidecar from outside, before any guest code runs, and reports its parts.
import { createControlGroup, type ControlGroup, type CgroupHierarchies } from '../jail/cgroup.ts';
import type { Confinement } from '../jail/confinement.ts';
import { capResources, type User } from '../jail/core-side.ts';
import type { JailReport } from '../jail/level.ts';
import type { EntryReport } from '../protocol.ts';
import type { ProcessStatus } from './vitals.ts';

export interface Jailed {
  readonly report: JailReport;
  /** Control group of the sidecar, present even if the process could not be moved into it. */
  readonly group: ControlGroup | undefined;
}

export async function completeJail(
  sidecar: { readonly pid: number; readonly status: ProcessStatus; readonly user: User | undefined },
  said: EntryReport,
  means: { readonly confinement: Confinement; readonly hierarchies: CgroupHierarchies },
): Promise<Jailed> {
  const { namespaces, ownUser } = means.confinement;
  const alone = ownUser || namespaces.includes('user');
  const { powerless, filtered } = sidecar.status.confinement();
  const rlimits = said.rlimits && (await capResources(sidecar.pid, sidecar.user, alone));
  const { group, controlGroup } = await enterGroup(means.hierarchies, sidecar.pid);
  const { landlock } = said;
  const seccomp = said.seccomp && filtered;
  return {
    report: { landlock, seccomp, rlimits, powerless, ownUser: alone, namespaces, controlGroup },
    group,
  };
}

async function enterGroup(
  hierarchies: CgroupHierarchies,
  pid: number,
): Promise<{ group: ControlGroup | undefined; controlGroup: boolean }> {
  let group: ControlGroup | undefined;
  try {
    if (hierarchies.length === 0) return { group, controlGroup: false };
    group = await createControlGroup(hierarchies, pid);
    await group.adopt(pid);
    return { group, controlGroup: true };
  } catch {
    return { group, controlGroup: false };
  }
}
