// Where a reaction stands in the log of each workspace. An answer moves the place in its own commit; what meant nothing moves it soon after
// there is nothing more to read: it may mean something later, by a rule that was made since, and is not to be asked about again.
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

/** A place is stored so soon after there is nothing more to read, and after so many events that meant nothing. */
const restMs = 1_000;
const idleEvents = 2_000;

/** In memory, and as the database has it. */
interface Place {
  at: number;
  stored: number;
}

export interface Places {
  of(scope: Scope): Promise<Readonly<Place>>;
  /** Moves it in the database, in the batch of an answer; guards that. */
  moveOp(scope: Scope, to: number): Op;
  /** @param isStored whether a batch has moved it there */
  moved(scope: Scope, to: number, isStored: boolean): Promise<void>;
  /** Has it stored, where nothing else does before. */
  rest(workspaceId: string): void;
  /** Reads it anew: another process may have moved it. */
  forget(workspaceId: string): void;
  /** Stores all, where the store takes it. */
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
  const keep = async (workspaceId: string): Promise<void> => {
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
  /** What is not stored is read again, and means nothing the second time. */
  const tryToKeep = (workspaceId: string): Promise<void> =>
    keep(workspaceId).catch((error: unknown) =>
      log('warn', 'a place in the log was not stored', { consumer, error: errorForLog(error) }),
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
      else if (to - place.stored >= idleEvents) await keep(workspaceId);
    },
    rest(workspaceId) {
      const place = places.get(workspaceId);
      if (waiting.has(workspaceId) || !place || place.at === place.stored) return;
      const cancel = clock.after(restMs, () => void tryToKeep(workspaceId));
      waiting.set(workspaceId, cancel);
    },
    forget: (workspaceId) => void places.delete(workspaceId),
    async stop() {
      for (const workspaceId of [...places.keys()]) await tryToKeep(workspaceId);
    },
  };
}
