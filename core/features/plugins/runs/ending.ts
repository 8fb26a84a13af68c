// Decides what follows an attempt of a run: its record, a continuing run, a retry, and the failure
// statistics of the plugin.
import { dayMs } from '../../../platform/lib/time/time.ts';
import type { Committed } from '../../../kernel/changes/commit.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import type { RunDeps } from '../deps.ts';
import type { EndedRun } from '../trial/shadows.ts';
import { usageOf, type RunAttempt, type LeasedRun } from './attempt.ts';
import { commitEnding, type Ending } from './ending-batch.ts';
import { PLUGIN_RUN_BACKOFF, backoffDelayMs } from '../../../platform/lib/time/clock.ts';
import type { Op } from '../../../platform/store/store.ts';
import { type FailedOutcome, type RunError, runErrorOf } from './record.ts';
import { interruptedOp } from './rows.ts';
import type { SandboxOutcome } from '../../../platform/sandbox/supervisor.ts';
import { traitsOf } from '../planning/limits.ts';
import { continueOps, progressOp, continuationStateOf } from './job.ts';
import type { ApplyModes } from '../trial/proposals.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { parseJson } from '../../../platform/lib/json/json.ts';
import { plainText } from '../../../platform/lib/text/printable.ts';
import { answerOf } from '../inbound/answer.ts';
import type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';

type Succeeded = Extract<SandboxOutcome, { status: 'succeeded' }>;

export interface Verdicts {
  /** @returns false if the reads of the run have changed: nothing is committed and the run must be repeated */
  succeed(leased: LeasedRun, tried: RunAttempt, outcome: Succeeded): Promise<boolean>;
  fail(leased: LeasedRun, tried: RunAttempt, outcome: FailedOutcome): Promise<void>;
}

interface VerdictDeps extends RunDeps {
  readonly end: EndAttempt;
  readonly applyModes: ApplyModes;
  readonly later: Later;
}

