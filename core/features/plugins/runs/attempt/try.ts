// Tries a run once: checks install and rights, makes an attempt in the sandbox and applies the verdict.
import { sameValue } from '../../../../kernel/changes/change.ts';
import type { EventRow } from '../../../../kernel/events/event.ts';
import { plainText } from '../../../../platform/lib/text/printable.ts';
import { mayReadEvent, scopeOfEvent } from '../../../../kernel/rights/rights.ts';
import { traitsOf } from '../../planning/handler-kinds.ts';
import { rightsOfInstall } from '../../installs/versions/matching-types.ts';
import type { Install } from '../../installs/schema.ts';
import type { RunDeps } from '../../deps.ts';
import type { RunAttempt, Attempts, LeasedRun } from './attempt.ts';
import type { EndAttempt } from '../ending/ending.ts';
import { abandonedCode } from '../ending/abandoned.ts';
import { inputNow, type RunInput } from './input.ts';
import type { Later } from '../ending/later.ts';
import type { Verdicts } from '../ending/verdict.ts';

const overtaken = {
  code: 'conflict',
  message:
    'Concurrent changes repeatedly conflicted with the reads or writes of this run. Read and write fewer objects per run.',
};

const callerGone = {
  code: 'unauthorized',
  message:
    'The caller of this run no longer has access: the key expired or was revoked, or the member was removed. Call the action with a valid key.',
};

interface TryDeps extends RunDeps {
  readonly attempts: Attempts;
  readonly end: EndAttempt;
  readonly later: Later;
  readonly verdicts: Verdicts;
}

/** @returns true if the run must be tried again at once; only with `mayRepeat` */
export type TryRun = (leased: LeasedRun, mayRepeat: boolean) => Promise<boolean>;

/** Returns a function that makes an attempt, or ends the run and returns null if it must not start. */
function createBegin(deps: TryDeps): (leased: LeasedRun) => Promise<RunAttempt | null> {
  const { registry } = deps;

  /** Returns the present install, or ends the run and returns null if no active install may run it. */
  const findInstall = async (leased: LeasedRun): Promise<Install | null> => {
    const install = await registry.active(leased.item.scope, leased.run.install_id);
    const refusal = refusalOf(install, leased.event);
    if (install && !refusal) return install;
    await deps.end(leased, null, { status: 'dead', attempt: leased.run.attempt, error: refusal });
    return null;
  };

  /** Returns the input with the remaining rights of the caller, or ends the run and returns `ended` if there are none. */
  const findInput = async (leased: LeasedRun): Promise<RunInput | null | 'ended'> => {
    const input = await inputNow(deps.services.store, leased.item.scope, leased.run, deps.clock.nowMs());
    if (input === 'ended')
      await deps.end(leased, null, { status: 'dead', attempt: leased.run.attempt, error: callerGone });
    return input;
  };

  return async (leased) => {
    const install = await findInstall(leased);
    const input = install && (await findInput(leased));
    if (!install || input === 'ended') return null;
    return deps.attempts.make(input ? { ...leased, input } : leased, install);
  };
}

export function createTryRun(deps: TryDeps): TryRun {
  const { registry, later, verdicts } = deps;
  const begin = createBegin(deps);

  /**
   * True if code, grant or modes of the plugin changed during the attempt, or the plugin was disabled or
   * removed. The attempt then ran with outdated rights.
   */
  const hasChanged = async ({ item }: LeasedRun, install: Install): Promise<boolean> => {
    const now = await registry.active(item.scope, install.id);
    return (
      now?.sha256 !== install.sha256 ||
      now.mode !== install.mode ||
      now.grant.join() !== install.grant.join() ||
      !sameValue(now.modes, install.modes)
    );
  };

  /**
   * Ends an attempt whose repeats all conflicted with concurrent changes. The run is retried later if its
   * kind of handler allows it.
   */
  const giveWay = async (leased: LeasedRun, tried: RunAttempt): Promise<void> => {
    const { attempt, handler_kind: kind } = leased.run;
    if (traitsOf[kind].isRetried) return later.retry(leased, tried, overtaken);
    await deps.end(leased, tried, { status: 'dead', attempt: attempt + 1, error: overtaken });
  };

  return async (leased, mayRepeat) => {
    const tried = await begin(leased);
    if (!tried) return false;
    if (leased.signal.aborted) {
      leased.queue.drop(leased.item);
      return false;
    }
    if (mayRepeat && (await hasChanged(leased, tried.install))) return true;
    const { outcome } = tried;
    switch (outcome.status) {
      case 'interrupted':
        // When the process stops, the lease of the run expires, and the next process performs the run.
        if (deps.isStopping()) return false;
        if (mayRepeat) return true;
        await later.interrupt(leased, tried, plainText(outcome.message));
        return false;
      case 'succeeded':
        if (await verdicts.succeed(leased, tried, outcome)) return false;
        if (mayRepeat) return true;
        await giveWay(leased, tried);
        return false;
      case 'failed':
        await verdicts.fail(leased, tried, outcome);
        return false;
    }
  };
}

/** Returns why a run must not start; null if it can. */
function refusalOf(install: Install | undefined, event: EventRow | undefined) {
  if (!install)
    return {
      code: abandonedCode,
      message:
        'The plugin was removed, paused or disabled before this run started. Enable or install the plugin, then backfill the missed events.',
    };
  if (event && !mayReadEvent(rightsOfInstall(install), event))
    return {
      code: 'insufficient_scope',
      message: `The plugin no longer has the scope ${scopeOfEvent(event.type)} for this ${event.type} event. Grant the scope to receive such events.`,
    };
  return null;
}
