// Assigns writes to guarded action classes by their effects instead of their parameters, so that the result
// does not depend on how a request selects a state: by name, by type, or as the default of another team.
// docs/decisions/0071.
import type { GuardedClass } from '../lib/guarded.ts';
import { isFinishedState } from '../tracker/directory.ts';
import type { StateType } from '../tracker/workflows/contract.ts';

/** Effect of a write on one object. */
export interface ToolEffect {
  readonly does: 'create' | 'update' | 'delete';
  /** Type of the state of an issue before the write; undefined for other objects, and for a creation. */
  readonly stateBefore: StateType | undefined;
  readonly stateAfter: StateType | undefined;
  /** True for an issue that the same client created for the same member. */
  readonly isOwn: boolean;
}

/** Creations are in no class, because the created object is the agent's own. */
export function classesOf(effects: readonly ToolEffect[]): ReadonlySet<GuardedClass> {
  const moved = effects.filter(({ does }) => does !== 'create');
  const classes = new Set<GuardedClass>();
  if (moved.some(({ does }) => does === 'delete')) classes.add('delete');
  if (moved.length > 1) classes.add('bulk');
  if (moved.some(finishes)) classes.add('finish');
  if (moved.some(({ isOwn }) => !isOwn)) classes.add('others');
  return classes;
}

/** A change between two finished states, such as from canceled to completed, counts as finishing. */
function finishes({ does, stateBefore, stateAfter }: ToolEffect): boolean {
  return does === 'update' && stateAfter !== stateBefore && isFinishedState(stateAfter);
}
