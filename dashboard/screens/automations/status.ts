import type { Automation } from '@tatami/sdk/client';
import { text } from '../../text/automations.ts';

/** Returns true if people approve the next runs of an automation that applies its changes otherwise. */
export const isOnProbation = ({
  state,
  mode,
  probation,
}: Pick<Automation, 'state' | 'mode' | 'probation'>): boolean =>
  state === 'active' && mode === 'apply' && probation !== null;

/** Returns the state of an automation in words, with the reason if it does not run. */
export function statusOf({ state, stateReason, mode, probation }: Automation): string {
  const reason = stateReason ?? text.noReason;
  if (state === 'paused') return text.pausedState;
  if (state === 'suspended') return text.suspended(reason);
  if (state !== 'active') return text.stopped(reason);
  return mode === 'apply' && probation ? text.probation(probation.runsLeft) : text.modes[mode];
}
