// What becomes of a run that came to its end, well or not: its record, the run that goes on from it, another attempt, and what
// its ending says of the plugin.
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import type { SandboxOutcome } from '../../sandbox/supervisor.ts';
import type { Op } from '../../store/store.ts';
import type { Disable } from '../disable.ts';
import type { FailureWatch } from '../failures.ts';
import { probationStep, type ProbationOptions } from '../installs/probation.ts';
import type { Registry } from '../registry.ts';
import { traitsOf } from '../handler-kinds.ts';
import type { Attempt, HeldRun } from './attempt.ts';
import { continueOps, progressOp, standingOf } from './continuation.ts';
import type { EndAttempt } from './ending.ts';
import { runErrorOf } from './failure.ts';
import type { HoldBack } from '../proposals/hold-back.ts';
import type { Later } from './later.ts';
import { unreadableResult } from './result.ts';

type Succeeded = Extract<SandboxOutcome, { status: 'succeeded' }>;
type Failed = Extract<SandboxOutcome, { status: 'failed' }>;

export interface Verdicts {
  /** @returns false when what the run read has changed: nothing is kept, and it is to be run again */
  succeed(held: HeldRun, tried: Attempt, outcome: Succeeded): Promise<boolean>;
  fail(held: HeldRun, tried: Attempt, outcome: Failed): Promise<void>;
}

export interface VerdictOptions extends ProbationOptions {
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
  const { end, later } = options;

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
      const attempt = held.run.attempt + 1;
      const { result } = outcome;
      const unreadable = result === undefined ? null : unreadableResult(result);
      if (unreadable !== null) {
        const error = { code: 'invalid_result', message: unreadable };
        await end(held, tried, { status: 'dead', attempt, error });
        await noteEnding(held, tried, true);
        return true;
      }
      const standing = standingOf(held.run, outcome.progress);
      if ('stuck' in standing) {
        const error = { code: 'no_progress', message: standing.stuck };
        await end(held, tried, { status: 'dead', attempt, error });
        await noteEnding(held, tried, true);
        return true;
      }
      const kept = await options.holdBack(held, tried);
      const { scope } = held.item;
      const hasEffects = tried.staged.changes.length > 0;
      const probation = hasEffects ? await probationStep(options, scope, tried.install) : null;
      const isEnded = await end(held, tried, {
        status: 'succeeded',
        attempt,
        error: null,
        ...(result === undefined ? {} : { result }),
        changes: kept.changes,
        heldBack: kept.heldBack,
        // A run whose own values are not kept leaves nothing from which the next could go on.
        more: [
          ...progressOps(options, held, outcome, standing.goesOn && kept.ownValues),
          ...kept.ops,
          ...(probation?.ops ?? []),
        ],
      });
      if (isEnded) await probation?.done();
      if (isEnded) await noteEnding(held, tried, false);
      return isEnded;
    },
    async fail(held, tried, outcome) {
      const attempt = held.run.attempt + 1;
      const find = await options.registry.places(held.item.scope, tried.install.sha256);
      const error = runErrorOf(outcome, held.run, find);
      // Killed runs get one more try on a fresh isolate; dropped ones asked for none.
      const isOver = !traitsOf[held.run.handler_kind].isRetried;
      if (isOver || outcome.reason === 'drop' || (outcome.killed && attempt >= 2))
        await end(held, tried, { status: 'dead', attempt, error });
      else await later.retry(held, tried, error, outcome.retryAfterMs);
      if (outcome.reason !== 'drop' && outcome.reason !== 'retry_later')
        await noteEnding(held, tried, true, outcome.killed);
    },
  };
}

/** What a run leaves that says how far it came. */
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
