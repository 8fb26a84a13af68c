// Cursors of a reaction in the log of each workspace. A batch with changes moves the cursor in the same commit.
// Events without changes move it soon after the log is read: they must not be read again, because a rule added later
// could match them.
import { moveCursor, readCursor } from '../events/places.ts';
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import {
  backgroundCommitDelayMs,
  scopeOf,
  tenantOp,
  type Op,
  type Scope,
  type Store,
} from '../store/store.ts';

/** The cursor is stored after this delay once the log is read, and after this many events without changes. */
const restMs = 1_000;
const idleEvents = 2_000;

/** Cursor in memory and in the database. */
interface Place {
  at: number;
  stored: number;
}

export interface Places {
  of(scope: Scope): Promise<Readonly<Place>>;
  /** Moves the cursor in the batch of a reaction's changes; guards that batch. */
  moveOp(scope: Scope, to: number): Op;
  /** @param isStored true if a batch has stored the new cursor */
  moved(scope: Scope, to: number, isStored: boolean): Promise<void>;
  /** Schedules storing of the cursor. */
  rest(workspaceId: string): void;
  /** Drops the cached cursor, because another process may have moved it. */
  forget(workspaceId: string): void;
  /** Stores all cursors if the store is writable. */
  stop(): Promise<void>;
}

export function createPlaces(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly consumer: string;
}): Places {
  const { store, clock, log, consumer } = options;
  const places = new Map<string, Place>();
  const waiting = new Map<string, () => void>();

  const moveOp = (scope: Scope, to: number): Op => {
    const from = places.get(scope.workspaceId)?.stored ?? 0;
    return tenantOp(scope, moveCursor, { consumer, from, to }, { expectRows: 1 });
  };
  const storeCursor = async (workspaceId: string): Promise<void> => {
    waiting.get(workspaceId)?.();
    waiting.delete(workspaceId);
    const place = places.get(workspaceId);
    if (!place || place.at === place.stored) return;
    const { at } = place;
    const { ok } = await store.commit([moveOp(scopeOf(workspaceId), at)], {
      commitDelayMs: backgroundCommitDelayMs,
    });
    if (ok) place.stored = at;
    else places.delete(workspaceId);
  };
  /** Events after the stored cursor are read again, and cause no changes the second time either. */
  const tryToStoreCursor = (workspaceId: string): Promise<void> =>
    storeCursor(workspaceId).catch((error: unknown) =>
      log('warn', 'cursor not stored', { consumer, error: errorForLog(error) }),
    );

  return {
    moveOp,
    async of(scope) {
      const known = places.get(scope.workspaceId);
      if (known) return known;
      const stored = (await store.readOne(scope, readCursor, { consumer }))?.sequence ?? 0;
      const place = { at: stored, stored };
      places.set(scope.workspaceId, place);
      return place;
    },
    async moved({ workspaceId }, to, isStored) {
      const place = places.get(workspaceId);
      if (!place) return;
      place.at = to;
      if (isStored) place.stored = to;
      else if (to - place.stored >= idleEvents) await storeCursor(workspaceId);
    },
    rest(workspaceId) {
      const place = places.get(workspaceId);
      if (waiting.has(workspaceId) || !place || place.at === place.stored) return;
      const cancel = clock.after(restMs, () => void tryToStoreCursor(workspaceId));
      waiting.set(workspaceId, cancel);
    },
    forget: (workspaceId) => void places.delete(workspaceId),
    async stop() {
      for (const workspaceId of [...places.keys()]) await tryToStoreCursor(workspaceId);
    },
  };
}
