// Custom fields of issues at a past moment. Events name fields by key and contain only fields that existed
// when they were written; values of a deleted field reappear when the field is restored. A value is therefore
// taken from the last event written while the field existed, never from an event about another field with the
// same key.
import type { Context } from '../../kernel/context.ts';
import { renderData, type EventRow } from '../../kernel/events/event.ts';
import type { Moment } from '../../kernel/resource/as-of/past.ts';
import { lastEvents, type Was } from '../../kernel/resource/as-of/objects.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { FieldValue } from './contract.ts';

const fieldLifecycle = tenantStatement<{ id: string; type: string; sequence: number }>(
  'as_of.turns_of_fields',
  `SELECT entity_id AS id, type, sequence FROM events INDEXED BY events_object
   WHERE workspace_id = :ws AND issue_id IS NULL AND entity_type = 'field' AND sequence <= :at
     AND type IN ('field.created', 'field.deleted', 'field.restored') ORDER BY sequence`,
);
const lastOfIssues = tenantStatement<{ id: string; sequence: number }>(
  'as_of.last_of_issues',
  `SELECT last.issue_id AS id, last.sequence FROM json_each(:ids) CROSS JOIN events AS last INDEXED BY events_issue
     ON last.workspace_id = :ws AND last.issue_id = value AND last.sequence = (
       SELECT max(e.sequence) FROM events AS e INDEXED BY events_issue WHERE e.workspace_id = :ws
         AND e.issue_id = value AND e.sequence <= :at AND e.entity_type = 'issue')`,
);

/** Span of the log in which a field existed: after its creation or restoration, and before its deletion. */
interface Span {
  readonly after: number;
  readonly before: number;
}

interface FieldThen {
  readonly id: string;
  readonly key: string;
  /** Spans, latest first; the first includes the moment. */
  readonly spans: readonly Span[];
}

type FieldValuesByKey = Readonly<Record<string, FieldValue>>;

/**
 * Sets the values of the fields that existed at the moment.
 * @param issues issues as in their last events
 */
export async function withFieldsAt(
  ctx: Context,
  issues: readonly Was[],
  moment: Moment,
): Promise<readonly Was[]> {
  const { sequence: at } = moment;
  const lifecycle = issues.length === 0 ? [] : await ctx.store.read(ctx.scope, fieldLifecycle, { at });
  // If no field was ever deleted, the last events are complete.
  if (!lifecycle.some(({ type }) => type === 'field.deleted')) return issues;
  const params = { ids: JSON.stringify(issues.map(({ id }) => id)), at };
  const lasts = await ctx.store.read(ctx.scope, lastOfIssues, params);
  const lastOf = new Map(lasts.map(({ id, sequence }) => [id, sequence]));
  const had = new Map<string, Record<string, FieldValue>>(issues.map(({ id }) => [id, {}]));
  for (const { key, spans } of await fieldsOf(ctx, lifecycle, at)) {
    const [now, ...earlier] = spans;
    const isFresh = ({ id }: Was): boolean => (lastOf.get(id) ?? 0) > now!.after;
    const eventValues = [
      ...issues.flatMap((was) =>
        isFresh(was) ? [[was.id, was.fields as FieldValuesByKey | null] as const] : [],
      ),
      ...(await earlierValues(ctx, new Set(issues.flatMap((was) => (isFresh(was) ? [] : was.id))), earlier)),
    ];
    for (const [id, values] of eventValues) if (values && key in values) had.get(id)![key] = values[key]!;
  }
  return issues.map((was) => ({ ...was, fields: had.get(was.id)! }));
}

/** Returns the values in the last event of each issue within one of the spans. */
async function earlierValues(
  ctx: Context,
  open: Set<string>,
  spans: readonly Span[],
): Promise<[id: string, values: FieldValuesByKey | null][]> {
  const eventValues: [string, FieldValuesByKey | null][] = [];
  for (const { after, before } of spans)
    for (const event of await lastEvents(ctx, 'subject', 'issue', [...open], before - 1)) {
      if (event.sequence <= after) continue;
      eventValues.push([event.entityId, valuesIn(event)]);
      open.delete(event.entityId);
    }
  return eventValues;
}

const valuesIn = (event: EventRow): FieldValuesByKey | null =>
  (renderData(event) as { fields?: FieldValuesByKey }).fields ?? null;

/**
 * Returns the fields that existed at the past moment.
 * @param lifecycle creations, deletions and restorations of all fields, in order
 */
async function fieldsOf(
  ctx: Context,
  lifecycle: readonly { readonly id: string; readonly type: string; readonly sequence: number }[],
  at: number,
): Promise<FieldThen[]> {
  const spans = new Map<string, Span[]>();
  for (const { id, type, sequence } of lifecycle) {
    const [last, ...earlier] = spans.get(id) ?? [];
    if (type !== 'field.deleted')
      spans.set(id, [{ after: sequence, before: Infinity }, ...(last ? [last, ...earlier] : [])]);
    else if (last) spans.set(id, [{ ...last, before: sequence }, ...earlier]);
  }
  const there = [...spans].filter(([, [last]]) => last?.before === Infinity);
  const keys = new Map<string, string>();
  for (const event of await lastEvents(
    ctx,
    'object',
    'field',
    there.map(([id]) => id),
    at,
  ))
    keys.set(event.entityId, String(renderData(event).key));
  return there.map(([id, spans]) => ({ id, key: keys.get(id) ?? '', spans }));
}
