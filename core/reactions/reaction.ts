// Reactions turn events into changes, for example an assignment into an inbox item. A reaction reads the log, so it
// sees every write of any author and slows none of them. Its changes are committed with its cursor, so each event is
// processed exactly once across crashes. See docs/decisions/0039.
import type { ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import type { EventRow } from '../events/event.ts';

/** Changes to commit; empty if there is nothing to do. */
export type ReactionResult = Pick<ChangeSet, 'changes' | 'ops'>;

export interface Reaction {
  /**
   * Name of its cursor and actor of its events, such as `sla`. The migration that adds a reaction to an existing
   * system must insert its cursor (`reaction <name>` in `cursors`); otherwise it processes the whole history.
   */
  readonly name: string;
  subscribesTo(type: EventType): boolean;
  /**
   * Returns the changes for one event. Events of one object, and events whose changes touch the same objects, are
   * processed one after the other. Events of different objects are processed together, so reads may not see the
   * changes of other events in the batch. It is called again after a conflict with concurrent changes.
   */
  react(ctx: Context, event: EventRow): Promise<ReactionResult>;
}

export const nothing: ReactionResult = { changes: [] };
