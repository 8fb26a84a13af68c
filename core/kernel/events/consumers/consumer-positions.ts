// Positions of a consumer in the log of each workspace. Memory has the read position and the work in
// progress; the database has the low-water mark, up to which all work is done or stored. After a crash,
// events after the mark are planned again.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import { lastSequence } from '../log/log.ts';
import type { FreshEvents } from './fresh.ts';
import { forgetSubscriptionsOp } from './past-subscriptions.ts';
import { readCursor, type PositionSource, type Positions } from './positions.ts';

/** Limit of idle workspaces whose position is cached. */
export const positionsMax = 1_000;

/** A subscriber whose work is planned later, because its queue is full. */
export interface Lag {
  /** Work for events after this sequence is still to be planned. */
  after: number;
  /** Time of the last progress (monotonic milliseconds). */
  movedMs: number;
  /** True if its work must be stored, because a reader wants to list it. */
  isLookedAt: boolean;
}

export class ConsumerPosition {
  /** Sequence of the last event read. */
  at: number;
  /** Low-water mark as stored in the database. */
  stored: number;
  /** An earlier read may already have planned work for events up to this sequence. */
  againThrough: number;
  /** Last event for which work was planned. */
  workedThrough = 0;
  /** Last event that is matched against earlier subscriptions; 0 if there are none. */
  pastUntil = 0;
  /** Earlier subscriptions up to this sequence have been deleted. */
  forgottenThrough = 0;
  /** Number of tasks that read with or wait for this position. */
  users = 0;
  /** True if the last step failed. */
  hasFailed = false;
  readonly lagging = new Map<string, Lag>();
  /**
   * Number of units per event that are neither done nor stored; bounded by the capacity of the work queue.
   */
  readonly #open = new Map<number, number>();

  constructor(stored: number, end: number) {
    this.at = stored;
    this.stored = stored;
    this.againThrough = end;
  }

  open(sequence: number): void {
    this.workedThrough = Math.max(this.workedThrough, sequence);
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

  /** All work of events up to this sequence is done or stored. */
  get lowWater(): number {
    let low = this.at;
    for (const sequence of this.#open.keys()) low = Math.min(low, sequence - 1);
    for (const { after } of this.lagging.values()) low = Math.min(low, after);
    return low;
  }
}

export interface ConsumerPositions {
  /** Pins the position in memory while `work` runs. */
  using<T>(scope: Scope, work: (position: ConsumerPosition) => Promise<T>): Promise<T>;
  /** Returns the position of a workspace if it is in memory. */
  known(workspaceId: string): ConsumerPosition | undefined;
  all(): IterableIterator<string>;
}

/** @param stored stores the low-water marks */
export function createConsumerPositions(
  store: Store,
  consumer: string,
  stored: Positions,
): ConsumerPositions {
  const positions = new Map<string, ConsumerPosition>();
  stored.add(markSource(consumer, positions));

  const read = async (scope: Scope): Promise<number> =>
    (await readCursor.one(store, scope, { consumer }))?.sequence ?? 0;

  const remember = (workspaceId: string, position: ConsumerPosition): void => {
    positions.set(workspaceId, position);
    for (const [oldest, { isBusy }] of positions) {
      if (positions.size <= positionsMax) break;
      if (!isBusy && oldest !== workspaceId) positions.delete(oldest);
    }
  };

  const of = async (scope: Scope): Promise<ConsumerPosition> => {
    const known = positions.get(scope.workspaceId);
    if (known) return known;
    const [stored, end] = [await read(scope), await lastSequence(store, scope)];
    // Another caller may have read the position meanwhile.
    const other = positions.get(scope.workspaceId);
    if (other) return other;
    const position = new ConsumerPosition(stored, end);
    remember(scope.workspaceId, position);
    return position;
  };

  return {
    known: (workspaceId) => positions.get(workspaceId),
    all: () => positions.keys(),
    async using(scope, work) {
      let position = await of(scope);
      // The position may have been evicted meanwhile.
      while (positions.get(scope.workspaceId) !== position) position = await of(scope);
      position.users++;
      try {
        return await work(position);
      } finally {
        position.users--;
      }
    },
  };
}

function markSource(consumer: string, positions: ReadonlyMap<string, ConsumerPosition>): PositionSource {
  return {
    consumer,
    workspaces: () => positions.keys(),
    unstored(workspaceId) {
      const position = positions.get(workspaceId);
      if (!position || position.lowWater <= position.stored) return null;
      return { sequence: position.lowWater, isDue: position.workedThrough > position.stored };
    },
    opsAt(scope, sequence) {
      const { pastUntil = 0, forgottenThrough = 0 } = positions.get(scope.workspaceId) ?? {};
      const isAny = pastUntil > 0 && pastUntil >= forgottenThrough;
      return isAny ? [forgetSubscriptionsOp(scope, consumer, sequence)] : [];
    },
    stored(workspaceId, sequence) {
      const position = positions.get(workspaceId);
      if (!position) return;
      position.stored = Math.max(position.stored, sequence);
      position.forgottenThrough = position.stored;
    },
  };
}

export interface Progress {
  readonly consumer: string;
  /** Events whose work is neither done nor stored, over all workspaces. */
  readonly behind: number;
  /** Longest time that a workspace has been behind without progress; 0 if all progress. */
  readonly stalledMs: number;
}

interface ProgressMark {
  readonly lowWater: number;
  readonly sinceMs: number;
}

/**
 * Measures how far a consumer is behind the log, and for how long it has made no progress. Progress is
 * measured between calls, so the result has to be polled.
 */
export function createProgress(options: {
  readonly name: string;
  readonly clock: Clock;
  readonly positions: ConsumerPositions;
  readonly fresh: FreshEvents;
}): () => Progress {
  const { name, clock, positions, fresh } = options;
  let before = new Map<string, ProgressMark>();
  return () => {
    const nowMs = clock.monotonicMs();
    const waiting = new Map<string, ProgressMark>();
    let behind = 0;
    let stalledMs = 0;
    for (const workspaceId of positions.all()) {
      const position = positions.known(workspaceId);
      if (!position) continue;
      const { lowWater } = position;
      const lag = Math.max(position.at, position.againThrough, fresh.newest(workspaceId)) - lowWater;
      if (lag <= 0) continue;
      const last = before.get(workspaceId);
      const mark = last?.lowWater === lowWater ? last : { lowWater, sinceMs: nowMs };
      waiting.set(workspaceId, mark);
      behind += lag;
      stalledMs = Math.max(stalledMs, nowMs - mark.sinceMs);
    }
    before = waiting;
    return { consumer: name, behind, stalledMs };
  };
}
