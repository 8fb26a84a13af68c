// Dependencies of people, sign-in, API keys and OAuth.
import type { Ids } from '../../platform/lib/ids.ts';
import type { Log } from '../../platform/lib/log.ts';
import type { Mail } from '../../platform/lib/mail.ts';
import type { Sealing } from '../../platform/lib/secrets/sealing.ts';
import type { Store } from '../../platform/store/store.ts';

/** For the id and the times of a new row. */
export interface CreationDeps {
  readonly ids: Ids;
  nowMs(): number;
}

/** For links that expire. */
export interface LinkDeps {
  readonly baseUrl: string;
  nowMs(): number;
}

export interface IdentityDeps extends CreationDeps, LinkDeps {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly log: Log;
  /** Null if no mail server is configured. */
  readonly mail: Mail | null;
}
