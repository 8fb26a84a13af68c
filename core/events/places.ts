// Where a consumer stands in the log of each workspace: in memory how far it has read and what of that is still under way, and in
// the database the low-water mark, before which all is done or stored. After a crash what lies behind the mark is planned again.
import { tenantStatement } from '../store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope, type Store } from '../store/store.ts';
import { lastSequence } from './log.ts';
import { forgetWantsOp } from './past-wants.ts';

/** Workspaces whose place is remembered though nothing of theirs is under way. */
export const placesMax = 1_000;

export const readCursor = tenantStatement<{ sequence: number }>(
  'cursors.read',
  'SELECT sequence FROM cursors WHERE workspace_id = :ws AND consumer = :consumer',
);
/** From where it is known to stand; guards its batch where a row is expected. */
export const moveCursor = tenantStatement(
  'cursors.move',
  `INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, :to)
   ON CONFLICT (workspace_id, consumer) DO UPDATE SET sequence = :to WHERE sequence = :from`,
);

/** A subject whose work is made later than that of the others, because it has no room for more. */
export interface Lag {
  /** Its work for the events after this is still to be made. */
  after: number;
  /** When it last got on (monotonic milliseconds). */
  movedMs: number;
  /** Its work is to be stored, because somebody wants to see it. */
  isLookedAt: boolean;
}

export class Place {
  /** The last event that was read. */
  at: number;
  /** The low-water mark as the database has it. */
  stored: number;
  /** Of events up to here an earlier reading may have made work already. */
  againThrough: number;
  /** Whether work was made since the mark was stored. */
  hasWorked = false;
  /** How many read or wait with it. */
  users = 0;
  /** The last step went wrong. */
  hasFailed = false;
  readonly lagging = new Map<string, Lag>();
  /** How much work of an event is neither done nor stored, by its sequence: no more than the room of the work queue. */
  readonly #open = new Map<number, number>();

  constructor(stored: number, end: number) {
    this.at = stored;
    this.stored = stored;
    this.againThrough = end;
  }

  open(sequence: number): void {
    this.hasWorked = true;
    this.#open.set(sequence, (this.#open.get(sequence) ?? 0) + 1);
  }

  close(sequence: number): void {
    const left = (this.#open.get(sequence) ?? 0) - 1;
    if (left > 0) this.#open.set(sequence, left);
    else this.#open.delete(sequence);
  }

  get isBusy(): boolean {
    return this.users > 0 || this.#open.size > 0 || this.lagging.size > 0;
  }

  /** All work of events up to here is done or stored. */
  get lowWater(): number {
    let low = this.at;
    for (const sequence of this.#open.keys()) low = Math.min(low, sequence - 1);
    for (const { after } of this.lagging.values()) low = Math.min(low, after);
    return low;
  }
}

export interface Places {
  /** Is not forgotten while `work` goes on. */
  using<T>(scope: Scope, work: (place: Place) => Promise<T>): Promise<T>;
  /** The place, where the workspace has one in memory. */
  known(workspaceId: string): Place | undefined;
  /** Brings the database up to the low-water mark. */
  store(scope: Scope): Promise<void>;
  all(): IterableIterator<string>;
}

export function createPlaces(store: Store, consumer: string): Places {
  const places = new Map<string, Place>();

  const read = async (scope: Scope): Promise<number> =>
    (await store.readOne(scope, readCursor, { consumer }))?.sequence ?? 0;

  const remember = (workspaceId: string, place: Place): void => {
    places.set(workspaceId, place);
    for (const [oldest, { isBusy }] of places) {
      if (places.size <= placesMax) break;
      if (!isBusy && oldest !== workspaceId) places.delete(oldest);
    }
  };

  const of = async (scope: Scope): Promise<Place> => {
    const known = places.get(scope.workspaceId);
    if (known) return known;
    const [stored, end] = [await read(scope), await lastSequence(store, scope)];
    // Somebody else may have read it meanwhile.
    const other = places.get(scope.workspaceId);
    if (other) return other;
    const place = new Place(stored, end);
    remember(scope.workspaceId, place);
    return place;
  };

  return {
    known: (workspaceId) => places.get(workspaceId),
    all: () => places.keys(),
    async using(scope, work) {
      let place = await of(scope);
      // It may have been forgotten in the moment between.
      while (places.get(scope.workspaceId) !== place) place = await of(scope);
      place.users++;
      try {
        return await work(place);
      } finally {
        place.users--;
      }
    },
    async store(scope) {
      const place = places.get(scope.workspaceId);
      const to = place?.lowWater ?? 0;
      if (!place || to <= place.stored) return;
      const move = tenantOp(scope, moveCursor, { consumer, from: place.stored, to }, { expectRows: 1 });
      const ops = [move, forgetWantsOp(scope, consumer, to)];
      const moved = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
      // Another process on the same database has moved it: what was made here twice is refused when it is stored.
      place.stored = moved.ok ? to : await read(scope);
      if (!place.isBusy) place.hasWorked = false;
    },
  };
}
