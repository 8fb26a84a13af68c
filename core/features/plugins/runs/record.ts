// Commits the end of an attempt in one batch: its staged writes, its record and recording, the event about
// its end, and the end or the deferral of its work row.
import { isRunEvent } from '../../../../sdk/plugin/event-types.ts';
import { announce, type Change } from '../../../kernel/changes/change.ts';
import type { Author, Committed } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import { plainText } from '../../../platform/lib/text/printable.ts';
import type { RunUsage } from '../../../platform/sandbox/supervisor.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { backgroundCommitDelayMs, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { inboxItem } from '../../inbox/contract.ts';
import { proposal } from '../../proposals/contract.ts';
import type { AutomationRun, RunEnd } from '../contract.ts';
import type { RunDeps } from '../deps.ts';
import type { InstallMode } from '../installs/contract.ts';
import type { Install } from '../installs/model.ts';
import { isRuleId } from '../../automations/contract.ts';
import type { Registry } from '../installs/registry.ts';
import { kvModelName } from '../kv/entries.ts';
import { oneTimeJobModelName } from '../schedules/one-time-jobs.ts';
import { hasBundlePositions, withStacks } from '../source-positions.ts';
import { storeChangesOps } from '../undo/stored-changes.ts';
import type { Static } from 'typebox';
import { usageOf, type LeasedRun, type RunAttempt } from './attempt.ts';
import { effectOf, previewEffects, type RunEffect } from './effects.ts';
import { endedError, type RunError } from './errors.ts';
import { callerGuards } from './job.ts';
import { abandonedCode, type RunRecord, type RunRow } from './rows.ts';
import { endedRunOp, giveUpOp, recordRunOp, releaseNextOps } from './state.ts';

/** State of a run after an attempt, or instead of one. */
export interface Ending {
  readonly status: RunEnd | 'retrying';
  readonly attempt: number;
  readonly error: RunError | null;
  /** JSON text of the returned value. */
  readonly result?: string;
  /** Writes to commit. */
  readonly changes?: readonly Change[];
  /** Changes by the mode applied to them; absent or null if all had the same mode. */
  readonly met?: Readonly<Record<InstallMode, readonly Change[]>> | null;
  /** Time of the next attempt, only for `retrying`. */
  readonly againAtMs?: number;
  /** Further ops, placed after the record. */
  readonly more?: readonly Op[];
}

type Emitted = readonly { readonly id: string; readonly type: string }[];
const delayed = { commitDelayMs: backgroundCommitDelayMs };

/**
 * Commits an ending. The check for a row is made after the attempt, because the run may have received a row
 * during it.
 * @param charge ops that charge the attempt to the budget
 */
export async function commitEnding(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
  charge: readonly Op[],
): Promise<Committed> {
  const { item, queue, run } = leased;
  const { scope } = item;
  const nowMs = deps.clock.nowMs();
  const by = await ranBy(deps.services.store, scope, run, tried?.install);
  const author = authorOf(leased, tried, by.name, await deps.directoryOf(scope));
  const record = await recordOf(deps, leased, tried, ending, { directory: author.directory, nowMs });
  const { changes = [], more = [], againAtMs } = ending;
  const ops = [...(await attemptOps(deps, leased, tried, changes, nowMs)), ...more, ...charge];
  if (againAtMs === undefined)
    return commitEnd(deps, leased, tried, ending, { author, by, record, ops, nowMs });
  const last = (emitted: Emitted): Op[] => [recordRunOp(scope, run.id, record(emitted)), ...ops];
  return deps.committer.commit(author, changes, queue.putOff(item, againAtMs), last, delayed);
}

/** Returns the ops that store the recording of an attempt, and its changes for undo. */
async function attemptOps(
  { recorder }: RunDeps,
  { item: { scope }, run }: LeasedRun,
  tried: RunAttempt | null,
  changes: readonly Change[],
  nowMs: number,
): Promise<readonly Op[]> {
  if (!tried) return [];
  const recording = await recorder.ops(scope, tried.job, tried.outcome);
  if (changes.length === 0) return recording;
  const origin = { installId: tried.install.id, cause: tried.cause, nowMs };
  return [...recording, ...storeChangesOps(scope, run.id, changes, origin)];
}

