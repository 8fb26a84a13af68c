// What becomes of the writes of an install's next run.
import type { InstallMode } from './contract.ts';
import type { Install } from './schema.ts';

/** Runs of a new install that are proposed before it writes by itself. */
export const probationRuns = 20;

/** What a plugin does in place of writing while it is not trusted to, or has spent its budget. Until runs can be proposed, they are simulated. */
const heldBack: InstallMode = 'simulate';

/** @param isSpent whether its budget of the day is spent */
export function effectiveMode(
  { mode, probationLeft, budget }: Pick<Install, 'mode' | 'probationLeft' | 'budget'>,
  isSpent = false,
): InstallMode {
  const isHeldBack = probationLeft > 0 || (isSpent && budget.whenSpent === 'propose');
  return mode === 'apply' && isHeldBack ? heldBack : mode;
}
