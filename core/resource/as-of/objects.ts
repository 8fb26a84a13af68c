// Objects as they were: every event holds the whole object as it was then, so the last one up to a moment says how it was at that moment.
import type { Context } from '../../context.ts';
import { isRestorable, type Contract } from '../../contract/contract.ts';
import { shownProperties } from '../../contract/schemas.ts';
import { shownData, type EventRow } from '../../events/event.ts';
import { eventsAt } from '../../events/log.ts';
import { tenantStatement, type Statement } from '../../store/statement.ts';
import type { Moment } from './moment.ts';

/** An object in its public shape. */
export type Was = Readonly<Record<string, unknown>> & { readonly id: string };

/** Events that are read at a time. */
const readAtOnce = 500;

const lastOfObjects = tenantStatement<{ sequence: number | null }>(
  'history.last_of_objects',
  `SELECT (SELECT max(e.sequence) FROM events AS e INDEXED BY events_object WHERE e.workspace_id = :ws AND e.issue_id IS NULL
     AND e.entity_kind = :kind AND e.entity_id = value AND e.sequence <= :at) AS sequence FROM json_each(:ids)`,
);
/** Of what its own history is kept for. */
const lastOfSubjects = tenantStatement<{ sequence: number | null }>(
  'history.last_of_subjects',
  `SELECT (SELECT max(e.sequence) FROM events AS e INDEXED BY events_issue WHERE e.workspace_id = :ws AND e.issue_id = value
     AND e.sequence <= :at AND e.entity_kind = :kind) AS sequence FROM json_each(:ids)`,
);

/** Kinds whose events stand in a history of their own. */
const subjects: ReadonlySet<string> = new Set(['issue', 'cycle']);

export const isSubject = ({ name }: Pick<Contract, 'name'>): boolean => subjects.has(name);

/**
 * Those of the objects that were there, deleted ones among them, with the names that others had when they were last changed.
 * @param kind of the events to look at, where that is not the contract's: of comments on issues
 */
export async function objectsAt(
  ctx: Context,
  contract: Contract,
  ids: readonly string[],
  { sequence }: Pick<Moment, 'sequence'>,
): Promise<Map<string, Was>> {
  const objects = new Map<string, Was>();
  const names = Object.keys(shownProperties(contract));
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

/** The last events of a kind up to a sequence: of objects, or in the histories of subjects. */
export function lastEvents(
  ctx: Context,
  of: 'subject' | 'object',
  kind: string,
  ids: readonly string[],
  at: number,
): Promise<EventRow[]> {
  return foundBy(ctx, of === 'subject' ? lastOfSubjects : lastOfObjects, ids, { kind, at });
}

const lastOfParts = tenantStatement<{ sequence: number | null }>(
  'as_of.last_of_parts',
  `SELECT max(e.sequence) AS sequence FROM json_each(:ids) CROSS JOIN events AS e INDEXED BY events_issue
     ON e.workspace_id = :ws AND e.issue_id = value
   WHERE e.sequence <= :at AND e.entity_kind = :kind GROUP BY e.issue_id, e.entity_id`,
);

/** The last events, up to a sequence, of every object of a kind in the histories of subjects. */
export function lastEventsOfParts(
  ctx: Context,
  kind: string,
  ids: readonly string[],
  at: number,
): Promise<EventRow[]> {
  return foundBy(ctx, lastOfParts, ids, { kind, at });
}

/** The events whose sequences a statement finds, asked about some of the ids at a time. */
async function foundBy(
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

/** The objects of a kind that stood in the histories of issues then. */
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

/** What an event says of its object, in the shape of now; undefined where it tells its end. @param names of what is shown */
export function wasOf(
  contract: Contract,
  event: EventRow,
  names: readonly string[] = Object.keys(shownProperties(contract)),
): Was | undefined {
  const { events } = contract;
  if (event.type.endsWith('.purged')) return undefined;
  if (event.type === events.deleted && !isRestorable(contract)) return undefined;
  const data = shownData(event);
  const was: Record<string, unknown> & { id: string } = { id: event.entityId };
  for (const name of names)
    // What an event of an earlier version does not tell was not there yet.
    was[name] = name in data ? data[name] : (contract.fields[name]?.options.default ?? null);
  return was;
}