interface PreparedEnd {
  readonly author: Author;
  readonly by: RanBy;
  readonly record: (emitted: Emitted) => RunRecord;
  readonly ops: readonly Op[];
  readonly nowMs: number;
}

async function commitEnd(
  { committer }: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
  { author, by, record, ops, nowMs }: PreparedEnd,
): Promise<Committed> {
  const { item, queue, run } = leased;
  const { scope } = item;
  const hasRow = item.epoch !== null;
  const last = (emitted: Emitted): Op[] => [
    ...(hasRow
      ? [endedOp(leased, tried, ending, record(emitted)), ...releaseNextOps(queue, scope, run, nowMs)]
      : [queue.ending(item, endedRunOp(scope, run, record(emitted)))]),
    ...ops,
  ];
  const { changes = [] } = ending;
  const own = hasRow ? [queue.finish(item)] : [];
  const guards = [...own, ...writeGuards(leased, tried, changes, nowMs)];
  const { mode, calls } = attemptOf(leased, tried, nowMs);
  const runEvent = endedRunEvent(ending, { run, by, changes, mode, calls });
  const all = runEvent ? [...changes, runEvent] : changes;
  const committed = await committer.commit(author, all, guards, last, delayed);
  // A failed guard of the writes is reported like a conflicting change.
  const isOfWrites = !committed.ok && committed.part === 'guard' && committed.op >= own.length;
  return isOfWrites ? { ...committed, part: 'change' } : committed;
}

/** Returns the facts of an attempt; without one, those of a run that made none. */
function attemptOf({ run }: LeasedRun, tried: RunAttempt | null, nowMs: number) {
  if (!tried) return { mode: run.mode, calls: [], startedAt: nowMs, version: null };
  const { modes, calls, startedAt, install } = tried;
  return { mode: modes.mode, calls, startedAt, version: install.pluginVersion };
}

/** Without an attempt, the row retains the record of the last one. */
function endedOp(
  { item: { scope }, run }: LeasedRun,
  tried: RunAttempt | null,
  { status, error }: Ending,
  record: RunRecord,
): Op {
  if (tried || !error || (status !== 'dead' && status !== 'canceled'))
    return recordRunOp(scope, run.id, record);
  return giveUpOp(scope, run.id, { status, error: endedError(run, error) }, record.finished_at!);
}

