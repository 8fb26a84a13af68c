// A reaction turns events into changes, for example an assignment into an inbox item. Reactions read the
// event log, so they process every write without slowing it. The changes are committed together with the
// cursor, so each event is processed exactly once across crashes. See docs/decisions/0039.
import { idPrefixes } from '../../platform/lib/ids.ts';
import type { Scope } from '../../platform/store/store.ts';
import type { PlannedWrites } from '../changes/change.ts';
import { type Author, systemAuthor } from '../changes/commit.ts';
import type { Context, Directory, Services } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import type { EventRow } from '../events/event.ts';
import { allScopes } from '../rights/table.ts';

export interface Reaction {
  /**
   * Name of the cursor, and actor of the events, such as `sla`. The migration that adds a reaction to an
   * existing system must insert its cursor (`reaction <name>` in `cursors`); otherwise the reaction processes
   * the whole history.
   */
  readonly name: string;
  subscribesTo(type: EventType): boolean;
  /**
   * Returns the changes for one event. Events of one object that have changes, and events whose changes touch the
   * same objects, are processed one after the other. Others are processed together, so reads may not return the
   * changes of other events in the batch, nor those of other reactions. Called again after a conflict with
   * concurrent changes.
   */
  react(ctx: Context, event: EventRow): Promise<PlannedWrites>;
}

export const nothing: PlannedWrites = { changes: [] };

const everyScope: ReadonlySet<string> = new Set(allScopes);

interface Acting {
  readonly ctx: Context;
  readonly author: Author;
}

/**
 * Returns the context of changes that the server makes itself: all teams of the workspace are visible, and
 * all scopes are granted.
 * @param part component that events name as their actor, such as `sla`
 */
export function acting(services: Services, scope: Scope, part: string, directory: Directory): Acting {
  const author = systemAuthor(scope, part, directory);
  const ctx: Context = {
    ...services,
    ...author,
    authority: { actor: author.actor },
    workspaceId: scope.workspaceId,
    requestId: services.ids.next(idPrefixes.request),
    scopes: everyScope,
    narrowed: null,
    visibleTeams: null,
    staged: null,
  };
  return { ctx, author };
}
