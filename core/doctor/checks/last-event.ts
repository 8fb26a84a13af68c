// What an event of the log says, as it lies in the database.
import { learningOf } from '../../events/learning.ts';
import { distanceOf, fileOf, unpack, type StoredParts } from '../../events/packing.ts';
import type { Subject } from '../subject.ts';

export type Data = Readonly<Record<string, unknown>>;

export interface LastEvent {
  readonly type: string;
  readonly data: Data;
}

/** Null where what it says rests in a file of old events. */
export function readEvent(
  { rows }: Pick<Subject, 'rows'>,
  workspaceId: string,
  sequence: number,
): LastEvent | null {
  const [event] = rows<StoredParts & { type: string; entity_kind: string; learned: number | null }>(
    `SELECT type, entity_kind, cause_json, data_json, packed, number AS learned FROM events
     WHERE workspace_id = ?1 AND sequence = ?2`,
    workspaceId,
    sequence,
  );
  if (!event || fileOf(event) !== null) return null;
  const distance = distanceOf(event);
  const { type, entity_kind: kind, learned } = event;
  if (distance > 0) {
    const same = readEvent({ rows }, workspaceId, sequence - distance);
    return same && { type, data: same.data };
  }
  const data = JSON.parse(unpack(event).data) as Data;
  return { type, data: learned === null ? data : learningOf(kind).complete(data, learned) };
}
