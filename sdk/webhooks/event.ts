/** The body of a delivery, and of an entry of the feed: the same ids and bytes (docs/spec/events.md › The envelope). */
import type { EventType } from './event-types.ts';

export interface Envelope<Type extends EventType, Data> {
  /** `evt_…`, the same across retries, replays and the feed: what a receiver dedupes on. */
  readonly id: string;
  readonly type: Type;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly workspace_id: string;
  /** Gap-free per workspace: a gap means that something is still to come, or to be read from the feed. */
  readonly sequence: number;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly data: Data;
}

export interface Actor {
  readonly kind: 'user' | 'api_key' | 'plugin' | 'system';
  readonly id: string;
  readonly name: string;
  /** The member an API key acts for. */
  readonly memberId?: string;
}

/** What led to this event; one without an earlier cause is its own root, at depth 0. */
export interface Cause {
  readonly rootEventId: string | null;
  readonly parentRunId: string | null;
  readonly depth: number;
  /** Installs and issues the chain went through, oldest first: `plg_…:iss_…`. */
  readonly path: readonly string[];
}

/** The full object as it was when the event happened; a payload over 256 KiB is thinned to its ids and link. */
export type ObjectData = Readonly<Record<string, unknown>> & {
  /** The old values of the fields that changed. */
  readonly previous?: Readonly<Record<string, unknown>>;
};

export type IssueData = ObjectData & {
  readonly id: string;
  readonly identifier: string;
  readonly title: string;
  readonly priority: 'none' | 'low' | 'medium' | 'high' | 'urgent';
  readonly url: string;
};

export type IssueEventType =
  | 'issue.created'
  | 'issue.updated'
  | 'issue.state_changed'
  | 'issue.assigned'
  | 'issue.labeled'
  | 'issue.moved'
  | 'issue.deleted'
  | 'issue.restored';

/** Narrows on `type`. */
export type WebhookEvent =
  Envelope<IssueEventType, IssueData> | Envelope<Exclude<EventType, IssueEventType>, ObjectData>;
