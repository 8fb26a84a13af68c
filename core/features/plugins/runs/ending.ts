// Decides what follows an attempt of a run: its end, a continuing run or a retry, and the failure statistics
// of the plugin.
import type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { parseJson } from '../../../platform/lib/json/json.ts';
import { plainText } from '../../../platform/lib/text/printable.ts';
import { PLUGIN_RUN_BACKOFF, backoffDelayMs } from '../../../platform/lib/time/clock.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import type { SandboxOutcome } from '../../../platform/sandbox/supervisor.ts';
import type { Op } from '../../../platform/store/store.ts';
import type { Committed } from '../../../kernel/changes/commit.ts';
import type { RunDeps } from '../deps.ts';
import { answerOf } from '../inbound/answer.ts';
import type { ApplyModes } from '../trial/proposals.ts';
import { traitsOf } from '../planning/limits.ts';
import type { EndedRun } from '../trial/shadows.ts';
import { usageOf, type LeasedRun, type RunAttempt } from './attempt.ts';
import { continuationStateOf, continueOps, progressOp } from './job.ts';
import { runErrorOf, type FailedOutcome, type RunError } from './errors.ts';
import { commitEnding, proposalIn, type Ending } from './record.ts';
import { interruptedOp } from './rows.ts';

export interface EndDeps extends RunDeps {
  readonly applyModes: ApplyModes;
}

type Succeeded = Extract<SandboxOutcome, { status: 'succeeded' }>;

/**
 * Ends a run whose handler completed.
 * @returns false if the reads of the run have changed: nothing is committed and the run must be repeated
 */
export async function endCompleted(
  deps: EndDeps,
  leased: LeasedRun,
  tried: RunAttempt,
  outcome: Succeeded,
): Promise<boolean> {
  const { run } = leased;
  const attempt = run.attempt + 1;
  const continuation = continuationStateOf(run, outcome.progress);
  const error = errorOfResult(run.handler_kind, outcome, continuation);
  if (error) {
    await end(deps, leased, tried, { status: 'dead', attempt, error });
    await noteOutcome(deps, leased, tried, { failed: true });
    return true;
  }
  const { changes, met, ops, ownValues } = await deps.applyModes(leased, tried);
  // A schedule continues only if its stored values were committed, because they hold the state to continue
  // from.
  const goesOn = 'goesOn' in continuation && continuation.goesOn && ownValues;
  const isEnded = await end(deps, leased, tried, {
    status: proposalIn(changes) === null ? 'succeeded' : 'proposed',
    ...{ attempt, error: null, changes, met },
    ...(outcome.result === undefined ? {} : { result: outcome.result }),
    more: [...progressOps(deps, leased, outcome, goesOn), ...ops],
  });
  if (isEnded) await noteOutcome(deps, leased, tried, { failed: false });
  return isEnded;
}

/** Ends a run whose handler failed, or retries it later. */
export async function endFailed(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt,
  outcome: FailedOutcome,
): Promise<void> {
  const { item, run } = leased;
  const attempt = run.attempt + 1;
  const { reason, killed } = outcome;
  const find = await deps.registry.sourceMapLookup(item.scope, tried.install.sha256);
  const error = runErrorOf(outcome, run, find);
  // A killed run is retried once, in a fresh isolate; a dropped run is not retried.
  const isOver = !traitsOf[run.handler_kind].isRetried || reason === 'drop' || (killed && attempt >= 2);
  if (isOver) await end(deps, leased, tried, { status: 'dead', attempt, error });
  else await retryLater(deps, leased, tried, error, outcome.retryAfterMs);
  if (reason !== 'drop' && reason !== 'retry_later')
    await noteOutcome(deps, leased, tried, { failed: true, killed });
}

/** Disables the plugin if too many of its runs fail. */
async function noteOutcome(
  deps: RunDeps,
  { item }: LeasedRun,
  { install }: RunAttempt,
  { failed, killed = false }: { readonly failed: boolean; readonly killed?: boolean },
): Promise<void> {
  const why = deps.failures.note(install.id, { failed, killed });
  if (why) await deps.disable(item.scope, install, why);
}

const overtaken = {
  code: 'conflict',
  message:
    'Concurrent changes repeatedly conflicted with the reads or writes of this run. Read and write fewer objects per run.',
};

/**
 * Ends an attempt whose repeats all conflicted with concurrent changes. The run is retried later if its
 * kind of handler allows it.
 */
export async function endOvertaken(deps: RunDeps, leased: LeasedRun, tried: RunAttempt): Promise<void> {
  const { attempt, handler_kind: kind } = leased.run;
  if (traitsOf[kind].isRetried) return retryLater(deps, leased, tried, overtaken);
  await end(deps, leased, tried, { status: 'dead', attempt: attempt + 1, error: overtaken });
}

/**
 * A run interrupted this often, which takes days, is given up. Until then an interruption is not counted as
 * an attempt.
 */
const interruptionsMax = 10_000;
const interruptedDelayMs = { first: 1_000, most: 30_000 };

