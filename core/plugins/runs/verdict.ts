// Decides what follows an attempt: the record, a continuing run, a retry, and the failure statistics of the plugin.
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { SandboxOutcome } from '../../sandbox/supervisor.ts';
import type { Op } from '../../store/store.ts';
import type { Disable } from '../disable.ts';
import type { FailureWatch } from '../failures.ts';
import type { Registry } from '../registry.ts';
import { traitsOf, type HandlerKind } from '../handler-kinds.ts';
import type { Attempt, HeldRun } from './attempt.ts';
import { continueOps, progressOp, continuationStateOf } from './continuation.ts';
import type { EndAttempt } from './ending.ts';
import { runErrorOf, type RunError } from './failure.ts';
import type { HoldBack } from '../proposals/hold-back.ts';
import type { Later } from './later.ts';
import { unfitResult } from './result.ts';

type Succeeded = Extract<SandboxOutcome, { status: 'succeeded' }>;
type Failed = Extract<SandboxOutcome, { status: 'failed' }>;

export interface Verdicts {
  /** @returns false if the reads of the run have changed: nothing is committed and the run must be repeated */
  succeed(held: HeldRun, tried: Attempt, outcome: Succeeded): Promise<boolean>;
  fail(held: HeldRun, tried: Attempt, outcome: Failed): Promise<void>;
}

export interface VerdictOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly registry: Pick<Registry, 'places'>;
  readonly failures: FailureWatch;
  readonly disable: Disable;
  readonly end: EndAttempt;
  readonly holdBack: HoldBack;
  readonly later: Later;
}

export function createVerdicts(options: VerdictOptions): Verdicts {
  const noteEnding = async (
    held: HeldRun,
    tried: Attempt,
    failed: boolean,
    killed = false,
  ): Promise<void> => {
    const why = options.failures.note(tried.install.id, { failed, killed });
    if (why) await options.disable(held.item.scope, tried.install, why);
  };

  return {
    async succeed(held, tried, outcome) {
      const continuation = continuationStateOf(held.run, outcome.progress);
      const error = errorOfEnd(held.run.handler_kind, outcome, continuation);
      if (error) {
        await options.end(held, tried, { status: 'dead', attempt: held.run.attempt + 1, error });
        await noteEnding(held, tried, true);
        return true;
      }
      const isEnded = await endWell(
        options,
        held,
        tried,
        outcome,
        'goesOn' in continuation && continuation.goesOn,
      );
      if (isEnded) await noteEnding(held, tried, false);
      return isEnded;
    },
    async fail(held, tried, outcome) {
      await endBadly(options, held, tried, outcome);
      if (outcome.reason !== 'drop' && outcome.reason !== 'retry_later')
        await noteEnding(held, tried, true, outcome.killed);
    },
  };
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
  options: VerdictOptions,
  held: HeldRun,
  tried: Attempt,
  outcome: Succeeded,
  goesOn: boolean,
): Promise<boolean> {
  const { result } = outcome;
  const modesOutcome = await options.holdBack(held, tried);
  return options.end(held, tried, {
    status: 'succeeded',
    attempt: held.run.attempt + 1,
    error: null,
    ...(result === undefined ? {} : { result }),
    changes: modesOutcome.changes,
    met: modesOutcome.met,
    // Without its own values committed, the run left no state to continue from.
    more: [...progressOps(options, held, outcome, goesOn && modesOutcome.ownValues), ...modesOutcome.ops],
  });
}

async function endBadly(
  { registry, end, later }: VerdictOptions,
  held: HeldRun,
  tried: Attempt,
  outcome: Failed,
): Promise<void> {
  const attempt = held.run.attempt + 1;
  const find = await registry.places(held.item.scope, tried.install.sha256);
  const error = runErrorOf(outcome, held.run, find);
  // A killed run gets one retry on a fresh isolate; a dropped one asked for none.
  const isOver = !traitsOf[held.run.handler_kind].isRetried;
  if (isOver || outcome.reason === 'drop' || (outcome.killed && attempt >= 2))
    await end(held, tried, { status: 'dead', attempt, error });
  else await later.retry(held, tried, error, outcome.retryAfterMs);
}

/** Returns the ops that store progress and queue a continuing run. */
function progressOps(
  { ids, clock }: Pick<VerdictOptions, 'ids' | 'clock'>,
  { item, queue, run }: HeldRun,
  { progress }: Succeeded,
  goesOn: boolean,
): readonly Op[] {
  if (!progress) return [];
  if (!goesOn) return [progressOp(item.scope, run.id, progress)];
  return continueOps({ queue, scope: item.scope, ids, run, progress }, clock.nowMs());
}
