// Context of an operation: everything that varies between callers, tests and processes, such as the caller, the workspace, the
// time, the ids, and the staged effects of a plugin run.
import type { Directory } from '../features/contracts.ts';
import type { Delegation } from './changes/delegation.ts';
import type { EntityCache } from './changes/entity-cache.ts';
import type { Staging } from './changes/staging.ts';
import type { Projections } from './events/consumers/projections.ts';
import type { Actor, Cause } from './events/event.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Ids } from '../platform/lib/ids.ts';
import type { Log } from '../platform/lib/log.ts';
import type { Mail } from '../platform/lib/mail.ts';
import type { Problems } from '../platform/lib/errors/failures.ts';
import type { OutcomeCounter } from '../platform/lib/outcome-counter.ts';
import type { Sealing } from '../platform/lib/secrets/sealing.ts';
import type { Authority, PersonSession, Rights } from './rights/rights.ts';
import type { SettingValues } from './settings.ts';
import type { Membership } from './rights/roles.ts';
import type { LoopQueue } from '../platform/lib/fairness/loop-queue.ts';
import type { Blobs } from '../platform/store/files/blobs.ts';
import type { Scope, Store } from '../platform/store/store.ts';

export type { Directory } from '../features/contracts.ts';

/** Input for converting an entity to its API representation. */
export interface View {
  readonly directory: Directory;
  /** Base URL without a trailing slash. */
  readonly baseUrl: string;
}

export interface Services {
  readonly store: Store;
  readonly entities: EntityCache;
  readonly ids: Ids;
  readonly sealing: Sealing;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly fairQueue: LoopQueue;
  readonly problems: Problems;
  readonly outcomeCounter: OutcomeCounter;
  readonly blobs: Blobs;
  readonly delegations: readonly Delegation[];
  readonly projections: Projections;
  /** Null if no mail server is configured. */
  readonly mail: Mail | null;
  readonly baseUrl: string;
  /** Values of the settings of features. */
  readonly settings: SettingValues;
  /** False after a restore until the operator releases the server: webhooks, plugins and schedules are planned but not executed. */
  mayWork(): boolean;
  /** Id of the event log's generation; a restore starts a new one. */
  readonly generation: string;
  nowMs(): number;
}

/**
 * Context of one operation. `scopes` lists only scopes without restrictions, for operations that compare
 * scopes, such as creating a key.
 */
export interface Context extends Services, Rights {
  readonly scope: Scope;
  readonly workspaceId: string;
  readonly directory: Directory;
  /** Author of the changes, named in events. Ownership, such as that of a comment or a private view, belongs to the author. */
  readonly actor: Actor;
  /** Credential whose role and scopes authorize the request. Every check of a role or scope uses it, never the author. */
  readonly authority: Authority;
  /** Membership of the member behind the authority; absent for plugins and for work of the server itself. */
  readonly membership?: Membership | undefined;
  /** Session of the person behind the authority; absent for keys, grants and plugins. Changes that the request replays read it. */
  readonly session?: PersonSession | undefined;
  /** Ids of the teams whose objects are visible; null for all teams. Entities apply the restriction. */
  readonly visibleTeams: ReadonlySet<string> | null;
  readonly cause: Cause | null;
  readonly requestId: string;
  readonly traceparent: string | null;
  /** True for a simulated request: it writes nothing and sends nothing to other servers. */
  readonly simulates?: boolean;
  /** Records the id that a name in the body resolves to, by path, if the request is stored to be replayed. */
  readonly resolved?: (path: string, value: unknown) => void;
  /** Sequence of the last event included in a read of the past; absent for the present. */
  readonly asOf?: number;
  /** Present while a plugin run stages its effects; reads by id include them. */
  readonly staged: Staging | null;
}
