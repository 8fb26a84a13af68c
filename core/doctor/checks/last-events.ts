// Last event of each object, by which its row is judged.
import { contracts } from '../../contracts.ts';
import { idOf } from '../facts/fact.ts';
import type { RowSubject } from '../subject.ts';
import { readEvent, type Data } from './last-event.ts';

export interface LastEvents {
  /** Undefined where the log knows no such object. */
  sequenceOf(workspaceId: string, kind: string, id: string): number | undefined;
  of(kind: string): Iterable<LogObject>;
  /** False where the last event shows the object as present, and likewise the object that it goes with. */
  mayBeGone(workspaceId: string, kind: string, id: string): boolean;
}

interface LogObject {
  readonly workspaceId: string;
  readonly id: string;
  readonly sequence: number;
}

/** Objects that a purge of their issue removes without an event of their own. */
const partsOfIssues = ['comment', 'reaction', 'subscriber', 'sla_clock', 'inbox_item'];
/** Archived items of an inbox are removed after a while, as deleted objects are. */
const endTypes: ReadonlySet<string> = new Set([
  ...contracts.flatMap(({ events }) => (events.deleted === undefined ? [] : [events.deleted])),
  'issue.purged',
  'inbox.item_archived',
]);

export function lastEventsOf(subject: RowSubject): LastEvents {
  const last = new Map<string, Map<string, number>>();
  const all = subject.rows<{ workspace_id: string; entity_kind: string; entity_id: string; last: number }>(
    'SELECT workspace_id, entity_kind, entity_id, max(sequence) AS last FROM events GROUP BY 1, 2, 3',
  );
  for (const { workspace_id: workspaceId, entity_kind: kind, entity_id: id, last: sequence } of all) {
    const ofKind = last.get(kind) ?? new Map<string, number>();
    last.set(kind, ofKind.set(`${workspaceId} ${id}`, sequence));
  }
  const sequenceOf: LastEvents['sequenceOf'] = (workspaceId, kind, id) =>
    last.get(kind)?.get(`${workspaceId} ${id}`);

  /** Most ends are known without a file of old events. */
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
    // A reaction goes with its comment, an event of an earlier version names no issue, and an inbox item may have none.
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
