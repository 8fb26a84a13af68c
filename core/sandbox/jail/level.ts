// How well the operating system holds a sidecar: what was put in place, one word for it, and what is missing by name.
import type { EntryReport } from '../protocol.ts';

/** `powerless`: no capability is left. `ownUser`: a user id or user namespace of its own. */
export interface JailReport extends EntryReport {
  powerless: boolean;
  ownUser: boolean;
  namespaces: string[];
  controlGroup: boolean;
}

export const noJail: JailReport = {
  landlock: 0,
  seccomp: false,
  rlimits: false,
  powerless: false,
  ownUser: false,
  namespaces: [],
  controlGroup: false,
};

/** `full`: the four parts that every full jail has; `partial`: some of them; `off`: Node's permission flags only. */
export type JailLevel = 'full' | 'partial' | 'off';

/** From this version on signals and abstract sockets end at the jail's wall too. */
const landlockAbiMin = 6;
const namespacesWanted = ['pid', 'net', 'ipc', 'uts'];

export function levelOf(report: JailReport): JailLevel {
  if (missingOf(report).length === 0) return 'full';
  return report.landlock > 0 || report.seccomp || report.rlimits ? 'partial' : 'off';
}

/** What a level means to whoever decides which plugins to install. */
export function describeLevel(report: JailReport): string {
  switch (levelOf(report)) {
    case 'full':
      return 'Plugins run in a jail that has all of its walls (level full).';
    case 'partial':
      return `Plugins run in a jail that lacks some of its walls (level partial): install only plugins that you trust. It lacks ${missingOf(report).join(', ')}.`;
    case 'off':
      return 'Plugins run without a jail (level off): install only plugins that you trust.';
  }
}

/** Parts without which a jail is not full. */
export function missingOf(report: JailReport): string[] {
  return [
    ...(report.landlock >= landlockAbiMin
      ? []
      : [
          `Landlock ABI ${landlockAbiMin} (the kernel has ${report.landlock === 0 ? 'none' : report.landlock})`,
        ]),
    ...(report.seccomp ? [] : ['a seccomp filter']),
    ...(report.rlimits ? [] : ['resource limits']),
    ...(report.powerless ? [] : ['a process without capabilities']),
  ];
}

/** Second walls that this kernel or user does not give. */
export function absentOf(report: JailReport): string[] {
  return [
    ...(report.ownUser ? [] : ['a user of its own']),
    ...namespacesWanted
      .filter((name) => !report.namespaces.includes(name))
      .map((name) => `a ${name} namespace`),
    ...(report.controlGroup ? [] : ['a control group']),
  ];
}
