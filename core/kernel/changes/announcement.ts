// Builds changes that write no row and are recorded only as an event in the log.
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
    commitAssignedOf: null,
    ...(eventId === undefined ? {} : { id: eventId }),
  };
  // The id differs from that of the object, because a response takes its version from the change with the id
  // of its object.
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
      throw new Error('No change can follow an announcement.');
    },
  };
}
