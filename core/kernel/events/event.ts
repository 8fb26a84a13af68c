// Events: their actor and cause, their stored form, and their public form. One pure function renders an event
// for every reader (feed, stream, webhooks, plugins, history), so all of them receive the same bytes.
import type { EventType } from './catalogue.ts';
import { commitAssignedRule } from './log/append.ts';

/**
 * Actor of a change. `id` names a member, an API key, an app or a plugin install; `memberId` is the member
 * that a key or an app acts for.
 */
export interface Actor {
  readonly kind: 'user' | 'api_key' | 'app' | 'plugin' | 'system';
  readonly id: string;
  readonly name: string;
  readonly memberId?: string;
}

/** Cause of a change. An event without an earlier cause is its own root, at depth 0. */
export interface Cause {
  readonly rootEventId: string | null;
  readonly parentRunId: string | null;
  readonly depth: number;
  /** Plugin installs and issues in the causation chain, oldest first: `plg_…:iss_…`. */
  readonly path: readonly string[];
  /** Actor that called the plugin action. */
  readonly onBehalfOf?: Actor;
}

/** Event without its content, before the log assigns its sequence. */
export interface EventHead {
  readonly id: string;
  readonly type: EventType;
  readonly workspaceId: string;
  readonly createdAt: number;
  readonly entityType: string;
  readonly entityId: string;
  /** Id of the object in whose history the event is listed. */
  readonly subjectId: string | null;
  readonly actor: Actor;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** An event without its content. */
export interface EventFacts extends EventHead {
  readonly sequence: number;
  /** Commit-assigned value that completes `data`. */
  readonly commitAssigned: number | null;
}

export interface EventRow extends EventFacts {
  readonly cause: Cause;
  readonly data: Readonly<Record<string, unknown>>;
  /** `data` as stored JSON; absent if the event was not read from the store. */
  readonly dataJson?: string;
}

interface EnvelopeHead {
  readonly id: string;
  readonly type: EventType;
  readonly created_at: string;
  readonly workspace_id: string;
  readonly sequence: number;
  readonly actor: Actor;
  readonly cause: Cause;
}

/** Spec: docs/spec/events.md › The envelope. `sequence` has no gaps within a workspace. */
export interface EventEnvelope extends EnvelopeHead {
  readonly data: Readonly<Record<string, unknown>>;
}

export function renderEvent(row: EventRow): EventEnvelope {
  return { ...headOf(row), data: renderData(row) };
}

/** Returns `renderEvent(row)` as JSON. Stored JSON is copied without parsing, because it may be long. */
export function eventJson(row: EventRow): string {
  if (row.dataJson === undefined || row.commitAssigned !== null) return JSON.stringify(renderEvent(row));
  return `${JSON.stringify(headOf(row)).slice(0, -1)},"data":${row.dataJson}}`;
}

function headOf(row: EventRow): EnvelopeHead {
  return {
    id: row.id,
    type: row.type,
    created_at: new Date(row.createdAt).toISOString(),
    workspace_id: row.workspaceId,
    sequence: row.sequence,
    actor: row.actor,
    cause: row.cause,
  };
}

/** Returns `data` with the commit-assigned value. */
export function renderData(row: EventRow): EventRow['data'] {
  if (row.commitAssigned === null) return row.data;
  return commitAssignedRule(row.entityType).complete(row.data, row.commitAssigned);
}
