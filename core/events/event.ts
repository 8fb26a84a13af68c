// An event as it is stored and as it is shown. One pure function renders it for every reader (feed, stream, webhooks,
// plugins, history), so all of them carry the same bytes. docs/spec/events.md › The envelope.
import type { Actor, Cause } from './origin.ts';
import { maskedUrl } from '../lib/masked-url.ts';
import type { EventType } from './catalogue.ts';
import { learningOf } from './learning.ts';

export interface EventRow {
  readonly id: string;
  readonly type: EventType;
  readonly workspaceId: string;
  readonly sequence: number;
  readonly createdAt: number;
  readonly entityKind: string;
  readonly entityId: string;
  /** The object whose history it belongs to. */
  readonly subjectId: string | null;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** `data` as it is stored, where it was read from there. */
  readonly dataJson?: string;
  /** What only the commit knew; it completes `data`. */
  readonly learned: number | null;
}

/** docs/spec/events.md › The envelope. `sequence` has no gaps within a workspace. */
export interface EventEnvelope {
  readonly id: string;
  readonly type: EventType;
  readonly created_at: string;
  readonly workspace_id: string;
  readonly sequence: number;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly data: Readonly<Record<string, unknown>>;
}

export function renderEvent(row: EventRow): EventEnvelope {
  return { ...headOf(row), data: shownData(row) };
}

/** `renderEvent` as JSON. What is stored as JSON already is not read and written again: it may be long. */
export function eventJson(row: EventRow): string {
  if (row.dataJson === undefined || !isShownAsStored(row)) return JSON.stringify(renderEvent(row));
  return `${JSON.stringify(headOf(row)).slice(0, -1)},"data":${row.dataJson}}`;
}

function headOf(row: EventRow): Omit<EventEnvelope, 'data'> {
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

function isShownAsStored({ type, learned }: EventRow): boolean {
  return learned === null && !type.startsWith('webhook.');
}

/** `data` with what the commit learned, and without what earlier versions said too much. */
export function shownData(row: EventRow): EventRow['data'] {
  if (row.learned !== null) return learningOf(row.entityKind).complete(row.data, row.learned);
  return isShownAsStored(row) ? row.data : maskAddress(row.data);
}

/** Events of an earlier version hold the whole address. */
function maskAddress<T extends Readonly<Record<string, unknown>>>(data: T): T {
  const { url, previous } = data;
  return {
    ...data,
    ...(typeof url === 'string' ? { url: maskedUrl(url) } : {}),
    ...(previous ? { previous: maskAddress(previous as Record<string, unknown>) } : {}),
  };
}
