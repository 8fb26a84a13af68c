// What becomes of the writes of an install's next run.
import type { InstallMode } from './contract.ts';
import type { Install } from './schema.ts';

/** Runs of a new install that people approve before it writes by itself. */
export const probationRuns = 20;

/** State of an install on probation, the approvals that are missing and the ways to end it. */
export function probationSentence({
  pluginId,
  probationLeft,
}: Pick<Install, 'pluginId' | 'probationLeft'>): string {
  const missing = probationLeft === 1 ? '1 more of its runs' : `${probationLeft} more of its runs`;
  return `On probation: it only proposes what it would write, until people have approved ${missing}. Approve them with \`tatami proposals approve\`, or end probation with \`tatami plugin probation ${pluginId} --end\` (API: \`"probation": false\`).`;
}

/** The mode of writes, and those of classes and fields that have another. */
export type Modes = Pick<Install, 'mode' | 'modes'>;
type Standing = Modes & Pick<Install, 'probationLeft' | 'budget'>;

/** What a plugin does in place of writing while it is not trusted to, or has spent its budget. @param isSpent its budget of the day */
export function effectiveModes(install: Standing, isSpent = false): Modes {
  const { mode, modes, probationLeft, budget } = install;
  const isHeldBack = probationLeft > 0 || (isSpent && budget.whenSpent === 'propose');
  if (!isHeldBack) return install;
  const held = (one: InstallMode): InstallMode => (one === 'apply' ? 'propose' : one);
  return {
    mode: held(mode),
    modes: Object.fromEntries(Object.entries(modes).map(([name, one]) => [name, held(one)])),
  };
}

export function effectiveMode(install: Standing): InstallMode {
  return effectiveModes(install).mode;
}
