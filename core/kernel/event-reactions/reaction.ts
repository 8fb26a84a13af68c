// A reaction turns events into changes, for example an assignment into an inbox item. Reactions read the
// event log, so they process every write without slowing it. The changes are committed together with the
// cursor, so each event is processed exactly once across crashes. See docs/decisions/0039.
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import type { Log } from '../../platform/lib/log.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import {
  backgroundCommitDelayMs,
  type Op,
  type Scope,
  scopeOf,
  type Store,
  tenantOp,
} from '../../platform/store/store.ts';
import type { PlannedWrites } from '../changes/change.ts';
import { type Author, systemAuthor } from '../changes/commit.ts';
import type { Context, Directory, Services } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import { moveCursor, readCursor } from '../events/consumers/consumer-positions.ts';
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
   * Returns the changes for one event. Events of one object, and events whose changes touch the same objects,
   * are processed one after the other. Events of different objects are processed together, so reads may not
   * return the changes of other events in the batch. Called again after a conflict with concurrent changes.
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

/** Delay in milliseconds after which the cursor is stored when no more events are pending. */
const restMs = 1_000;
const idleEvents = 2_000;

/** Sequences of the last processed event: in memory, and in the database. */
interface LogCursor {
  at: number;
  stored: number;
}

/**
 * Cursors of a reaction, one for each workspace. Changes are committed together with the new cursor. After
 * events without changes, the cursor is stored with a delay: these events must not be read again much later,
 * because a rule added in the meantime could match them.
 */
interface ReactionCursors {
  of(scope: Scope): Promise<Readonly<LogCursor>>;
  /**
   * Returns an op that moves the stored cursor, and fails its batch if another process has moved the cursor.
   */
  moveOp(scope: Scope, to: number): Op;
  /** @param isStored true if a batch has stored the new cursor */
  moved(scope: Scope, to: number, isStored: boolean): Promise<void>;
  /** Stores the cursor after a delay. */
  rest(workspaceId: string): void;
  /** Drops the cached cursor, because another process may have moved it. */
  forget(workspaceId: string): void;
  /** Stores all cursors. Failures are only logged. */
  stop(): Promise<void>;
}

export function createReactionCursors(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly consumer: string;
}): ReactionCursors {
  const { store, clock, log, consumer } = options;
  const cursors = new Map<string, LogCursor>();
  const waiting = new Map<string, () => void>();

  const moveOp = (scope: Scope, to: number): Op => {
    const from = cursors.get(scope.workspaceId)?.stored ?? 0;
    return tenantOp(scope, moveCursor, { consumer, from, to }, { expectRows: 1 });
  };
  const storeCursor = async (workspaceId: string): Promise<void> => {
    waiting.get(workspaceId)?.();
    waiting.delete(workspaceId);
    const cursor = cursors.get(workspaceId);
    if (!cursor || cursor.at === cursor.stored) return;
    const { at } = cursor;
    const { ok } = await store.commit([moveOp(scopeOf(workspaceId), at)], {
      commitDelayMs: backgroundCommitDelayMs,
    });
    if (ok) cursor.stored = at;
    else cursors.delete(workspaceId);
  };
  /**
   * A failure is only logged: events after the stored cursor are read again, and cause no changes the second
   * time either.
   */
  const tryToStoreCursor = (workspaceId: string): Promise<void> =>
    storeCursor(workspaceId).catch((error: unknown) =>
      log('warn', 'cursor not stored', { consumer, error: errorForLog(error) }),
    );

  return {
    moveOp,
    async of(scope) {
      const known = cursors.get(scope.workspaceId);
      if (known) return known;
      const stored = (await readCursor.one(store, scope, { consumer }))?.sequence ?? 0;
      const cursor = { at: stored, stored };
      cursors.set(scope.workspaceId, cursor);
      return cursor;
    },
    async moved({ workspaceId }, to, isStored) {
      const cursor = cursors.get(workspaceId);
      if (!cursor) return;
      cursor.at = to;
      if (isStored) cursor.stored = to;
      else if (to - cursor.stored >= idleEvents) await storeCursor(workspaceId);
    },
    rest(workspaceId) {
      const cursor = cursors.get(workspaceId);
      if (waiting.has(workspaceId) || !cursor || cursor.at === cursor.stored) return;
      const cancel = clock.after(restMs, () => void tryToStoreCursor(workspaceId));
      waiting.set(workspaceId, cancel);
    },
    forget: (workspaceId) => void cursors.delete(workspaceId),
    async stop() {
      for (const workspaceId of [...cursors.keys()]) await tryToStoreCursor(workspaceId);
    },
  };
}
