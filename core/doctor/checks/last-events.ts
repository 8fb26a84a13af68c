// Last event of each object, by which its row is judged.
import type { RowSubject } from '../subject.ts';

export interface LastEvents {
  /** Undefined where the log knows no such object. */
  sequenceOf(workspaceId: string, kind: string, id: string): number | undefined;
}

export function lastEventsOf({ rows }: RowSubject): LastEvents {
  const all = rows<{ workspace_id: string; entity_kind: string; entity_id: string; last: number }>(
    'SELECT workspace_id, entity_kind, entity_id, max(sequence) AS last FROM events GROUP BY 1, 2, 3',
  );
  const last = new Map(all.map((row) => [keyOf(row.workspace_id, row.entity_kind, row.entity_id), row.last]));
  return { sequenceOf: (...parts) => last.get(keyOf(...parts)) };
}

const keyOf = (...parts: readonly string[]): string => parts.join(' ');
