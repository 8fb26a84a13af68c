// What `tatami doctor fix ID` mends: one thing each, and says what it did. No server may have the directory open meanwhile.
import type { Subject } from '../subject.ts';

export interface Consent {
  /** A backup of this installation, or a folder that the data directory is copied into before. */
  readonly backup: string | null;
  readonly yes: boolean;
  /** The operator changed the database with another program. */
  readonly altered: boolean;
}

export interface Fix {
  readonly id: string;
  /** In one sentence, for whoever is asked to confirm it. */
  readonly does: string;
  /** Something is gone afterwards that only a backup has. */
  readonly isDestructive: boolean;
  /** It touches no page of the database, or says itself what it makes of damaged ones. */
  readonly bearsDamage?: true;
  /** Called before anything is copied or changed. @throws Error that says why it is refused */
  check?(subject: Subject, consent: Consent): void;
  /** Root may use it on the directory of another user: it leaves nothing there that is root's. */
  readonly bearsOwner?: true;
  /** @returns what it did, in words */
  mend(subject: Subject, consent: Consent): string;
}
