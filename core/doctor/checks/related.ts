// Relations have no events of their own: what the log says of them stands in events of the issues that they are between.
import type { RowSubject } from '../subject.ts';
import { error, some, type Finding } from '../check.ts';
import { readEvent } from './last-event.ts';

interface Row {
  readonly workspace_id: string;
  readonly id: string;
  readonly from_id: string;
  readonly type: string;
  readonly issue_id: string;
  readonly deleted_at: number | null;
}
type Told = {
  readonly id: string;
  readonly relation: { readonly id: string; readonly type: string; readonly issue: { readonly id: string } };
};

/** Each relation as the log last told it; old events that rest in files say nothing. */
export function relations(subject: RowSubject): Finding[] {
  const { rows } = subject;
  const events = rows<{ workspace_id: string; sequence: number; type: string }>(
    "SELECT workspace_id, sequence, type FROM events WHERE type LIKE 'issue.relation\\_%' ESCAPE '\\' ORDER BY sequence",
  );
  let isWhole = true;
  const last = new Map<string, { isThere: boolean; sides: readonly string[] }>();
  for (const { workspace_id: workspaceId, sequence, type } of events) {
    const event = readEvent(subject, workspaceId, sequence);
    if (!event) {
      isWhole = false;
      continue;
    }
    const { id, relation } = event.data as Told;
    const side = [id, relation.type, relation.issue.id].join(' ');
    const known = last.get(`${workspaceId} ${relation.id}`);
    const isThere = type === 'issue.relation_added';
    last.set(`${workspaceId} ${relation.id}`, { isThere, sides: [...(known?.sides ?? []), side] });
  }
  const differing = rows<Row>(
    'SELECT workspace_id, id, from_id, type, issue_id, deleted_at FROM relations',
  ).filter((row) => {
    const told = last.get(`${row.workspace_id} ${row.id}`);
    if (!told) return isWhole;
    const side = [row.from_id, row.type, row.issue_id].join(' ');
    return told.isThere !== (row.deleted_at === null) || !told.sides.includes(side);
  });
  return differing.length > 0
    ? [error(`Not as the log says, in relations: ${some(differing.map(({ id }) => id))}.`)]
    : [];
}
