// A consumer turns the event log into work. It reads on from its place, plans what the events mean, and offers that to its work
// queue, which begins it at once and stores nothing of what is soon done. A subject (an install, an endpoint) that has no room for more
// lags behind, and its work is made from the log when it has room again, so that nobody else waits for it.
// See docs/decisions/0020.
import type { Log } from '../lib/log.ts';
import { systemStatement } from '../store/statement.ts';
import type { Scope } from '../store/store.ts';
import { lastSequence } from './log.ts';
import { createLoops } from './loops.ts';
import { createMarks } from './marks.ts';
import { createPlaces } from './places.ts';
import { createProgress, type Progress } from './progress.ts';
import { createStep, type ReadingOptions } from './reading.ts';
import type { Unit } from './work.ts';

export const allWorkspaces = systemStatement<{ workspace_id: string }>(
  'consumers.workspaces',
  'at start every workspace may have events that its consumers have not seen',
  'SELECT workspace_id FROM workspaces',
);

export interface Consumer {
  /** Reads on in every workspace; to be called once, when the queue may work. Until then events are left to the log. */
  start(): Promise<void>;
  /** Resolves once the work of all events committed so far is under way. */
  settled(): Promise<void>;
  /** Has the work stored that a workspace's events made so far, or one subject's, for somebody who wants to see it. */
  storeWork(scope: Scope, subject?: string): Promise<void>;
  /** How far it is behind. */
  progress(): Progress;
  /** Reads no further. */
  stop(): Promise<void>;
  /** Stores how far it came. */
  storeMarks(): Promise<void>;
}

export interface ConsumerOptions<U extends Unit> extends ReadingOptions<U> {
  readonly name: string;
  readonly log: Log;
}

export function createConsumer<U extends Unit>(options: ConsumerOptions<U>): Consumer {
  const { store, clock, name, queue } = options;
  const places = createPlaces(store, name);
  const marks = createMarks(options, places, (workspaceId) => loops.wake(workspaceId));
  const isStopped = (): boolean => loops.isStopped();
  const step = createStep({ ...options, places, isStopped, onSettled: marks.lookLater });
  const loops = createLoops({ ...options, step, onRest: marks.lookLater });

  options.fresh.onAdded((workspaceId) => {
    if (queue.mayWork()) loops.wake(workspaceId);
  });
  queue.onRoom((scope) => {
    const { workspaceId, payer: subject } = scope;
    const lag = subject === null ? undefined : places.known(workspaceId)?.lagging.get(subject);
    if (!lag || subject === null) return;
    lag.movedMs = clock.monotonicMs();
    if (queue.hasRoom(scope, subject)) loops.wake(workspaceId);
  });

  return {
    progress: createProgress({ ...options, places }),
    async start() {
      for (const row of await store.readSystem(allWorkspaces)) loops.wake(row.workspace_id);
    },
    async settled() {
      const lags = (): boolean => [...places.all()].some((id) => places.known(id)?.lagging.size);
      do await loops.rest();
      while (!isStopped() && lags() && (await loops.nextRest()));
    },
    async storeWork(scope, subject) {
      if (!queue.mayWork()) return;
      const end = await lastSequence(store, scope);
      await places.using(scope, async (place) => {
        for (;;) {
          const lags = [...place.lagging].filter(([one]) => (subject ?? one) === one);
          for (const [, lag] of lags) lag.isLookedAt = true;
          if (isStopped() || (lags.length === 0 && place.at >= end)) return;
          loops.wake(scope.workspaceId);
          await loops.nextStep();
          // What the store does not take cannot be seen.
          if (place.hasFailed) return;
        }
      });
      await queue.storeHeld(scope, (unit) => (subject ?? unit.subject) === unit.subject);
    },
    async stop() {
      marks.stop();
      await loops.stop();
    },
    async storeMarks() {
      for (const workspaceId of [...places.all()]) await marks.store(workspaceId);
    },
  };
}
