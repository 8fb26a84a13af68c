import { contracts, eventsOf } from '../../contracts.ts';
import type { Contract } from '../../contract/contract.ts';
import type { Field } from '../../contract/field.ts';
import { isReference, keptName } from '../../contract/schemas.ts';
import { sameValue } from '../../changes/change.ts';
import { isoTime } from '../../changes/operations.ts';
import { kinds } from '../kinds.ts';
import type { Row } from '../../store/statement.ts';
import { error, some, type RowCheck, type Finding } from '../check.ts';
import type { RowSubject } from '../subject.ts';
import { readEvent, type Data, type LastEvent } from './last-event.ts';
import { relations } from './related.ts';

/** Every change is announced with the whole object, so that the last event of each object says how its row must be. */
export const replay: RowCheck = {
  name: 'replay',
  holds: 'every object is as the log says',
  readsDatabase: true,
  look(subject) {
    const last = lastSequences(subject);
    return [
      ...contracts.flatMap((contract) => compare(subject, contract, last)),
      ...labels(subject, last),
      ...relations(subject),
    ];
  },
};

/** Of the last event of each object. */
function lastSequences({ rows }: RowSubject): ReadonlyMap<string, number> {
  const all = rows<{ workspace_id: string; entity_kind: string; entity_id: string; last: number }>(
    'SELECT workspace_id, entity_kind, entity_id, max(sequence) AS last FROM events GROUP BY 1, 2, 3',
  );
  return new Map(all.map((row) => [keyOf(row.workspace_id, row.entity_kind, row.entity_id), row.last]));
}

const keyOf = (...parts: readonly string[]): string => parts.join(' ');

function compare(subject: RowSubject, contract: Contract, lastOf: ReadonlyMap<string, number>): Finding[] {
  const kind = kinds.get(contract.name);
  if (!kind || eventsOf(contract.events).length === 0) return [];
  const names = comparable(contract);
  const picked = kind.pick([...names.keys(), 'updatedAt', ...(kind.keepsDeleted ? ['deletedAt'] : [])]);
  const rows = subject
    .database()
    .prepare(`SELECT ${picked.select}, workspace_id, version FROM ${kind.table}`)
    .iterate() as Iterable<Row>;
  const differing: string[] = [];
  const unheard: string[] = [];
  for (const row of rows) {
    const workspaceId = String(row.workspace_id);
    const sequence = lastOf.get(keyOf(workspaceId, contract.name, String(row.id)));
    if (sequence === undefined) {
      unheard.push(String(row.id));
      continue;
    }
    const last = readEvent(subject, workspaceId, sequence);
    if (!last) continue;
    const entity = { ...picked.read(row), version: Number(row.version) } as Data;
    const differs = differences(contract, names, entity, last);
    if (differs.length > 0) differing.push(`${String(row.id)} (${differs.join(', ')})`);
  }
  return [
    ...(differing.length > 0 ? [error(`Not as the log says, in ${kind.table}: ${some(differing)}.`)] : []),
    ...(unheard.length > 0
      ? [error(`The log has never heard of these in ${kind.table}: ${some(unheard)}.`)]
      : []),
  ];
}

/** By the name they are kept under: what is shown as it is kept, or refers to another object by its id. */
function comparable({ fields }: Contract): Map<string, { readonly name: string; readonly field: Field }> {
  return new Map(
    Object.entries(fields)
      .filter(
        ([, field]) =>
          !field.options.computed &&
          !field.options.unlogged &&
          field.type !== 'actor' &&
          isShownAsKept(field) &&
          !(isReference(field) && field.by !== 'id'),
      )
      .map(([name, field]) => [keptName(name, field), { name, field }]),
  );
}

/** Labels of a template are kept by their ids alone, and shown by their names. */
const isShownAsKept = ({ type, given, shown }: Field): boolean =>
  type !== 'json' || JSON.stringify(given) === JSON.stringify(shown);

function differences(
  contract: Contract,
  names: ReturnType<typeof comparable>,
  entity: Data,
  { type, data }: LastEvent,
): string[] {
  const differing = [...names].flatMap(([kept, { name, field }]) =>
    !(name in data) || sameValue(shown(field, entity[kept]), told(field, data[name])) ? [] : [name],
  );
  if (entity.version !== data.version) differing.push('version');
  if ('deletedAt' in entity && (entity.deletedAt !== null) !== (type === contract.events.deleted))
    differing.push('deleted');
  return differing;
}

const shown = (field: Field, kept: unknown): unknown =>
  field.type === 'time' ? isoTime(kept as number | null) : kept;

const told = (field: Field, value: unknown): unknown =>
  isReference(field) && value !== null && typeof value === 'object' ? (value as { id: unknown }).id : value;

/** The labels of issues lie in a table of their own. Deleted issues keep labels that were deleted since, and others for a moment. */
function labels(subject: RowSubject, lastOf: ReadonlyMap<string, number>): Finding[] {
  const { rows, database } = subject;
  const deleted = new Set(
    rows<{ id: string }>('SELECT id FROM labels WHERE deleted_at IS NOT NULL').map(({ id }) => id),
  );
  const kept = (ids: readonly string[]): string =>
    ids
      .filter((id) => !deleted.has(id))
      .sort()
      .join();
  const issues = database()
    .prepare(
      `SELECT workspace_id, id, (SELECT group_concat(label_id) FROM issue_labels AS l
         WHERE l.workspace_id = i.workspace_id AND l.issue_id = i.id) AS labels FROM issues AS i`,
    )
    .iterate() as Iterable<{ workspace_id: string; id: string; labels: string | null }>;
  const differing: string[] = [];
  for (const issue of issues) {
    const sequence = lastOf.get(keyOf(issue.workspace_id, 'issue', issue.id));
    if (sequence === undefined) continue;
    const last = readEvent(subject, issue.workspace_id, sequence);
    if (!last) continue;
    const told = (last.data.labels as readonly { id: string }[]).map(({ id }) => id);
    if (kept(told) !== kept(issue.labels?.split(',') ?? [])) differing.push(issue.id);
  }
  return differing.length > 0 ? [error(`Not as the log says, in issue_labels: ${some(differing)}.`)] : [];
}
