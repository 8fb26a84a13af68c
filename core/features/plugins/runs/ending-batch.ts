// Commits the end of an attempt in one batch: its staged writes, its record and recording, the event about its end, and the end or the
// deferral of its work row.
import { isRunEvent } from '../../../../sdk/plugin/event-types.ts';
import type { Change } from '../../../kernel/changes/change.ts';
import type { Author, Committed } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import { backgroundCommitDelayMs, type Op, type Scope } from '../../../platform/store/store.ts';
import type { RunDeps } from '../deps.ts';
import type { Registry } from '../installs/registry.ts';
import { storeChangesOps } from '../undo/stored-changes.ts';
import type { InstallMode } from '../installs/contract.ts';
import { usageOf, type RunAttempt, type LeasedRun } from './attempt.ts';
import { callerGuards } from './job.ts';
import { effectOf, previewEffects, type RunEffect } from './effects.ts';
import {
  endedError,
  endedRunOp,
  endOpenRunOp,
  recordRunOp,
  type EndedAttempt,
  type RunRecord,
  ranBy,
  endedRunEvent,
} from './record.ts';
import { releaseNextOps } from './rows.ts';
import { plainText } from '../../../platform/lib/text/printable.ts';
import type { RunUsage } from '../../../platform/sandbox/supervisor.ts';
import { hasBundlePositions, withStacks } from '../source-positions.ts';

export interface Ending extends EndedAttempt {
  /** JSON text of the returned value. */
  readonly result?: string;
  /** Writes to commit. */
  readonly changes?: readonly Change[];
  /** Changes by the mode applied to them; absent or null if all had the same mode. */
  readonly met?: Readonly<Record<InstallMode, readonly Change[]>> | null;
  /** Time of the next attempt; absent if the run is over. */
  readonly againAtMs?: number;
  /** Further ops, placed after the record. */
  readonly more?: readonly Op[];
}

type EmittedEvents = RunRecord['events'];
const delayed = { commitDelayMs: backgroundCommitDelayMs };

type Logs = RunUsage['logs'];

/**
 * Maps stacks in log lines to the author's source for the record of a run. The recording retains the original
 * lines, because a replay compares them. The source map is read only if a line has bundle positions.
 */
async function withAuthorPositions(
  registry: Registry,
  scope: Scope,
  { install, job }: RunAttempt,
  logs: Logs,
): Promise<Logs> {
  if (!logs.some(({ message }) => hasBundlePositions(message))) return logs;
  const find = await registry.sourceMapLookup(scope, install.sha256);
  // Source names can be longer than the places they replace, so the text is cut to the log limit again.
  let left = job.limits.logBytes;
  return logs.map((line) => {
    const text = hasBundlePositions(line.message) ? plainText(withStacks(line.message, find)) : line.message;
    const message = text === line.message ? text : text.slice(0, Math.max(left, 0));
    left -= message.length;
    return { ...line, message };
  });
}

/**
 * Commits the end of an attempt. The check for a row is made here and not earlier, because the run may have
 * received a row during the attempt.
 */
export async function commitEnding(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
): Promise<Committed> {
  const { item, queue, run } = leased;
  const now = deps.clock.nowMs();
  const by = await ranBy(deps.services.store, item.scope, run, tried?.install);
  const author = authorOf(leased, tried, by.name, await deps.directoryOf(item.scope));
  const effects = await effectsOf(deps, leased, tried, ending, author.directory);
  const usage = usageOf(tried?.outcome);
  const logs = tried ? await withAuthorPositions(deps.registry, item.scope, tried, usage.logs) : [];
  const record = (emitted: EmittedEvents): RunRecord =>
    recordOf(leased, tried, ending, { ...usage, logs, emitted, effects }, now);
  const changes = ending.changes ?? [];
  const recording = tried ? await deps.recorder.ops(item.scope, tried.job, tried.outcome) : [];
  const more = [
    ...recording,
    ...storedChangeOps(item.scope, run.id, tried, changes, now),
    ...(ending.more ?? []),
  ];
  const { commit } = deps.committer;
  if (ending.againAtMs !== undefined) {
    const last = (emitted: EmittedEvents): Op[] => [
      recordRunOp(item.scope, run.id, record(emitted)),
      ...more,
    ];
    return commit(author, changes, queue.putOff(item, ending.againAtMs), last, delayed);
  }
  const hasRow = item.epoch !== null;
  const last = (emitted: EmittedEvents): Op[] => [
    ...(hasRow
      ? [endedOp(leased, tried, record(emitted), now), ...releaseNextOps(queue, item.scope, run, now)]
      : [queue.ending(item, endedRunOp(item.scope, run, record(emitted)))]),
    ...more,
  ];
  const own = hasRow ? [queue.finish(item)] : [];
  const guards = [...own, ...writeGuards(leased, tried, ending, now)];
  const runEvent = endedRunEvent({ ...overOf(leased, tried, ending), by, changes });
  const committed = await commit(author, runEvent ? [...changes, runEvent] : changes, guards, last, delayed);
  return readOrWritten(committed, own.length);
}

