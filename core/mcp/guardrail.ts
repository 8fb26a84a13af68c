// Which of the guarded classes a write is in, judged by what it would change and not by how it was asked: a state given by its name, a
// type or as another team's default comes to the same. docs/decisions/0071.
import type { GuardedClass } from '../lib/guarded.ts';
import { isFinishedState } from '../tracker/directory.ts';
import type { StateType } from '../tracker/workflows/contract.ts';

/** What a write would do to one object. */
export interface Effect {
  readonly does: 'create' | 'update' | 'delete';
  /** Of an issue, the type of its state before and after; undefined where there is none. */
  readonly stateBefore: StateType | undefined;
  readonly stateAfter: StateType | undefined;
  /** Whether it is an issue that the same client made for the same member. */
  readonly isOwn: boolean;
}

/** What is made belongs to whoever made it: it is in none of the classes. */
export function classesOf(effects: readonly Effect[]): ReadonlySet<GuardedClass> {
  const moved = effects.filter(({ does }) => does !== 'create');
  const classes = new Set<GuardedClass>();
  if (moved.some(({ does }) => does === 'delete')) classes.add('delete');
  if (moved.length > 1) classes.add('bulk');
  if (moved.some(finishes)) classes.add('finish');
  if (moved.some(({ isOwn }) => !isOwn)) classes.add('others');
  return classes;
}

/** What was canceled and is now completed was decided on anew. */
function finishes({ does, stateBefore, stateAfter }: Effect): boolean {
  return does === 'update' && stateAfter !== stateBefore && isFinishedState(stateAfter);
}
