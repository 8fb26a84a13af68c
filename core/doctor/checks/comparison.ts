// Compares rows with the last events of their objects: those in the database as the rows come, those in files of old events at the end, in
// their order, so that each file is read once.
import type { Row } from '../../store/statement.ts';
import { error, some, type Finding } from '../check.ts';
import type { RowSubject } from '../subject.ts';
import { readEvent, type LastEvent } from './last-event.ts';
import type { LastEvents } from './last-events.ts';

export interface Comparison {
  /** Kind of the objects, as events name it. */
  readonly kind: string;
  /** Named in a finding. */
  readonly table: string;
  /** SQL without conditions, over the table of the objects as `o`; it selects `workspace_id` and `id`. */
  readonly select: string;
  /** Another comparison has the rows of the same objects, and reports those that the log does not know. */
  readonly isFurther?: true;
  /** @returns names of what differs, such as fields; null where all agrees */
  differences(row: Row, event: LastEvent): readonly string[] | null;
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
    ...(differing.length > 0 ? [error(`Not as the log says, in ${table}: ${some(differing)}.`)] : []),
    ...(unknown.length > 0 ? [error(`The log has never heard of these in ${table}: ${some(unknown)}.`)] : []),
  ]);
}

/** @returns the objects whose last event is in a file */
function compareStored(subject: RowSubject, last: LastEvents, compared: Compared): Archived[] {
  const { kind, select, isFurther } = compared.comparison;
  const unknown = isFurther ? [] : compared.unknown;
  const archived: Archived[] = [];
  for (const row of subject.database().prepare(select).iterate() as Iterable<Row>) {
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
    const [row] = subject.rows<Row>(`${select} WHERE o.workspace_id = ?1 AND o.id = ?2`, workspaceId, id);
    if (row) compare(subject, compared, row, sequence);
  }
}

function compare(subject: RowSubject, { comparison, differing }: Compared, row: Row, sequence: number): void {
  const event = readEvent(subject, String(row.workspace_id), sequence);
  const differences = event && comparison.differences(row, event);
  if (!differences) return;
  const names = differences.length > 0 ? ` (${differences.join(', ')})` : '';
  differing.push(`${String(row.id)}${names}`);
}
