// Determines the modes of an install's next run, and guards operations that need an active plugin.
import type { InstallMode, InstallModes } from './contract.ts';
import { probationMessage } from '../../automations/index.ts';
import type { Install } from './model.ts';
import { isRuleId } from '../../automations/contract.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';

/** Number of approved runs that end a probation. */
export const probationRuns = 20;

/** Returns the message about a probation, with the ways to end it. */
export function probationSentence({ pluginId, probationLeft, rule }: Install): string {
  if (rule) return probationMessage(probationLeft);
  const missing = probationLeft === 1 ? '1 more run' : `${probationLeft} more runs`;
  return `On probation: the plugin only proposes its writes until people have approved ${missing}. Approve runs with \`tatami proposals approve\`, or end probation with \`tatami plugins update ${pluginId} --no-probation\` (API: \`"probation": false\`).`;
}

/** Default mode, and the modes of write classes and fields that differ from it. */
export interface Modes {
  readonly mode: InstallMode;
  readonly modes: InstallModes;
}

interface ModeFactors extends Modes {
  readonly probationLeft: number;
  readonly budget: Install['budget'];
}

/**
 * Replaces `apply` by `propose` during probation, or if the daily budget is exhausted and its `whenSpent` is
 * `propose`.
 */
export function effectiveModes(install: ModeFactors, isSpent = false): Modes {
  const { mode, modes, probationLeft, budget } = install;
  const needsApproval = probationLeft > 0 || (isSpent && budget.whenSpent === 'propose');
  if (!needsApproval) return install;
  const requireApproval = (one: InstallMode): InstallMode => (one === 'apply' ? 'propose' : one);
  return {
    mode: requireApproval(mode),
    modes: Object.fromEntries(Object.entries(modes).map(([name, one]) => [name, requireApproval(one)])),
  };
}

export function effectiveMode(install: ModeFactors): InstallMode {
  return effectiveModes(install).mode;
}

/** @throws ApiError conflict */
export function requireActive({ id, state, stateReason }: Install): void {
  if (state === 'active') return;
  // Some reasons end with a period.
  const reason = (stateReason ?? 'no reason was recorded').replace(/\.$/, '');
  const words = isRuleId(id)
    ? `The automation is ${state === 'paused_by_admin' ? 'paused' : state}: ${reason}. Enable it, then retry.`
    : `The plugin is ${state}: ${reason}. Make the plugin active, then retry.`;
  throw new ApiError('conflict', words);
}
