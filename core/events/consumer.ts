// A consumer turns the event log into work. It reads from its position, plans the work of each event and
// offers it to its work queue, which starts it immediately and does not store work that ends soon. A
// subscriber (a plugin install or a webhook endpoint) whose queue is full lags behind; its work is planned
// from the log once there is capacity, so it does not block other subscribers. See docs/decisions/0020.
import type { Log } from '../lib/log.ts';
import { systemStatement } from '../store/statement.ts';
import type { Scope } from '../store/store.ts';
import { lastSequence } from './log.ts';
import { createLoops } from './loops.ts';
import { createMarks } from './marks.ts';
import { createPositions } from './consumer-positions.ts';
import { createProgress, type Progress } from './progress.ts';
import { createStep, type LogReadingOptions } from './reading.ts';
import type { Unit } from './work.ts';

export const allWorkspaces = systemStatement<{ workspace_id: string }>(
  'consumers.workspaces',
  'at startup every workspace may have events that its consumers have not read',
  'SELECT workspace_id FROM workspaces',
);

export interface Consumer {
  /** Starts reading in every workspace. Call once, when the queue may work; until then events stay in the log. */
  start(): Promise<void>;
  /** Resolves once the work of all events committed so far has started. */
  settled(): Promise<void>;
  /** Stores the planned work of a workspace, or of one subscriber, so that it can be listed. */
  storeWork(scope: Scope, subject?: string): Promise<void>;
  /** Returns how far the consumer is behind the log. */
  progress(): Progress;
  /** Stops reading. */
  stop(): Promise<void>;
  /** Stores the low-water marks. */
  storeMarks(): Promise<void>;
}

export interface ConsumerOptions<U extends Unit> extends LogReadingOptions<U> {
  readonly name: string;
  readonly log: Log;
}

export function createConsumer<U extends Unit>(options: ConsumerOptions<U>): Consumer {
  const { store, clock, name, queue } = options;
  const positions = createPositions(store, name);
  const marks = createMarks(options, positions, (workspaceId) => loops.wake(workspaceId));
  const isStopped = (): boolean => loops.isStopped();
  const step = createStep({ ...options, positions, isStopped, onSettled: marks.lookLater });
  const loops = createLoops({ ...options, step, onRest: marks.lookLater });

  options.fresh.onAdded((workspaceId) => {
    if (queue.mayWork()) loops.wake(workspaceId);
  });
  queue.onCapacity((scope) => {
    const { workspaceId, billingAccount: subject } = scope;
    const lag = subject === null ? undefined : positions.known(workspaceId)?.lagging.get(subject);
    if (!lag || subject === null) return;
    lag.movedMs = clock.monotonicMs();
    if (queue.hasCapacity(scope, subject)) loops.wake(workspaceId);
  });

  return {
    progress: createProgress({ ...options, positions }),
    async start() {
      for (const row of await store.readSystem(allWorkspaces)) loops.wake(row.workspace_id);
    },
    async settled() {
      const lags = (): boolean => [...positions.all()].some((id) => positions.known(id)?.lagging.size);
      do await loops.rest();
      while (!isStopped() && lags() && (await loops.nextRest()));
    },
    async storeWork(scope, subject) {
      if (!queue.mayWork()) return;
      const end = await lastSequence(store, scope);
      await positions.using(scope, async (position) => {
        for (;;) {
          const lags = [...position.lagging].filter(([one]) => (subject ?? one) === one);
          for (const [, lag] of lags) lag.isLookedAt = true;
          if (isStopped() || (lags.length === 0 && position.at >= end)) return;
          loops.wake(scope.workspaceId);
          await loops.nextStep();
          // Work that the store refuses cannot be listed.
          if (position.hasFailed) return;
        }
      });
      await queue.storeActive(scope, (unit) => (subject ?? unit.subject) === unit.subject);
    },
    async stop() {
      marks.stop();
      await loops.stop();
    },
    async storeMarks() {
      for (const workspaceId of [...positions.all()]) await marks.store(workspaceId);
    },
  };
}
