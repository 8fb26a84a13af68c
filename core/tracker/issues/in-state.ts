// What goes with a move to another state: what was put off in triage is not any more.
import type { Issue } from './kind.ts';

export function inState(stateId: string): Pick<Issue, 'stateId' | 'snoozedUntil'> {
  return { stateId, snoozedUntil: null };
}