/** Without an attempt, the row retains the record of the last one. */
function endedOp({ item, run }: LeasedRun, tried: RunAttempt | null, whole: RunRecord, nowMs: number): Op {
  return tried || !whole.error
    ? recordRunOp(item.scope, run.id, whole)
    : endOpenRunOp(item.scope, run.id, endedError(run, whole.error), nowMs);
}

async function effectsOf(
  deps: RunDeps,
  { item }: LeasedRun,
  tried: RunAttempt | null,
  { met = null, status }: Ending,
  directory: Directory,
): Promise<RunEffect[]> {
  const changes = tried?.staged.changes ?? [];
  const at = { scope: item.scope, directory };
  if (met) {
    const { apply, propose, simulate } = met;
    const outcomeOf = (change: Change) => (simulate.includes(change) ? 'simulated' : 'proposed');
    return [
      ...apply.map((change) => effectOf(change, 'applied')),
      ...(await previewEffects(deps, at, [...propose, ...simulate], outcomeOf)),
    ];
  }
  const isSimulated = tried?.modes.mode === 'simulate';
  const outcome = status !== 'succeeded' ? 'dropped' : isSimulated ? 'simulated' : 'applied';
  if (isSimulated) return previewEffects(deps, at, changes, () => outcome);
  return changes.map((change) => effectOf(change, outcome));
}

/**
 * Returns the guards of a run that writes: the caller may still write, and the reads of the run have not
 * changed.
 */
function writeGuards(
  { item, run }: LeasedRun,
  tried: RunAttempt | null,
  { changes = [] }: Ending,
  nowMs: number,
): readonly Op[] {
  if (changes.length === 0) return [];
  return [
    ...callerGuards(item.scope, run, nowMs),
    ...(tried?.staged.reads?.guards(item.scope, changes) ?? []),
  ];
}

/** Reports a failed `writeGuards` op like a conflicting change. @param own number of guards before those */
function readOrWritten(committed: Committed, own: number): Committed {
  const isOfRead = !committed.ok && committed.part === 'guard' && committed.op >= own;
  return isOfRead ? { ...committed, part: 'change' } : committed;
}

/** Returns the ops that store the changes for undo; none if nothing was written. */
function storedChangeOps(
  scope: Scope,
  runId: string,
  tried: RunAttempt | null,
  changes: readonly Change[],
  nowMs: number,
): readonly Op[] {
  if (!tried || changes.length === 0) return [];
  return storeChangesOps(scope, runId, changes, { installId: tried.install.id, cause: tried.cause, nowMs });
}

function overOf({ run }: LeasedRun, tried: RunAttempt | null, { status, attempt, error }: Ending) {
  const how = status === 'succeeded' ? status : ('dead' as const);
  return { run, status: how, attempt, error, mode: tried?.modes.mode ?? run.mode, calls: tried?.calls ?? [] };
}

function authorOf(
  { item, run, event }: LeasedRun,
  tried: RunAttempt | null,
  name: string,
  directory: Directory,
): Author {
  return {
    scope: item.scope,
    actor: { kind: 'plugin', id: run.install_id, name },
    cause: tried?.cause ?? null,
    requestId: null,
    traceparent: event?.traceparent ?? null,
    directory,
  };
}

interface AttemptFacts extends ReturnType<typeof usageOf> {
  readonly effects: RunRecord['effects'];
  readonly emitted: EmittedEvents;
}

function recordOf(
  { run }: LeasedRun,
  tried: RunAttempt | null,
  { status, attempt, error, result, againAtMs }: Ending,
  { emitted, ...facts }: AttemptFacts,
  nowMs: number,
): RunRecord {
  return {
    ...facts,
    status,
    mode: tried?.modes.mode ?? run.mode,
    attempt,
    error,
    startedAt: tried?.startedAt ?? nowMs,
    finishedAt: againAtMs === undefined ? nowMs : null,
    events: emitted.filter(({ type }) => !isRunEvent(type)).map(({ id, type }) => ({ id, type })),
    calls: tried?.calls ?? [],
    result: result ?? null,
    pluginVersion: tried?.install.pluginVersion ?? null,
  };
}
