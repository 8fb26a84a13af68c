// An event as it is stored and as it is shown. One pure function renders it for every reader (feed, stream, webhooks,
// plugins, history), so all of them carry the same bytes. docs/spec/events.md › The envelope.
import type { Actor, Cause } from './origin.ts';
import { maskedUrl } from '../lib/masked-url.ts';
import type { EventType } from './catalogue.ts';

export interface EventRow {
  readonly id: string;
  readonly type: EventType;
  readonly workspaceId: string;
  readonly sequence: number;
  readonly createdAt: number;
  readonly entityKind: string;
  readonly entityId: string;
  readonly issueId: string | null;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** `data` as it is stored, where it was read from there. */
  readonly dataJson?: string;
  /** The issue number that only the commit knew; it completes `data`. */
  readonly number: number | null;
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

function isShownAsStored({ type, number }: EventRow): boolean {
  return number === null && !type.startsWith('webhook.');
}

function shownData(row: EventRow): EventRow['data'] {
  if (row.number !== null) return completeNumber(row.data, row.number);
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

/**
 * Before the commit an issue shows its identifier and url cut before the number (`ENG-`, `https://…/issues/ENG-`); this
 * completes them, on the object itself and on its `issue`.
 */
export function completeNumber<T extends Readonly<Record<string, unknown>>>(shown: T, number: number): T {
  const { identifier, url, issue } = shown;
  const completed: Record<string, unknown> = { ...shown };
  if (typeof identifier === 'string' && identifier.endsWith('-')) {
    completed.identifier = `${identifier}${number}`;
    if (typeof url === 'string') completed.url = `${url}${number}`;
    if (completed.number === null) completed.number = number;
  }
  if (issue !== null && typeof issue === 'object')
    completed.issue = completeNumber(issue as Record<string, unknown>, number);
  return completed as T;
}

/** What a caller sees of an issue that is not committed: no identifier, number or url yet. */
export function hidePending(shown: unknown): unknown {
  if (Array.isArray(shown)) return shown.map(hidePending);
  if (shown === null || typeof shown !== 'object') return shown;
  const object = shown as Record<string, unknown>;
  const copy = { ...object };
  if (typeof object.identifier === 'string' && object.identifier.endsWith('-')) {
    copy.identifier = null;
    if ('url' in object) copy.url = null;
  }
  for (const inner of ['issue', 'data']) if (inner in object) copy[inner] = hidePending(object[inner]);
  return copy;
}
