// Describes the skips of an undo: the written value, the present value, and the author of the later change.
import { type Entity, short } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { eventsAt } from '../../../kernel/events/log/log.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { issueOf } from './changes.ts';
import type { Skip } from './revert-plan.ts';
import { keyOf, type ObjectName } from './stored-changes.ts';
import { apiNameOf, type UndoModels } from './models.ts';

/** Limit of events of one object that are searched for the later change. */
const lookedAt = 50;

const newestOfIssue = tenantStatement<{ sequence: number }>(
  'undo.newest_in_history',
  `SELECT sequence FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id = :subjectId AND entity_id = :id
     ORDER BY sequence DESC LIMIT ${lookedAt}`,
);
const newestOfObject = tenantStatement<{ sequence: number }>(
  'undo.newest_of_object',
  `SELECT sequence FROM events INDEXED BY events_object WHERE workspace_id = :ws AND issue_id IS NULL AND entity_kind = :kind
     AND entity_id = :id ORDER BY sequence DESC LIMIT ${lookedAt}`,
);

/**
 * @param after objects after the undo, by `keyOf`
 * @param undone ids of the undone runs, whose own changes do not prevent an undo
 */
export async function showSkipped(
  ctx: Context,
  models: UndoModels,
  skipped: readonly Skip[],
  { after, undone }: { readonly after: ReadonlyMap<string, Entity>; readonly undone: ReadonlySet<string> },
) {
  const histories = new Map<string, EventRow[]>();
  const responses = [];
  for (const { change, field, reason, work } of skipped) {
    const kind = models.byName(change.kind);
    const entity = after.get(keyOf(change)) ?? (await kind?.find(ctx, change.id));
    const name = field === null ? null : apiNameOf(change.kind, field);
    const issue = kind ? issueOf(ctx, kind, entity ?? change.after) : null;
    const events = histories.get(change.id) ?? (await newestEvents(ctx, change, issue?.id));
    histories.set(change.id, events);
    const valueIn = (of: Entity | undefined): unknown =>
      name === null || !kind || !of ? null : short(kind.wire(of, ctx)[name]);
    const changed = reason === 'irreversible' ? undefined : changeOf(events, undone, name);
    responses.push({
      kind: change.kind,
      id: change.id,
      issue,
      field: name,
      reason,
      ranSet: valueIn(change.after),
      now: valueIn(entity),
      ...changedByOf(
        work === undefined
          ? changed
          : typeof work === 'string'
            ? await placing(ctx, change.kind, work)
            : work,
      ),
    });
  }
  return responses;
}

/** Returns the event that made an object a child of another: its last move there, or its creation. */
async function placing(ctx: Context, kind: string, id: string): Promise<EventRow | undefined> {
  const events = await newestEvents(ctx, { kind, id }, kind === 'issue' ? id : undefined);
  return changeOf(events, new Set(), 'parent') ?? events.at(-1);
}

function changedByOf(event: EventRow | undefined) {
  if (!event) return { changedBy: null, eventId: null };
  const { kind, id, name } = event.actor;
  return { changedBy: { kind, id, name }, eventId: event.id };
}

/**
 * Returns the event of the newest change of a field or object that no undone run made. If the change has
 * several events, the first is returned, because it is the most general.
 */
function changeOf(
  events: readonly EventRow[],
  undone: ReadonlySet<string>,
  name: string | null,
): EventRow | undefined {
  const newest = events.find(
    ({ data, cause }) => !undone.has(cause.parentRunId ?? '') && (name === null || name in previousOf(data)),
  );
  return newest && events.findLast(({ data }) => data.version === newest.data.version);
}

const previousOf = (data: EventRow['data']): object => (data as { previous?: object | null }).previous ?? {};

/** Returns the newest events of an object, newest first. */
async function newestEvents(
  { store, scope }: Context,
  { kind, id }: ObjectName,
  subjectId: string | undefined,
): Promise<EventRow[]> {
  const rows = subjectId
    ? await store.read(scope, newestOfIssue, { subjectId, id })
    : await store.read(scope, newestOfObject, { kind, id });
  const events = await eventsAt(
    store,
    scope,
    rows.map(({ sequence }) => sequence),
  );
  return events.sort((a, b) => b.sequence - a.sequence);
}
