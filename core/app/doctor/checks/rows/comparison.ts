// Compares rows with the last events of their objects. Archived events are compared last and in order, so
// that each archive file is read only once.
import type { SqlRow } from '../../../../platform/store/statement.ts';
import { error, some, type Finding } from '../../check.ts';
import type { RowSubject } from '../../subject.ts';
import { readEvent, type LastEvent } from './last-event.ts';
import type { LastEvents } from './last-events.ts';

export interface Comparison {
  /** Name of the entity in events. */
  readonly kind: string;
  /** Name of the table in a finding. */
  readonly table: string;
  /** SQL without conditions that selects at least `workspace_id` and `id` from the table of the objects, aliased as `o`. */
  readonly select: string;
  /** True if another comparison of the same objects already reports those without events. */
  readonly isFurther?: true;
  /** @returns names of the differing facts, possibly empty; null if the row matches the event */
  differences(row: SqlRow, event: LastEvent): readonly string[] | null;
}

interface Compared {
  readonly comparison: Comparison;
  readonly differing: string[];
  readonly unknown: string[];
}

interface Archived {
  readonly compared: Compared;
  readonly workspaceId: string;
  readonly id: string;
  readonly sequence: number;
}

export function compareRows(
  subject: RowSubject,
  last: LastEvents,
  comparisons: readonly Comparison[],
): Finding[] {
  const all = comparisons.map((comparison): Compared => ({ comparison, differing: [], unknown: [] }));
  const archived = all.flatMap((compared) => compareStored(subject, last, compared));
  compareArchived(subject, archived);
  return all.flatMap(({ comparison: { table }, differing, unknown }) => [
    ...(differing.length > 0
      ? [error(`Rows differ from the event log in ${table}: ${some(differing)}. Restore a backup.`)]
      : []),
    ...(unknown.length > 0
      ? [error(`Rows have no events in the log, in ${table}: ${some(unknown)}. Restore a backup.`)]
      : []),
  ]);
}

/** @returns the objects whose last event is archived, for `compareArchived` */
function compareStored(subject: RowSubject, last: LastEvents, compared: Compared): Archived[] {
  const { kind, select, isFurther } = compared.comparison;
  const unknown = isFurther ? [] : compared.unknown;
  const archived: Archived[] = [];
  for (const row of subject.database().prepare(select).iterate() as Iterable<SqlRow>) {
    const [workspaceId, id] = [String(row.workspace_id), String(row.id)];
    const sequence = last.sequenceOf(workspaceId, kind, id);
    if (sequence === undefined) unknown.push(id);
    else if (subject.archived?.holds(workspaceId, sequence))
      archived.push({ compared, workspaceId, id, sequence });
    else compare(subject, compared, row, sequence);
  }
  return archived;
}

function compareArchived(subject: RowSubject, archived: Archived[]): void {
  archived.sort((a, b) =>
    a.workspaceId === b.workspaceId ? a.sequence - b.sequence : a.workspaceId < b.workspaceId ? -1 : 1,
  );
  for (const { compared, workspaceId, id, sequence } of archived) {
    const { select } = compared.comparison;
    const [row] = subject.rows<SqlRow>(`${select} WHERE o.workspace_id = ?1 AND o.id = ?2`, workspaceId, id);
    if (row) compare(subject, compared, row, sequence);
  }
}

function compare(
  subject: RowSubject,
  { comparison, differing }: Compared,
  row: SqlRow,
  sequence: number,
): void {
  const event = readEvent(subject, String(row.workspace_id), sequence);
  const differences = event && comparison.differences(row, event);
  if (!differences) return;
  const names = differences.length > 0 ? ` (${differences.join(', ')})` : '';
  differing.push(`${String(row.id)}${names}`);
}
