/** The body of a delivery, and of an entry of the feed: the same ids and bytes (docs/spec/events.md › The envelope). */
import type { EventData, EventType } from '../generated/events.ts';

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
  readonly kind: 'user' | 'api_key' | 'app' | 'plugin' | 'system';
  readonly id: string;
  readonly name: string;
  /** The member that acts, or that a key or an app acts for. */
  readonly memberId?: string;
}

/** What led to this event; one without an earlier cause is its own root, at depth 0. */
export interface Cause {
  readonly rootEventId: string | null;
  readonly parentRunId: string | null;
  readonly depth: number;
  /** Installs and issues the chain went through, oldest first: `plg_…:iss_…`. */
  readonly path: readonly string[];
  /** Whoever called the action of the plugin that did it. */
  readonly onBehalfOf?: Actor;
}

/** An event as the feed and the stream have it: always whole. Narrows on `type`. */
export type TatamiEvent = { [Type in EventType]: Envelope<Type, EventData[Type]> }[EventType];

/** What stands in place of the object in a payload that would be larger than 256 KiB. */
export interface TruncatedData {
  readonly id: string;
  readonly identifier?: string;
  readonly url?: string;
  readonly truncated: true;
  /** Where the whole event can be read. */
  readonly event: string;
}

/**
 * The object as it was when the event happened, or what a large payload is cut down to: so a field may be missing, until `truncated`
 * is known not to be there.
 */
export type Delivered<Data> =
  | (Data & { readonly truncated?: undefined })
  | (TruncatedData & { readonly [Name in Exclude<keyof Data, keyof TruncatedData>]?: undefined });

/** An event as a delivery brings it. Narrows on `type`. */
export type WebhookEvent = { [Type in EventType]: Envelope<Type, Delivered<EventData[Type]>> }[EventType];

export type IssueEventType = Extract<EventType, `issue.${string}`>;
export type IssueData = Extract<WebhookEvent, { type: IssueEventType }>['data'];
export type ObjectData = WebhookEvent['data'];