export function createVerdicts(deps: VerdictDeps): Verdicts {
  const noteEnding = async (
    leased: LeasedRun,
    tried: RunAttempt,
    failed: boolean,
    killed = false,
  ): Promise<void> => {
    const why = deps.failures.note(tried.install.id, { failed, killed });
    if (why) await deps.disable(leased.item.scope, tried.install, why);
  };

  return {
    async succeed(leased, tried, outcome) {
      const continuation = continuationStateOf(leased.run, outcome.progress);
      const error = errorOfEnd(leased.run.handler_kind, outcome, continuation);
      if (error) {
        await deps.end(leased, tried, { status: 'dead', attempt: leased.run.attempt + 1, error });
        await noteEnding(leased, tried, true);
        return true;
      }
      const isEnded = await endWell(
        deps,
        leased,
        tried,
        outcome,
        'goesOn' in continuation && continuation.goesOn,
      );
      if (isEnded) await noteEnding(leased, tried, false);
      return isEnded;
    },
    async fail(leased, tried, outcome) {
      await endBadly(deps, leased, tried, outcome);
      if (outcome.reason !== 'drop' && outcome.reason !== 'retry_later')
        await noteEnding(leased, tried, true, outcome.killed);
    },
  };
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
function errorOfEnd(
  kind: HandlerKind,
  { result }: Succeeded,
  continuation: ReturnType<typeof continuationStateOf>,
): RunError | null {
  const unfit = result === undefined ? null : unfitResult(kind, result);
  if (unfit !== null) return { code: 'invalid_result', message: unfit };
  return 'stuck' in continuation ? { code: 'no_progress', message: continuation.stuck } : null;
}

/** @returns false if the reads of the run have changed */
async function endWell(
  deps: VerdictDeps,
  leased: LeasedRun,
  tried: RunAttempt,
  outcome: Succeeded,
  goesOn: boolean,
): Promise<boolean> {
  const { result } = outcome;
  const modesOutcome = await deps.applyModes(leased, tried);
  return deps.end(leased, tried, {
    status: 'succeeded',
    attempt: leased.run.attempt + 1,
    error: null,
    ...(result === undefined ? {} : { result }),
    changes: modesOutcome.changes,
    met: modesOutcome.met,
    // A schedule continues only if its stored values were committed, because they hold the state to continue
    // from.
    more: [...progressOps(deps, leased, outcome, goesOn && modesOutcome.ownValues), ...modesOutcome.ops],
  });
}

async function endBadly(
  { registry, end, later }: VerdictDeps,
  leased: LeasedRun,
  tried: RunAttempt,
  outcome: FailedOutcome,
): Promise<void> {
  const attempt = leased.run.attempt + 1;
  const find = await registry.sourceMapLookup(leased.item.scope, tried.install.sha256);
  const error = runErrorOf(outcome, leased.run, find);
  // A killed run is retried once, in a fresh isolate; a dropped run is not retried.
  const isOver = !traitsOf[leased.run.handler_kind].isRetried;
  if (isOver || outcome.reason === 'drop' || (outcome.killed && attempt >= 2))
    await end(leased, tried, { status: 'dead', attempt, error });
  else await later.retry(leased, tried, error, outcome.retryAfterMs);
}

/** Returns the ops that store progress and queue a continuing run. */
function progressOps(
  { clock, services: { ids } }: VerdictDeps,
  { item, queue, run }: LeasedRun,
  { progress }: Succeeded,
  goesOn: boolean,
): readonly Op[] {
  if (!progress) return [];
  if (!goesOn) return [progressOp(item.scope, run.id, progress)];
  return continueOps({ queue, scope: item.scope, ids, run, progress }, clock.nowMs());
}

/** A run interrupted this often, which takes days, is given up. Until then an interruption is not counted as an attempt. */
const interruptionsMax = 10_000;
const interruptedDelayMs = { first: 1_000, most: 30_000 };
/** Longest delay that a handler can request for its next attempt. */
const retryAfterMsMax = dayMs;

/** Ends an attempt whose run is retried later, and gives up a run after too many attempts. */
export interface Later {
  /** @param afterMs delay requested by the handler in milliseconds, replaces the backoff */
  retry(leased: LeasedRun, tried: RunAttempt, error: RunError, afterMs?: number): Promise<void>;
  /**
   * Retries a run that was interrupted by other runs or by a lack of CPU time. The interruption counts
   * neither as an attempt nor as a failure.
   */
  interrupt(leased: LeasedRun, tried: RunAttempt, message: string): Promise<void>;
}

export function createLater(deps: RunDeps, end: EndAttempt): Later {
  const { clock } = deps;

  const waitUntil = async (
    leased: LeasedRun,
    tried: RunAttempt,
    ending: { attempt: number; error: RunError; againAtMs: number; more?: readonly Op[] },
  ): Promise<void> => {
    await end(leased, tried, { status: 'retrying', ...ending });
    leased.queue.wake();
  };

  return {
    async retry(leased, tried, error, afterMs) {
      const attempt = leased.run.attempt + 1;
      const delayMs = backoffDelayMs(PLUGIN_RUN_BACKOFF, attempt, deps.random);
      if (delayMs === undefined) return void (await end(leased, tried, { status: 'dead', attempt, error }));
      const againAtMs = clock.nowMs() + Math.min(Math.max(afterMs ?? delayMs, 0), retryAfterMsMax);
      await waitUntil(leased, tried, { attempt, error, againAtMs });
    },
    async interrupt(leased, tried, message) {
      const { id, attempt, interruptions } = leased.run;
      const error = { code: 'interrupted', message };
      if (interruptions >= interruptionsMax)
        return void (await end(leased, tried, { status: 'dead', attempt, error }));
      const { first, most } = interruptedDelayMs;
      const againAtMs = clock.nowMs() + Math.min(first * 2 ** Math.min(interruptions, 10), most);
      const more = [interruptedOp(leased.item.scope, id)];
      await waitUntil(leased, tried, { attempt, error, againAtMs, more });
    },
  };
}

/** @returns false if the reads of the attempt have changed and nothing was committed */
export type EndAttempt = (leased: LeasedRun, tried: RunAttempt | null, ending: Ending) => Promise<boolean>;

/** Ends an attempt, then updates budget and counters and notifies waiters. */
export function createEndAttempt(deps: RunDeps): EndAttempt {
  return async (leased, tried, ending) => {
    const { item, queue, run } = leased;
    const committed = await queue.whileSealed(item, () => commitCharged(deps, leased, tried, ending));
    if (committed.ok) {
      deps.services.outcomeCounter.count('runs', ending.againAtMs === undefined ? ending.status : 'retrying');
      if (ending.againAtMs === undefined) {
        deps.ends.note(run.id);
        if (tried && leased.event) deps.ended(endedOf(leased, leased.event, tried, ending));
      }
      return true;
    }
    if (committed.part === 'change') return false;
    queue.drop(item);
    deps.services.log('warn', 'run was ended by another process or request', {
      runId: run.id,
      part: committed.part,
      reason: committed.message,
    });
    return true;
  };
}

/**
 * Commits the end together with the usage of the attempt. A conflicting attempt, which is repeated, is not
 * charged.
 */
async function commitCharged(
  deps: RunDeps,
  leased: LeasedRun,
  tried: RunAttempt | null,
  ending: Ending,
): Promise<Committed> {
  if (!tried) return commitEnding(deps, leased, tried, ending);
  const charge = deps.usage.charge(tried.install, tried.meter, usageOf(tried.outcome).cpuMs);
  const more = [...(ending.more ?? []), ...charge.ops];
  try {
    const committed = await commitEnding(deps, leased, tried, { ...ending, more });
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
  return {
    scope: item.scope,
    install,
    run,
    event,
    error,
    changes: status === 'succeeded' ? staged.changes : [],
  };
}
