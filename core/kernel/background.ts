// Background work of a feature that has no queue of its own, such as indexing texts.
import type { Clock } from '../platform/lib/time/clock.ts';
import type { Scope } from '../platform/store/store.ts';
import type { Committer } from './changes/commit.ts';
import type { Directory, Services } from './context.ts';

export interface BackgroundWorker {
  /** Resumes what an earlier process did not finish. */
  start(): Promise<void>;
  /** Resolves when no background work is left. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerDeps {
  readonly services: Services;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

export type CreateWorker = (deps: WorkerDeps) => BackgroundWorker;