async function effectsOf(
  deps: RunDeps,
  { item: { scope } }: LeasedRun,
  tried: RunAttempt | null,
  { met = null, status }: Ending,
  directory: Directory,
): Promise<RunEffect[]> {
  const changes = tried?.staged.changes ?? [];
  const at = { scope, directory };
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
 * Returns the guards of a run that writes: the caller may still write, and the reads of the run have not
 * changed.
 */
function writeGuards(
  { item }: LeasedRun,
  tried: RunAttempt | null,
  changes: readonly Change[],
  nowMs: number,
): readonly Op[] {
  if (changes.length === 0) return [];
  return [
    ...callerGuards(item.scope, tried?.caller, nowMs),
    ...(tried?.staged.reads?.guards(item.scope, changes) ?? []),
  ];
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

/** @returns a function of the emitted events, because the commit assigns their ids */
async function recordOf(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
  at: { readonly directory: Directory; readonly nowMs: number },
): Promise<(emitted: Emitted) => RunRecord> {
  const usage = usageOf(tried?.outcome);
  const effects = await effectsOf(deps, leased, tried, ending, at.directory);
  const logs = tried ? await withAuthorPositions(deps.registry, leased.item.scope, tried, usage.logs) : [];
  const { status, attempt, error, result = null, againAtMs } = ending;
  const { mode, calls, startedAt, version } = attemptOf(leased, tried, at.nowMs);
  const record = {
    status,
    mode,
    attempt,
    started_at: startedAt,
    finished_at: againAtMs === undefined ? at.nowMs : null,
    cpu_ms: usage.cpuMs,
    memory_bytes: Math.round(usage.memoryBytes),
    wall_ms: usage.wallMs,
    queue_ms: usage.queueMs,
    calls_json: JSON.stringify(calls),
    effects_json: JSON.stringify(effects),
    logs_json: JSON.stringify(logs),
    error_json: error && JSON.stringify(error),
    result_json: result,
    plugin_version: version,
  };
  return (emitted) => {
    const events = emitted.filter(({ type }) => !isRunEvent(type)).map(({ id, type }) => ({ id, type }));
    return { ...record, events_json: JSON.stringify(events) };
  };
}

interface PluginName {
  readonly pluginId: string;
  readonly name: string;
}

interface RanBy extends PluginName {
  readonly pluginVersion: string | null;
}

interface FinishedRun {
  readonly run: RunRow;
  readonly mode: InstallMode;
  readonly by: RanBy;
  readonly calls: readonly { readonly op: string; readonly ok: boolean }[];
  /** Committed writes. */
  readonly changes: readonly Change[];
}

/**
 * Entities that do not count as an action of the run: stored values and jobs of the plugin, proposals and
 * inbox items.
 */
const beside: ReadonlySet<string> = new Set([
  kvModelName,
  oneTimeJobModelName,
  proposal.name,
  inboxItem.name,
]);

/**
 * Returns the event of an ended run: `automation.run` if it did something, `automation.failed` if it failed;
 * null if it emits none. See docs/decisions/0064.
 */
export function endedRunEvent(
  { status, attempt, error }: Pick<Ending, 'status' | 'attempt' | 'error'>,
  over: FinishedRun,
): Change | null {
  const { run, mode, by } = over;
  if (status === 'retrying') return null;
  const did = doneBy(over);
  const isFailed = status === 'dead' || status === 'canceled';
  if (!(isFailed ? isTrueFailure(mode, error) : hasActed(did))) return null;
  const data: Static<typeof AutomationRun> = {
    runId: run.id,
    installId: run.install_id,
    ruleId: isRuleId(run.install_id) ? run.install_id : null,
    pluginId: by.pluginId,
    pluginVersion: by.pluginVersion,
    handler: run.handler,
    handlerKind: run.handler_kind,
    eventId: run.event_id,
    mode,
    status,
    attempt,
    ...did,
    errorCode: error?.code ?? null,
  };
  return announce({ kind: 'run', id: run.id }, isFailed ? 'automation.failed' : 'automation.run', data);
}

/**
 * A simulated run has no effects to lose, and a given-up run can be backfilled, so `automation.failed` is
 * emitted for neither of them.
 */
function isTrueFailure(mode: InstallMode, error: RunError | null): boolean {
  return mode !== 'simulate' && error?.code !== abandonedCode;
}

function hasActed({ changed, fetches, proposalId }: ReturnType<typeof doneBy>): boolean {
  return changed > 0 || fetches > 0 || proposalId !== null;
}

function doneBy({ mode, calls, changes }: FinishedRun) {
  const answered = calls.filter(({ op, ok }) => ok && op === 'net.fetch').length;
  return {
    calls: calls.length,
    changed: changes.filter(({ kind }) => !beside.has(kind)).length,
    // A simulated run sends nothing; its answers come from the journal.
    fetches: mode === 'simulate' ? 0 : answered,
    proposalId: proposalIn(changes),
  };
}

/** Returns the id of the proposal that the changes of a run create; null if there is none. */
export function proposalIn(changes: readonly Change[]): string | null {
  return changes.find(({ kind }) => kind === proposal.name)?.id ?? null;
}

const findPlugin = tenantStatement<PluginName>(
  'plugins.of_run',
  `SELECT plugin_id AS pluginId, coalesce(manifest_json->>'name', plugin_id) AS name FROM plugins
   WHERE workspace_id = :ws AND id = :id
   UNION ALL SELECT 'automations', name FROM automations WHERE workspace_id = :ws AND id = :id`,
);

/** Returns the plugin of a run. @param install install at the last attempt; absent without an attempt */
export async function ranBy(store: Store, scope: Scope, run: RunRow, install?: Install): Promise<RanBy> {
  if (install) {
    const { pluginId, pluginVersion, manifest } = install;
    return { pluginId, pluginVersion, name: manifest.name ?? pluginId };
  }
  const { install_id: id } = run;
  const pluginRow = await store.readOne(scope, findPlugin, { id });
  return { ...(pluginRow ?? { pluginId: id, name: id }), pluginVersion: null };
}
