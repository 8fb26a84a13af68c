// A change that writes no row: its event is all there is of it, so the log is where it is kept and read from.
import type { EventType } from '../events/catalogue.ts';
import type { Change } from './change.ts';

export function announce(
  entity: { readonly kind: string; readonly id: string },
  type: EventType,
  data: Readonly<Record<string, unknown>>,
  eventId?: string,
): Change {
  const draft = {
    type,
    data,
    entityKind: entity.kind,
    entityId: entity.id,
    subjectId: null,
    learnsOf: null,
    ...(eventId === undefined ? {} : { id: eventId }),
  };
  // No object's id: an answer takes its version from the change of the object that it shows.
  const id = `${type} ${entity.id}`;
  return {
    kind: 'announcement',
    id,
    before: null,
    after: { id, version: 1 },
    baseVersion: null,
    isSilent: false,
    ops: () => [],
    events: () => [draft],
    followedBy() {
      throw new Error('An announcement is not followed by a change.');
    },
  };
}
