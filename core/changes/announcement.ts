// A change that writes no row: its event is all there is of it, so the log is where it is kept and read from.
import type { EventType } from '../events/catalogue.ts';
import type { Change } from './change.ts';

const kind = 'announcement';

/** Whether it is of no object that has a version. */
export const isAnnouncement = (change: Change): boolean => change.kind === kind;

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
  return {
    kind,
    id: entity.id,
    before: null,
    after: { id: entity.id, version: 1 },
    baseVersion: null,
    isSilent: false,
    ops: () => [],
    events: () => [draft],
    followedBy() {
      throw new Error('An announcement is not followed by a change.');
    },
  };
}
