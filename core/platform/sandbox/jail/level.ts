// Derives the jail level of a sidecar, and the names of its missing parts, from the report of what was applied.
import type { EntryReport } from '../protocol.ts';

/** `powerless`: the sidecar has no capabilities. `ownUser`: it has its own user id or user namespace. */
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

/** `full`: every restriction that `missingOf` checks is in place; `partial`: some are; `off`: Node's permission flags only. */
export type JailLevel = 'full' | 'partial' | 'off';

/** First Landlock ABI version that also restricts signals and abstract sockets. */
const landlockAbiMin = 6;
/** Linux namespaces of a full jail. */
export const namespacesWanted = ['pid', 'net', 'ipc', 'uts'];

export function levelOf(report: JailReport): JailLevel {
  if (missingOf(report).length === 0) return 'full';
  return report.landlock > 0 || report.seccomp || report.rlimits ? 'partial' : 'off';
}

/** Returns a log message for the administrator: the level, and which plugins are safe to install. */
export function describeLevel(report: JailReport): string {
  switch (levelOf(report)) {
    case 'full':
      return 'Plugins run in a complete jail (level full).';
    case 'partial':
      return `Plugins run in an incomplete jail (level partial): install only plugins that you trust. Missing: ${missingOf(report).join(', ')}.`;
    case 'off':
      return 'Plugins run without a jail (level off): install only plugins that you trust.';
  }
}

/** Returns the parts that a full jail needs and that are not in place. */
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

/** Returns the optional parts that this kernel or user does not offer. */
export function absentOf(report: JailReport): string[] {
  return [
    ...(report.ownUser ? [] : ['a separate user']),
    ...namespacesWanted
      .filter((name) => !report.namespaces.includes(name))
      .map((name) => `a ${name} namespace`),
    ...(report.controlGroup ? [] : ['a control group']),
  ];
}
