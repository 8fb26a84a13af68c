// Type of the repairs of `tatami doctor fix ID`. No server may use the directory during a repair.
import type { Subject } from '../subject.ts';

export interface FixConsent {
  /** Path of a backup of this installation, or of a directory into which the data directory is copied first. */
  readonly backup: string | null;
  readonly yes: boolean;
  /** True if the operator changed the database with another program. */
  readonly altered: boolean;
}

export interface Fix {
  readonly id: string;
  /** Sentence without subject that describes the fix when it asks for confirmation. */
  readonly does: string;
  /** True if the fix deletes data that afterwards only a backup has. */
  readonly isDestructive: boolean;
  /** True if the fix changes no pages of the database, or handles damaged pages itself. */
  readonly bearsDamage?: true;
  /** Called before anything is copied or changed. @throws Error that says why the fix is refused */
  check?(subject: Subject, consent: FixConsent): void;
  /** True if root may run the fix on the directory of another user, because it leaves no files owned by root. */
  readonly bearsOwner?: true;
  /** @returns sentence without subject about what was done */
  mend(subject: Subject, consent: FixConsent): string;
}
