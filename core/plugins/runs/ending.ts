// Ends an attempt of a run in one batch: what it staged, its record, and the end or the delay of its work row.
import type { Change } from '../../changes/change.ts';
import type { Author, Committer } from '../../changes/commit.ts';
import type { Directory } from '../../context.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { backgroundCommitDelayMs, type Op, type Scope } from '../../store/store.ts';
import { effectOf, usageOf, type Attempt, type HeldRun } from './attempt.ts';
import { recordRunOp, releaseNextOp, type RunRecord } from './rows.ts';

export interface Ending extends Pick<RunRecord, 'status' | 'attempt' | 'error'> {
  /** What it wrote and may keep. */
  readonly changes?: readonly Change[];
  /** When it is run again; absent where the run is over. */
  readonly againAtMs?: number;
  /** Ops that follow the record. */
  readonly more?: readonly Op[];
}

/** @returns false when what the attempt read has changed, and nothing of it was kept */
export type EndAttempt = (held: HeldRun, tried: Attempt | null, ending: Ending) => Promise<boolean>;

export interface EndingOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

export function createEndAttempt(options: EndingOptions): EndAttempt {
  const delayed = { commitDelayMs: backgroundCommitDelayMs };

  return async (held, tried, ending) => {
    const { item, queue, run } = held;
    const now = options.clock.nowMs();
    const author = authorOf(held, tried, await options.directoryOf(item.scope));
    const isOver = ending.againAtMs === undefined;
    const guard = ending.againAtMs === undefined ? queue.finish(item) : queue.defer(item, ending.againAtMs);
    const last = (made: RunRecord['events']): Op[] => [
      recordRunOp(item.scope, run.id, recordOf(tried, ending, made, now)),
      ...(isOver ? [releaseNextOp(queue, item, run, now)] : []),
      ...(ending.more ?? []),
    ];
    const committed = await options.committer.commit(author, ending.changes ?? [], [guard], last, delayed);
    if (committed.ok) return true;
    if (committed.part === 'change') return false;
    options.log('warn', 'a run was ended elsewhere', {
      runId: run.id,
      part: committed.part,
      reason: committed.message,
    });
    return true;
  };
}

function authorOf({ item, run, event }: HeldRun, tried: Attempt | null, directory: Directory): Author {
  const name = tried ? (tried.install.manifest.name ?? tried.install.pluginId) : '';
  return {
    scope: item.scope,
    actor: { kind: 'plugin', id: run.install_id, name },
    cause: tried?.cause ?? null,
    requestId: null,
    traceparent: event?.traceparent ?? null,
    directory,
  };
}

function recordOf(
  tried: Attempt | null,
  { status, attempt, error, againAtMs }: Ending,
  made: RunRecord['events'],
  nowMs: number,
): RunRecord {
  return {
    ...usageOf(tried?.outcome),
    status,
    attempt,
    error,
    startedAt: tried?.startedAt ?? nowMs,
    finishedAt: againAtMs === undefined ? nowMs : null,
    events: made.map(({ id, type }) => ({ id, type })),
    calls: tried?.calls ?? [],
    effects: (tried?.staged.changes ?? []).map(effectOf),
  };
}
