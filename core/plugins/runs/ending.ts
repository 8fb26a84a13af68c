// Ends an attempt of a run in one batch: what it staged, its record, and the end or the delay of its work row.
import type { Change } from '../../changes/change.ts';
import type { Author, Committed, Committer } from '../../changes/commit.ts';
import type { Directory } from '../../context.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Tally } from '../../lib/tally.ts';
import { backgroundCommitDelayMs, type Op, type Scope } from '../../store/store.ts';
import type { Usage } from '../budgets/usage.ts';
import { usageOf, type Attempt, type HeldRun } from './attempt.ts';
import { effectOf, previewEffects, type Effect, type PreviewOptions } from './effects.ts';
import { endedRunOp, recordRunOp, releaseNextOps, type RunRecord } from './rows.ts';

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

export interface EndingOptions extends Pick<PreviewOptions, 'store'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly tally: Tally;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly usage: Usage;
}

export function createEndAttempt(options: EndingOptions): EndAttempt {
  const delayed = { commitDelayMs: backgroundCommitDelayMs };

  const effectsOf = async (
    { item }: HeldRun,
    tried: Attempt | null,
    directory: Directory,
  ): Promise<Effect[]> => {
    const changes = tried?.staged.changes ?? [];
    if (tried?.mode !== 'simulate') return changes.map(effectOf);
    return previewEffects(options, { scope: item.scope, directory }, changes);
  };

  /** Commits the end of an attempt. Its run may have got a row just now, so that nothing of this is made before. */
  const commit = async (held: HeldRun, tried: Attempt | null, ending: Ending): Promise<Committed> => {
    const { item, queue, run } = held;
    const now = options.clock.nowMs();
    const author = authorOf(held, tried, await options.directoryOf(item.scope));
    const effects = await effectsOf(held, tried, author.directory);
    const record = (made: RunRecord['events']): RunRecord => recordOf(tried, ending, { made, effects }, now);
    const more = ending.more ?? [];
    const { commit } = options.committer;
    if (ending.againAtMs !== undefined) {
      const last = (made: RunRecord['events']): Op[] => [
        recordRunOp(item.scope, run.id, record(made)),
        ...more,
      ];
      return commit(author, ending.changes ?? [], queue.putOff(item, ending.againAtMs), last, delayed);
    }
    const hasRow = item.epoch !== null;
    const last = (made: RunRecord['events']): Op[] => [
      ...(hasRow
        ? [recordRunOp(item.scope, run.id, record(made)), ...releaseNextOps(queue, item.scope, run, now)]
        : [queue.ending(item, endedRunOp(item.scope, run, record(made)))]),
      ...more,
    ];
    return commit(author, ending.changes ?? [], hasRow ? [queue.finish(item)] : [], last, delayed);
  };

  return async (held, tried, ending) => {
    const { item, queue, run } = held;
    const committed = await queue.whileSealed(item, () => commit(held, tried, ending));
    if (tried && (committed.ok || committed.part !== 'change'))
      options.usage.charge(tried.install, tried.meter, usageOf(tried.outcome).cpuMs);
    if (committed.ok) {
      options.tally.count('runs', ending.againAtMs === undefined ? ending.status : 'retrying');
      return true;
    }
    if (committed.part === 'change') return false;
    queue.drop(item);
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
  { made, effects }: { made: RunRecord['events']; effects: readonly Effect[] },
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
    effects,
  };
}
