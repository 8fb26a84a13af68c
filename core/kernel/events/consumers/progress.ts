// Measures how far a consumer is behind the log, and for how long it has made no progress.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { FreshEvents } from './fresh.ts';
import type { ConsumerPositions } from './consumer-positions.ts';

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

/** Progress is measured between calls, so the result has to be polled. */
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
