// Reads the object in an event from the database or the archive.
import { commitAssignedRule } from '../../../../kernel/events/log/commit-assigned.ts';
import { distanceOf, fileOf, unpack, type StoredParts } from '../../../../kernel/events/log/packing.ts';
import type { RowSubject } from '../../subject.ts';

export type Data = Readonly<Record<string, unknown>>;

export interface LastEvent {
  readonly type: string;
  readonly data: Data;
}

/** Returns null if the event does not exist or its archive file cannot be read. */
export function readEvent(subject: RowSubject, workspaceId: string, sequence: number): LastEvent | null {
  const [event] = subject.rows<StoredParts & { type: string; entity_kind: string; learned: number | null }>(
    `SELECT type, entity_kind, cause_json, data_json, packed, number AS learned FROM events
     WHERE workspace_id = ?1 AND sequence = ?2`,
    workspaceId,
    sequence,
  );
  if (!event) return null;
  const distance = distanceOf(event);
  const { type, entity_kind: kind, learned } = event;
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
