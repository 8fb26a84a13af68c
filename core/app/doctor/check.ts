// Types of the checks of `tatami doctor`, which are read-only, and constructors of their findings.
import type { RowSubject, Subject } from './subject.ts';

/** `note`: information; `warning`: a future problem; `error`: a problem now. */
type Level = 'note' | 'warning' | 'error';

export interface Finding {
  readonly level: Level;
  /** Names the problem and, if no fix repairs it, what to do. */
  readonly message: string;
  /** Id of the fix that repairs the problem with `tatami doctor fix ID`. */
  readonly fix?: string;
  /** Reason to skip the later checks that read the database. */
  readonly blocks?: 'damaged' | 'of an earlier schema';
}

export interface Check {
  readonly name: string;
  /** Statement that is true if the check has no findings. */
  readonly holds: string;
  /** True if the check needs a readable database. */
  readonly readsDatabase?: true;
  look(subject: Subject): Promise<readonly Finding[]> | readonly Finding[];
}

export interface RowCheck extends Check {
  look(subject: RowSubject): readonly Finding[];
}

export const note = (message: string, fix?: string): Finding => finding('note', message, fix);
export const warning = (message: string, fix?: string): Finding => finding('warning', message, fix);
export const error = (message: string, fix?: string): Finding => finding('error', message, fix);
/** Returns an error that blocks later checks of the database. */
export const damage = (message: string, fix?: string): Finding => ({
  ...error(message, fix),
  blocks: 'damaged',
});

function finding(level: Level, message: string, fix: string | undefined): Finding {
  return { level, message, ...(fix === undefined ? {} : { fix }) };
}

/** Returns the first items as a list, with the number of the others. */
export function some(items: readonly string[], listedMax = 5): string {
  const more = items.length - listedMax;
  return items.slice(0, listedMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
