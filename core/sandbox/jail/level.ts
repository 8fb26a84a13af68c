/** One word for how well the operating system holds a sidecar. */
import type { JailReport } from '../protocol.ts';

/** `full`: Landlock, seccomp and resource limits; `partial`: some of them; `off`: Node's permission flags only. */
export type JailLevel = 'full' | 'partial' | 'off';

export function levelOf(report: JailReport): JailLevel {
  const parts = [report.landlock > 0, report.seccomp, report.rlimits].filter(Boolean).length;
  return parts === 3 ? 'full' : parts > 0 ? 'partial' : 'off';
}
