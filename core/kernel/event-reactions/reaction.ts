// A reaction turns events into changes, for example an assignment into an inbox item. Reactions read the
// event log, so they process every write without slowing it. The changes are committed together with the
// cursor, so each event is processed exactly once across crashes. See docs/decisions/0039.
import type { PlannedWrites } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import type { EventRow } from '../events/event.ts';

export interface Reaction {
  /**
   * Name of the cursor, and actor of the events, such as `sla`. The migration that adds a reaction to an
   * existing system must insert its cursor (`reaction <name>` in `cursors`); otherwise the reaction processes
   * the whole history.
   */
  readonly name: string;
  subscribesTo(type: EventType): boolean;
  /**
   * Returns the changes for one event. Events of one object, and events whose changes touch the same objects,
   * are processed one after the other. Events of different objects are processed together, so reads may not
   * return the changes of other events in the batch. Called again after a conflict with concurrent changes.
   */
  react(ctx: Context, event: EventRow): Promise<PlannedWrites>;
}

export const nothing: PlannedWrites = { changes: [] };
