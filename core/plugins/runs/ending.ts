// Ends an attempt of a run in one batch: what it staged, its record, and the end or the delay of its work row.
import type { Change } from '../../changes/change.ts';
import type { Author, Committed, Committer } from '../../changes/commit.ts';
import type { Directory } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Tally } from '../../lib/tally.ts';
import { backgroundCommitDelayMs, type Op, type Scope } from '../../store/store.ts';
import type { Recorder } from '../recorder/recorder.ts';
import { keepChangesOps } from '../undo/kept.ts';
import type { Usage } from '../budgets/usage.ts';
import type { EndedRun } from '../shadows/work.ts';
import { usageOf, type Attempt, type HeldRun } from './attempt.ts';
import { effectOf, previewEffects, type Effect, type PreviewOptions } from './effects.ts';
import type { RunEnds } from './ends.ts';
import { endedRunOp, recordRunOp, releaseNextOps, type RunRecord } from './rows.ts';

export interface Ending extends Pick<RunRecord, 'status' | 'attempt' | 'error'> {
  /** JSON text of what it returned. */
  readonly result?: string;
  /** What it wrote and may keep. */
  readonly changes?: readonly Change[];
  /** The objects of which not all that it wrote is kept, so that its record shows the values. */
  readonly heldBack?: readonly Change[];
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
  readonly ends: Pick<RunEnds, 'note'>;
  readonly committer: Committer;
  readonly recorder: Recorder;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly usage: Usage;
  /** Told of each run for an event that is over, once that is committed. */
  readonly ended: (ended: EndedRun) => void;
}

export function createEndAttempt(options: EndingOptions): EndAttempt {
  const delayed = { commitDelayMs: backgroundCommitDelayMs };

  const effectsOf = async (
    { item }: HeldRun,
    tried: Attempt | null,
    { heldBack = [] }: Ending,
    directory: Directory,
  ): Promise<Effect[]> => {
    const changes = tried?.staged.changes ?? [];
    if (tried?.modes.mode !== 'simulate' && heldBack.length === 0) return changes.map(effectOf);
    const at = { scope: item.scope, directory };
    if (heldBack.length === 0) return previewEffects(options, at, changes);
    const isHeld = ({ kind, id }: Change): boolean =>
      heldBack.some((held) => held.kind === kind && held.id === id);
    const shown = await previewEffects(options, at, changes.filter(isHeld));
    return changes.map((change) => (isHeld(change) ? shown.shift()! : effectOf(change)));
  };

  /** Commits the end of an attempt. Its run may have got a row just now, so that nothing of this is made before. */
  const commit = async (held: HeldRun, tried: Attempt | null, ending: Ending): Promise<Committed> => {
    const { item, queue, run } = held;
    const now = options.clock.nowMs();
    const author = authorOf(held, tried, await options.directoryOf(item.scope));
    const effects = await effectsOf(held, tried, ending, author.directory);
    const record = (made: RunRecord['events']): RunRecord => recordOf(tried, ending, { made, effects }, now);
    const changes = ending.changes ?? [];
    const more = [...keptOps(item.scope, run.id, tried, changes, now), ...(ending.more ?? [])];
    const { commit } = options.committer;
    if (ending.againAtMs !== undefined) {
      const last = (made: RunRecord['events']): Op[] => [
        recordRunOp(item.scope, run.id, record(made)),
        ...more,
      ];
      return commit(author, changes, queue.putOff(item, ending.againAtMs), last, delayed);
    }
    const kept = tried ? await options.recorder.ops(item.scope, tried.job, tried.outcome) : [];
    const hasRow = item.epoch !== null;
    const last = (made: RunRecord['events']): Op[] => [
      ...(hasRow
        ? [recordRunOp(item.scope, run.id, record(made)), ...releaseNextOps(queue, item.scope, run, now)]
        : [queue.ending(item, endedRunOp(item.scope, run, record(made)))]),
      ...kept,
      ...more,
    ];
    const own = hasRow ? [queue.finish(item)] : [];
    const guards = [...own, ...readGuards(held, tried, ending)];
    const committed = await commit(author, changes, guards, last, delayed);
    return readOrWritten(committed, own.length);
  };

  return async (held, tried, ending) => {
    const { item, queue, run } = held;
    const committed = await queue.whileSealed(item, () => commit(held, tried, ending));
    if (tried && (committed.ok || committed.part !== 'change'))
      options.usage.charge(tried.install, tried.meter, usageOf(tried.outcome).cpuMs);
    if (committed.ok) {
      options.tally.count('runs', ending.againAtMs === undefined ? ending.status : 'retrying');
      if (ending.againAtMs === undefined) {
        options.ends.note(run.id);
        if (tried && held.event) options.ended(endedOf(held, held.event, tried, ending));
      }
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

function endedOf(
  { item, run }: HeldRun,
  event: EventRow,
  tried: Attempt,
  { status, error }: Ending,
): EndedRun {
  const { install, staged } = tried;
  return {
    ...{ scope: item.scope, install, run, event, error },
    changes: status === 'succeeded' ? staged.changes : [],
  };
}

/** What was read is asked for only where something is written. */
function readGuards({ item }: HeldRun, tried: Attempt | null, { changes = [] }: Ending): readonly Op[] {
  return changes.length === 0 ? [] : (tried?.staged.reads?.guards(item.scope, changes) ?? []);
}

/** What was read has changed: the same as if what was written had. @param own guards that stand before those of what was read */
function readOrWritten(committed: Committed, own: number): Committed {
  const isOfRead = !committed.ok && committed.part === 'guard' && committed.op >= own;
  return isOfRead ? { ...committed, part: 'change' } : committed;
}

/** What its undo goes by; nothing where it wrote nothing. */
function keptOps(
  scope: Scope,
  runId: string,
  tried: Attempt | null,
  changes: readonly Change[],
  nowMs: number,
): readonly Op[] {
  if (!tried || changes.length === 0) return [];
  return keepChangesOps(scope, runId, changes, { installId: tried.install.id, cause: tried.cause, nowMs });
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
  { status, attempt, error, result, againAtMs }: Ending,
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
    result: result ?? null,
  };
}
