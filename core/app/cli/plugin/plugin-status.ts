// Whether an installed plugin runs, and what becomes of what it writes: as it is, which while it is on probation is not what it was set to.
import { effectiveMode } from '../../../features/plugins/offline.ts';
import type { InstallMode } from '../../../features/plugins/installs/contract.ts';

interface Probation {
  readonly runsLeft: number;
  readonly message: string;
}

/** Of an install as it is shown. */
export interface PluginStatus {
  readonly mode: InstallMode;
  readonly state: string;
  readonly probation?: Probation | null;
}

/** The mode that its next run has. */
export function modeNow({ mode, probation }: PluginStatus): InstallMode {
  const probationLeft = probation?.runsLeft ?? 0;
  return effectiveMode({ mode, modes: {}, probationLeft, budget: { whenSpent: 'stop' } });
}

/** `active`, or `probation: 20 approvals missing`. */
export function stateNow({ state, probation }: PluginStatus): string {
  if (!probation) return state;
  const { runsLeft } = probation;
  const left = `${runsLeft} ${runsLeft === 1 ? 'approval' : 'approvals'} left`;
  return state === 'probation' ? `probation: ${left}` : `${state}, probation: ${left}`;
}

/** State of its probation in words, with the ways to end it; empty of a plugin that is not on probation. */
export function probationLines({ probation }: Pick<PluginStatus, 'probation'>): string[] {
  return probation?.message === undefined ? [] : [probation.message];
}
