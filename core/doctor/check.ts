// What `tatami doctor` is made of: checks that look at one thing each and change nothing, and what they find.
import type { RowSubject, Subject } from './subject.ts';

/** `note`: worth knowing; `warning`: will hurt one day; `error`: hurts now. */
type Level = 'note' | 'warning' | 'error';

export interface Finding {
  readonly level: Level;
  /** Says what it is and, where nothing of ours can mend it, what to do. */
  readonly message: string;
  /** The id of the fix that mends it: `tatami doctor fix ID`. */
  readonly fix?: string;
  /** Why checks that read the database are left out after a check of the file that found this. */
  readonly blocks?: 'damaged' | 'of an earlier schema';
}

export interface Check {
  readonly name: string;
  /** What is right where nothing is found. */
  readonly holds: string;
  /** The database must be one that can be read. */
  readonly readsDatabase?: true;
  look(subject: Subject): Promise<readonly Finding[]> | readonly Finding[];
}

/** A check that reads nothing but rows. */
export interface RowCheck extends Check {
  look(subject: RowSubject): readonly Finding[];
}

export const note = (message: string, fix?: string): Finding => finding('note', message, fix);
export const warning = (message: string, fix?: string): Finding => finding('warning', message, fix);
export const error = (message: string, fix?: string): Finding => finding('error', message, fix);
/** An error after which the database cannot be read. */
export const damage = (message: string, fix?: string): Finding => ({
  ...error(message, fix),
  blocks: 'damaged',
});

function finding(level: Level, message: string, fix: string | undefined): Finding {
  return { level, message, ...(fix === undefined ? {} : { fix }) };
}

/** The first few of many, and how many there are. */
export function some(items: readonly string[], shown = 5): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