/**
 * Retries a run that was interrupted by other runs or by a lack of CPU time. The interruption counts
 * neither as an attempt nor as a failure.
 */
export async function endInterrupted(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt,
  message: string,
): Promise<void> {
  const { id, attempt, interruptions } = leased.run;
  const error = { code: 'interrupted', message };
  if (interruptions >= interruptionsMax)
    return void (await end(deps, leased, tried, { status: 'dead', attempt, error }));
  const { first, most } = interruptedDelayMs;
  const againAtMs = deps.clock.nowMs() + Math.min(first * 2 ** Math.min(interruptions, 10), most);
  const more = [interruptedOp(leased.item.scope, id)];
  await end(deps, leased, tried, { status: 'retrying', attempt, error, againAtMs, more });
}

/** Longest delay that a handler can request for its next attempt. */
const retryAfterMsMax = dayMs;

/** @param afterMs delay requested by the handler in milliseconds, replaces the backoff */
async function retryLater(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt,
  error: RunError,
  afterMs?: number,
): Promise<void> {
  const attempt = leased.run.attempt + 1;
  const delayMs = backoffDelayMs(PLUGIN_RUN_BACKOFF, attempt, deps.random);
  if (delayMs === undefined) return void (await end(deps, leased, tried, { status: 'dead', attempt, error }));
  const againAtMs = deps.clock.nowMs() + Math.min(Math.max(afterMs ?? delayMs, 0), retryAfterMsMax);
  await end(deps, leased, tried, { status: 'retrying', attempt, error, againAtMs });
}

const partsMax = 5_000;

/** Returns why the result cannot be sent to the waiting caller; null if it can. */
function unfitResult(kind: HandlerKind, text: string): string | null {
  try {
    const result = parseJson(text, partsMax);
    if (kind !== 'route') return null;
    const answer = answerOf(result);
    return 'unsendable' in answer ? plainText(answer.unsendable) : null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `The result of the handler is invalid. ${error.message.replace('The body', 'The result')}`;
  }
}

/** Returns the error of a run whose handler completed; null if there is none. */
function errorOfResult(
  kind: HandlerKind,
  { result }: Succeeded,
  continuation: ReturnType<typeof continuationStateOf>,
): RunError | null {
  const unfit = result === undefined ? null : unfitResult(kind, result);
  if (unfit !== null) return { code: 'invalid_result', message: unfit };
  return 'stuck' in continuation ? { code: 'no_progress', message: continuation.stuck } : null;
}

/** Returns the ops that store progress and queue a continuing run. */
function progressOps(
  { clock, services: { ids } }: RunDeps,
  { item, queue, run }: LeasedRun,
  { progress }: Succeeded,
  goesOn: boolean,
): readonly Op[] {
  if (!progress) return [];
  if (!goesOn) return [progressOp(item.scope, run.id, progress)];
  return continueOps({ queue, scope: item.scope, ids, run, progress }, clock.nowMs());
}

/** Ends a run that must not start. */
export async function endUntried(
  deps: RunDeps,
  leased: LeasedRun,
  status: 'dead' | 'canceled',
  error: RunError,
): Promise<void> {
  await end(deps, leased, null, { status, attempt: leased.run.attempt, error });
}

/**
 * Commits an ending, then notifies waiters and listeners.
 * @returns false if the reads of the attempt have changed and nothing was committed
 */
async function end(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
): Promise<boolean> {
  const { item, queue, run } = leased;
  const committed = await queue.whileSealed(item, () => commitCharged(deps, leased, tried, ending));
  if (!committed.ok) {
    if (committed.part === 'change') return false;
    queue.drop(item);
    deps.services.log('warn', 'run was ended by another process or request', {
      runId: run.id,
      part: committed.part,
      reason: committed.message,
    });
    return true;
  }
  deps.services.outcomeCounter.count('runs', ending.status);
  if (ending.status === 'retrying') queue.wake();
  else {
    deps.ends.note(run.id);
    if (tried && leased.event) deps.ended(endedOf(leased, leased.event, tried, ending));
  }
  return true;
}

/**
 * Commits an ending together with the usage of the attempt. A conflicting attempt, which is repeated, is not
 * charged.
 */
async function commitCharged(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
): Promise<Committed> {
  if (!tried) return commitEnding(deps, leased, tried, ending, []);
  const charge = deps.usage.charge(tried.install, tried.meter, usageOf(tried.outcome).cpuMs);
  try {
    const committed = await commitEnding(deps, leased, tried, ending, charge.ops);
    const isCounted = committed.ok || committed.part !== 'change';
    charge.ended({ isWritten: committed.ok, isCounted });
    return committed;
  } catch (error) {
    charge.ended({ isWritten: false, isCounted: false });
    throw error;
  }
}

function endedOf(
  { item, run }: LeasedRun,
  event: EventRow,
  tried: RunAttempt,
  { status, error }: Ending,
): EndedRun {
  const { install, staged } = tried;
  const isDone = status === 'succeeded' || status === 'proposed';
  return { scope: item.scope, install, run, event, error, changes: isDone ? staged.changes : [] };
}
