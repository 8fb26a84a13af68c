// Queue and worker of replays. On shutdown the worker finishes only its current page.
import { createWorkQueue, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { SeenTimes } from '../../../kernel/events/wall-clock.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { createReplayWorker, type ReplayDeps } from './worker.ts';

const concurrentReplays = 8;

export interface Replays {
  readonly queue: WorkQueue;
  stop(): Promise<void>;
}

interface ReplaysOptions extends ReplayDeps {
  readonly log: Log;
  readonly owner: string;
  readonly seen: SeenTimes;
  mayWork(): boolean;
}

export function createReplays(options: ReplaysOptions): Replays {
  const { store, clock, log, owner, seen, mayWork } = options;
  let stopped = false;
  const queue = createWorkQueue({
    store,
    clock,
    log,
    mayWork,
    kind: 'replay',
    owner,
    seen,
    setBack: () => [],
    capacity: concurrentReplays,
    perform: createReplayWorker({ ...options, stopped: () => stopped }),
  });
  return {
    queue,
    async stop() {
      stopped = true;
      await queue.stop();
    },
  };
}
