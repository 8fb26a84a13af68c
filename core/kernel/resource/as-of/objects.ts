// Reads objects at a past moment. Every event contains the whole object, so the last event up to a moment
// contains the state of the object at that moment.
import type { Context } from '../../context.ts';
import { isRestorable, type Contract } from '../../contract/contract.ts';
import { responseProperties } from '../../contract/schemas.ts';
import { renderData, type EventRow } from '../../events/event.ts';
import { eventsAt } from '../../events/log/log.ts';
import { tenantStatement, type Statement } from '../../../platform/store/statement.ts';
import type { Moment } from './past.ts';

/** Past object in its public representation. */
export type Was = Readonly<Record<string, unknown>> & { readonly id: string };

/** Maximum number of ids per read. */
const readAtOnce = 500;

const lastOfObjects = tenantStatement<{ sequence: number | null }>(
  'history.last_of_objects',
  `SELECT (SELECT max(e.sequence) FROM events AS e INDEXED BY events_object WHERE e.workspace_id = :ws AND e.issue_id IS NULL
     AND e.entity_type = :kind AND e.entity_id = value AND e.sequence <= :at) AS sequence FROM json_each(:ids)`,
);
const lastOfSubjects = tenantStatement<{ sequence: number | null }>(
  'history.last_of_subjects',
  `SELECT (SELECT max(e.sequence) FROM events AS e INDEXED BY events_issue WHERE e.workspace_id = :ws AND e.issue_id = value
     AND e.sequence <= :at AND e.entity_type = :kind) AS sequence FROM json_each(:ids)`,
);

/** Entities whose events are indexed by `issue_id`, together with the events of their parts. */
const subjects: ReadonlySet<string> = new Set(['issue', 'cycle']);

export const isSubject = ({ name }: Contract): boolean => subjects.has(name);

/**
 * Returns the objects that existed, including deleted ones. Names of referenced objects are those in the last
 * event of the object.
 */
export async function objectsAt(
  ctx: Context,
  contract: Contract,
  ids: readonly string[],
  { sequence }: { readonly sequence: number },
): Promise<Map<string, Was>> {
  const objects = new Map<string, Was>();
  const names = Object.keys(responseProperties(contract));
  for (const event of await lastEvents(
    ctx,
    isSubject(contract) ? 'subject' : 'object',
    contract.name,
    ids,
    sequence,
  )) {
    const was = wasOf(contract, event, names);
    if (was) objects.set(was.id, was);
  }
  return objects;
}

/**
 * Returns the last event of each object up to a sequence.
 * @param of `subject` for entities whose events are indexed by `issue_id`
 */
export function lastEvents(
  ctx: Context,
  of: 'subject' | 'object',
  kind: string,
  ids: readonly string[],
  at: number,
): Promise<EventRow[]> {
  return eventsBy(ctx, of === 'subject' ? lastOfSubjects : lastOfObjects, ids, { kind, at });
}

const lastOfParts = tenantStatement<{ sequence: number | null }>(
  'as_of.last_of_parts',
  `SELECT max(e.sequence) AS sequence FROM json_each(:ids) CROSS JOIN events AS e INDEXED BY events_issue
     ON e.workspace_id = :ws AND e.issue_id = value
   WHERE e.sequence <= :at AND e.entity_type = :kind GROUP BY e.issue_id, e.entity_id`,
);

/**
 * Returns the last event, up to a sequence, of each part of the subjects, such as the comments on issues.
 * @param kind entity of the parts
 * @param ids ids of the subjects
 */
export function lastEventsOfParts(
  ctx: Context,
  kind: string,
  ids: readonly string[],
  at: number,
): Promise<EventRow[]> {
  return eventsBy(ctx, lastOfParts, ids, { kind, at });
}

/** Returns the events whose sequences the statement selects. Processes the ids in chunks. */
async function eventsBy(
  { store, scope }: Context,
  statement: Statement<{ sequence: number | null }>,
  ids: readonly string[],
  params: { readonly kind: string; readonly at: number },
): Promise<EventRow[]> {
  const events: EventRow[] = [];
  for (let from = 0; from < ids.length; from += readAtOnce) {
    const some = JSON.stringify(ids.slice(from, from + readAtOnce));
    const rows = await store.read(scope, statement, { ...params, ids: some });
    const sequences = rows.flatMap(({ sequence }) => sequence ?? []);
    events.push(...(await eventsAt(store, scope, sequences)));
  }
  return events;
}

/** Returns the parts of issues, such as comments, at a past moment. */
export async function partsAt(
  ctx: Context,
  contract: Contract,
  issueIds: readonly string[],
  { sequence }: Moment,
): Promise<Map<string, Was>> {
  const events = await lastEventsOfParts(ctx, contract.name, issueIds, sequence);
  const parts = events.flatMap((event) => wasOf(contract, event) ?? []);
  return new Map(parts.map((was) => [was.id, was]));
}

/**
 * Returns the object in an event, in the current schema; undefined if the event deletes the object for good.
 * @param names properties to return
 */
export function wasOf(
  contract: Contract,
  event: EventRow,
  names: readonly string[] = Object.keys(responseProperties(contract)),
): Was | undefined {
  const { events } = contract;
  if (event.type.endsWith('.purged')) return undefined;
  if (event.type === events.deleted && !isRestorable(contract)) return undefined;
  const data = renderData(event);
  const was: Record<string, unknown> & { id: string } = { id: event.entityId };
  for (const name of names)
    // A field that is missing in an event of an earlier version did not exist yet.
    was[name] = name in data ? data[name] : (contract.fields[name]?.options.default ?? null);
  return was;
}
