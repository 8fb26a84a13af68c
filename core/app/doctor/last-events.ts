// Reads the last event of each object from the database or the archive.
import { contracts } from '../../features/contracts.ts';
import { tables } from '../../features/tables.ts';
import {
  type Data,
  error,
  type Finding,
  idOf,
  type LastEvent,
  type RowSubject,
  some,
} from '../../kernel/checks.ts';
import { commitAssignedRule } from '../../kernel/events/log/append.ts';
import { distanceOf, fileOf, type StoredParts, unpack } from '../../kernel/events/log/packing.ts';
import type { SqlRow } from '../../platform/store/statement.ts';

/** Returns null if the event does not exist or its archive file cannot be read. */
export function readEvent(subject: RowSubject, workspaceId: string, sequence: number): LastEvent | null {
  const [event] = subject.rows<StoredParts & { type: string; entity_type: string; learned: number | null }>(
    `SELECT type, entity_type, cause_json, data_json, packed, number AS learned FROM events
     WHERE workspace_id = ?1 AND sequence = ?2`,
    workspaceId,
    sequence,
  );
  if (!event) return null;
  const distance = distanceOf(event);
  const { type, entity_type: kind, learned } = event;
  if (distance > 0) {
    const same = readEvent(subject, workspaceId, sequence - distance);
    return same && { type, data: same.data };
  }
  const file = fileOf(event);
  const text =
    file === null ? unpack(event).data : (subject.archived?.dataOf(workspaceId, file, sequence) ?? null);
  if (text === null) return null;
  const data = JSON.parse(text) as Data;
  return { type, data: learned === null ? data : commitAssignedRule(kind).complete(data, learned) };
}

export interface LastEvents {
  /** Returns undefined if the log has no event of the object. */
  sequenceOf(workspaceId: string, kind: string, id: string): number | undefined;
  of(kind: string): Iterable<LogObject>;
  /**
   * Returns true unless the log shows that the object, and the issue or comment that it belongs to, still
   * exist.
   */
  mayBeGone(workspaceId: string, kind: string, id: string): boolean;
}

interface LogObject {
  readonly workspaceId: string;
  readonly id: string;
  readonly sequence: number;
}

/** Entities whose rows a purge of their issue removes without separate events. */
const partsOfIssues = tables.flatMap(({ contract, owners }) =>
  contract && owners.some(({ table }) => table === 'issues') ? [contract.name] : [],
);
/**
 * Event types after which a row may be removed; archived inbox items are removed later like deleted objects.
 */
const endTypes: ReadonlySet<string> = new Set([
  ...contracts.flatMap(({ events }) => (events.deleted === undefined ? [] : [events.deleted])),
  'issue.purged',
  'inbox.item_archived',
]);

export function lastEventsOf(subject: RowSubject): LastEvents {
  const last = new Map<string, Map<string, number>>();
  const all = subject.rows<{ workspace_id: string; entity_type: string; entity_id: string; last: number }>(
    'SELECT workspace_id, entity_type, entity_id, max(sequence) AS last FROM events GROUP BY 1, 2, 3',
  );
  for (const { workspace_id: workspaceId, entity_type: kind, entity_id: id, last: sequence } of all) {
    const sequences = last.get(kind) ?? new Map<string, number>();
    last.set(kind, sequences.set(`${workspaceId} ${id}`, sequence));
  }
  const sequenceOf: LastEvents['sequenceOf'] = (workspaceId, kind, id) =>
    last.get(kind)?.get(`${workspaceId} ${id}`);

  /** Reads the type before the data, because that usually avoids reading an archive file. */
  const isEndType = (workspaceId: string, sequence: number): boolean =>
    subject
      .rows<{ type: string }>(
        'SELECT type FROM events WHERE workspace_id = ?1 AND sequence = ?2',
        workspaceId,
        sequence,
      )
      .some(({ type }) => endTypes.has(type));
  const mayBeGone: LastEvents['mayBeGone'] = (workspaceId, kind, id) => {
    const sequence = sequenceOf(workspaceId, kind, id);
    if (sequence === undefined || isEndType(workspaceId, sequence)) return true;
    const event = readEvent(subject, workspaceId, sequence);
    if (!event || isEnded(kind, event.data)) return true;
    if (!partsOfIssues.includes(kind)) return false;
    const { issue, commentId } = event.data;
    // A reaction is removed with its comment. An inbox item may have no issue.
    if (typeof commentId === 'string' && mayBeGone(workspaceId, 'comment', commentId)) return true;
    const issueId = idOf(issue);
    return typeof issueId === 'string' ? mayBeGone(workspaceId, 'issue', issueId) : issueId === undefined;
  };
  return {
    sequenceOf,
    mayBeGone,
    *of(kind) {
      for (const [key, sequence] of last.get(kind) ?? []) {
        const [workspaceId = '', id = ''] = key.split(' ');
        yield { workspaceId, id, sequence };
      }
    },
  };
}

function isEnded(kind: string, { deletedAt, archivedAt }: Data): boolean {
  return typeof deletedAt === 'string' || (kind === 'inbox_item' && typeof archivedAt === 'string');
}

export interface Comparison {
  /** Name of the entity in events. */
  readonly kind: string;
  /** Name of the table in a finding. */
  readonly table: string;
  /**
   * SQL without conditions that selects at least `workspace_id` and `id` from the table of the objects,
   * aliased as `o`.
   */
  readonly select: string;
  /** True if another comparison of the same objects already reports those without events. */
  readonly isFurther?: true;
  /** @returns names of the differing facts, possibly empty; null if the row matches the event */
  differences(row: SqlRow, event: LastEvent): readonly string[] | null;
}

export function missingFrom(table: string, ids: readonly string[]): Finding[] {
  return ids.length > 0
    ? [
        error(
          `Rows are missing from ${table}, but the log has no deletion of them: ${some(ids)}. Restore a backup.`,
        ),
      ]
    : [];
}
