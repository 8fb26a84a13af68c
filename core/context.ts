// What an operation is given. Everything that varies between callers, tests and processes is in here: who asks, in
// which workspace, at what time, with which ids, and what a plugin run has staged so far.
import type { Directory } from './contracts.ts';
import type { Staging } from './changes/staging.ts';
import type { Actor, Cause } from './events/origin.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Ids } from './lib/ids.ts';
import type { Log } from './lib/log.ts';
import type { Mail } from './lib/mail.ts';
import type { Problems } from './lib/problems.ts';
import type { Tally } from './lib/tally.ts';
import type { Sealing } from './lib/sealing.ts';
import type { Authority } from './rights/authority.ts';
import type { Rights } from './rights/rights.ts';
import type { Standing } from './rights/roles.ts';
import type { LoopTurns } from './lib/fairness/loop-turns.ts';
import type { Blobs } from './store/blobs.ts';
import type { Scope, Store } from './store/store.ts';

export type { Directory } from './contracts.ts';

/** What turns an entity into its public shape. */
export interface View {
  readonly directory: Directory;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export interface Services {
  readonly store: Store;
  readonly ids: Ids;
  readonly sealing: Sealing;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly turns: LoopTurns;
  readonly problems: Problems;
  readonly tally: Tally;
  readonly blobs: Blobs;
  /** Null where this server sends none. */
  readonly mail: Mail | null;
  readonly baseUrl: string;
  /** False while what was restored waits for the operator's word: webhooks, plugins and schedules are planned and not done. */
  mayWork(): boolean;
  /** Names the history that the event log tells: a restore begins another one. */
  readonly generation: string;
  nowMs(): number;
}

/** `scopes` are those held in full: an operation may need to compare (minting a key). */
export interface Context extends Services, Rights {
  readonly scope: Scope;
  readonly workspaceId: string;
  readonly directory: Directory;
  /** Author of the changes, in whose name they are told. Ownership (of a comment, a private view) is the author's. */
  readonly actor: Actor;
  /** Credential by whose role and scopes the act is admitted. Every check of a role or a scope reads it, never the author. */
  readonly authority: Authority;
  /** Standing of the member that holds the authority; absent for plugins and for what the service does by itself. */
  readonly standing?: Standing | undefined;
  /** Ids of the only teams whose objects can be seen; null: all. Kinds apply it. */
  readonly visibleTeams: ReadonlySet<string> | null;
  readonly cause: Cause | null;
  readonly requestId: string;
  readonly traceparent: string | null;
  /** True of a request that simulates: nothing is written, and nothing is sent to other servers. */
  readonly simulates?: boolean;
  /** Notes the id that a name in the body stands for, by its path, where the request is stored to be asked again. */
  readonly resolved?: (path: string, value: unknown) => void;
  /** Moment of the past that a read shows, as the last event that counts; absent for now. */
  readonly asOf?: number;
  /** Present while a plugin run stages its effects: reads by id see them. */
  readonly staged: Staging | null;
}
