// A reaction turns events into changes: somebody is assigned, and an item lands in their inbox. It reads the log, so that it hears of
// every write, whoever made it, and costs none of them anything. Its changes are committed with its place in the log, so that each
// event is answered exactly once, over crashes. docs/decisions/0039.
import type { ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import type { EventRow } from '../events/event.ts';

/** What is to be committed; empty where there is nothing to do. */
export type Answer = Pick<ChangeSet, 'changes' | 'ops'>;

export interface Reaction {
  /**
   * Names its place in the log and the actor of its events: `sla`. One that is added to a system with a history is given its place by
   * its migration (`reaction <name>` in `cursors`), or it answers all that ever happened.
   */
  readonly name: string;
  wants(type: EventType): boolean;
  /**
   * What one event means. Of one object, events are answered one after the other, and so are those whose answers change the same;
   * of several, together: what it reads may be older than what it has just answered for another object. It is asked again where others
   * changed the same meanwhile.
   */
  react(ctx: Context, event: EventRow): Promise<Answer>;
}

export const nothing: Answer = { changes: [] };
