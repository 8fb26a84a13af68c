// Decides what follows an attempt: the record, a continuing run, a retry, and the failure statistics of the plugin.
import type { SandboxOutcome } from '../../../../platform/sandbox/supervisor.ts';
import type { Op } from '../../../../platform/store/store.ts';
import type { RunDeps } from '../../deps.ts';
import { traitsOf, type HandlerKind } from '../../planning/handler-kinds.ts';
import type { RunAttempt, LeasedRun } from '../attempt/attempt.ts';
import { continueOps, progressOp, continuationStateOf } from '../attempt/continuation.ts';
import type { EndAttempt } from './ending.ts';
import { runErrorOf, type RunError } from './failure.ts';
import type { ApplyModes } from '../../modes/apply-modes.ts';
import type { Later } from './later.ts';
import { ApiError } from '../../../../platform/lib/errors/errors.ts';
import { parseJson } from '../../../../platform/lib/json/json.ts';
import { plainText } from '../../../../platform/lib/text/printable.ts';
import { answerOf } from '../../inbound/answer.ts';

type Succeeded = Extract<SandboxOutcome, { status: 'succeeded' }>;
type Failed = Extract<SandboxOutcome, { status: 'failed' }>;

export interface Verdicts {
  /** @returns false if the reads of the run have changed: nothing is committed and the run must be repeated */
  succeed(leased: LeasedRun, tried: RunAttempt, outcome: Succeeded): Promise<boolean>;
  fail(leased: LeasedRun, tried: RunAttempt, outcome: Failed): Promise<void>;
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

// Validates the result of a handler, which the guest passes as unchecked JSON text.

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
  outcome: Failed,
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
