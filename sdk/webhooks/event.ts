/** Body of a delivery and entry of the feed: the same ids and bytes (docs/spec/events.md › The envelope). */
import type { EventData, EventType } from '../generated/events.ts';

export interface Envelope<Type extends EventType, Data> {
  /** `evt_…`, the same across retries, replays and the feed. Receivers deduplicate by it. */
  readonly id: string;
  readonly type: Type;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly workspace_id: string;
  /**
   * Gap-free per workspace. Events missing before a higher sequence may still arrive, or can be read from the
   * feed.
   */
  readonly sequence: number;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly data: Data;
}

export interface Actor {
  readonly kind: 'user' | 'api_key' | 'app' | 'plugin' | 'system';
  readonly id: string;
  readonly name: string;
  /** The acting member, or the member that a key or an app acts for. */
  readonly memberId?: string;
}

/** Cause of the event. An event without an earlier cause is its own root, at depth 0. */
export interface Cause {
  readonly rootEventId: string | null;
  readonly parentRunId: string | null;
  readonly depth: number;
  /** Plugin installs and issues in the causation chain, oldest first: `plg_…:iss_…`. */
  readonly path: readonly string[];
  /** Actor that called the plugin action. */
  readonly onBehalfOf?: Actor;
}

/** An event of the feed or the stream, always with the full object. Narrows on `type`. */
export type TatamiEvent = { [Type in EventType]: Envelope<Type, EventData[Type]> }[EventType];

/** Replaces the object in a payload that would exceed 256 KiB. */
export interface TruncatedData {
  readonly id: string;
  readonly identifier?: string;
  readonly url?: string;
  readonly truncated: true;
  /** URL of the full event. */
  readonly event: string;
}

/**
 * The object at the time of the event, or the reduced form of a large payload: a field may be missing until
 * `truncated` is known to be absent.
 */
export type Delivered<Data> =
  | (Data & { readonly truncated?: undefined })
  | (TruncatedData & { readonly [Name in Exclude<keyof Data, keyof TruncatedData>]?: undefined });

/** An event in a delivery. Narrows on `type`. */
export type WebhookEvent = { [Type in EventType]: Envelope<Type, Delivered<EventData[Type]>> }[EventType];

export type IssueEventType = Extract<EventType, `issue.${string}`>;
export type IssueData = Extract<WebhookEvent, { type: IssueEventType }>['data'];
export type ObjectData = WebhookEvent['data'];
