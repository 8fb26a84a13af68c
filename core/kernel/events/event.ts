// Events: their actor and cause, their stored form, and their public form. One pure function renders an event
// for every reader (feed, stream, webhooks, plugins, history), so all of them receive the same bytes. Values
// that only the commit assigns, such as the number of an issue, complete events and responses (decision 0003).
import { tenantStatement, type Statement } from '../../platform/store/statement.ts';
import type { Scope, Store } from '../../platform/store/store.ts';
import type { EventType } from './catalogue.ts';

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

export type ObjectBody = Readonly<Record<string, unknown>>;

/**
 * Applies the commit-assigned value of an entity model, such as a number that is allocated inside the
 * transaction. Until the commit, an object is shown without its value; the event stores the value, and every
 * reader shows the completed object.
 */
export interface CommitAssignedRule {
  /** Appends an event and allocates its value; made by `appendStatement`. */
  readonly append: Statement<Appended>;
  /** Matches the JSON of an object whose value is still missing. */
  readonly waits: RegExp;
  /** Adds the value to an object that lacks it; returns any other object unchanged. */
  complete(object: ObjectBody, value: number): ObjectBody;
  /** Removes the fields that depend on a missing value; returns any other object unchanged. */
  hide(object: ObjectBody): ObjectBody;
}

/** Row returned by the statement that appends an event. */
export interface Appended {
  readonly sequence: number;
  readonly learned: number | null;
}

export interface CommitAssigned {
  readonly entityType: string;
  readonly value: number;
}

/** By entity model. Bounded, because only code adds entries. */
const rules = new Map<string, CommitAssignedRule>();

/**
 * Registers a model whose events have a commit-assigned value. Call once per model, before its first event is
 * created or shown.
 */
export function assignAtCommit(entityType: string, rule: CommitAssignedRule): void {
  rules.set(entityType, rule);
}

/** @throws Error if events of the model have no commit-assigned value */
export function commitAssignedRule(entityType: string): CommitAssignedRule {
  const rule = rules.get(entityType);
  if (!rule) throw new Error(`No commit-assigned value is registered for events of ${entityType}.`);
  return rule;
}

/**
 * Adds the commit-assigned values, by object id, to a response body (an object, or a list of objects in
 * `data`).
 */
export function completeBody(body: unknown, values: ReadonlyMap<string, CommitAssigned>): unknown {
  if (!isObjectBody(body)) return body;
  if (Array.isArray(body.data)) return { ...body, data: body.data.map((item) => completeBody(item, values)) };
  const known = values.get(String(body.id));
  return known ? commitAssignedRule(known.entityType).complete(body, known.value) : body;
}

/**
 * Completes the JSON of a response that lacks values.
 * @param find returns the commit-assigned value of an object, by id
 */
export async function completeText(
  text: string,
  find: (id: string) => Promise<CommitAssigned | null>,
): Promise<string> {
  if (!waitsForCommit(text)) return text;
  const body = JSON.parse(text) as ObjectBody;
  const values = new Map<string, CommitAssigned>();
  for (const { id } of (Array.isArray(body.data) ? body.data : [body]) as ObjectBody[]) {
    const assigned = typeof id === 'string' ? await find(id) : null;
    if (assigned) values.set(String(id), assigned);
  }
  return JSON.stringify(completeBody(body, values));
}

const firstCommitAssigned = tenantStatement<{ entity_type: string; learned: number }>(
  'events.first_learned',
  `SELECT entity_type, number AS learned FROM events INDEXED BY events_issue
   WHERE workspace_id = :ws AND issue_id = :subjectId AND sequence > :after AND number IS NOT NULL ORDER BY sequence LIMIT 1`,
);

/**
 * Completes the JSON of a response that was stored in its own batch, before the values were allocated.
 * @param after sequence before the batch; with 0, the values are those of the creation
 */
export function completeStored(store: Store, scope: Scope, text: string, after: number): Promise<string> {
  return completeText(text, async (subjectId) => {
    const row = await store.readOne(scope, firstCommitAssigned, { subjectId, after });
    return row ? { entityType: row.entity_type, value: row.learned } : null;
  });
}

/** Returns true if the JSON of a response lacks a commit-assigned value. */
export function waitsForCommit(text: string): boolean {
  return [...rules.values()].some(({ waits }) => waits.test(text));
}

/** Returns the body of an uncommitted response, without the fields that depend on commit-assigned values. */
export function hidePending(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(hidePending);
  if (!isObjectBody(body)) return body;
  let object = body;
  for (const { hide } of new Set(rules.values())) object = hide(object);
  return 'data' in object ? { ...object, data: hidePending(object.data) } : object;
}

export function isObjectBody(value: unknown): value is ObjectBody {
  return value !== null && typeof value === 'object';
}
