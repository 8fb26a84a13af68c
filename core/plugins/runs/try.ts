// One try of a run: with the install and the rights of now, in the sandbox, and to its verdict.
import { sameValue } from '../../changes/change.ts';
import type { EventRow } from '../../events/event.ts';
import type { Clock } from '../../lib/clock.ts';
import { plainText } from '../../lib/printable.ts';
import { mayReadEvent, scopeOfEvent } from '../../rights/rights.ts';
import type { Store } from '../../store/store.ts';
import { traitsOf } from '../handler-kinds.ts';
import { rightsOfInstall } from '../installs/hearing.ts';
import type { Install } from '../installs/schema.ts';
import type { Registry } from '../registry.ts';
import type { Attempt, Attempts, HeldRun } from './attempt.ts';
import type { EndAttempt } from './ending.ts';
import { givenUpCode } from './given-up.ts';
import { inputNow, type RunInput } from './input.ts';
import type { Later } from './later.ts';
import type { Verdicts } from './verdict.ts';

const overtaken = { code: 'conflict', message: 'Others kept changing what this run read or wrote.' };

const callerGone = {
  code: 'unauthorized',
  message:
    'Whoever asked for this run may do nothing here any more: their key has ended, or they were removed.',
};

export interface TryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly attempts: Attempts;
  readonly end: EndAttempt;
  readonly later: Later;
  readonly verdicts: Verdicts;
  /** The process ends. */
  readonly isStopping: () => boolean;
}

/** @returns true when the run is to be tried again at once, which only happens where it may be */
export type TryRun = (held: HeldRun, mayRepeat: boolean) => Promise<boolean>;

/** Makes an attempt; null once the run was ended because it may not begin. */
function createBegin(options: TryOptions): (held: HeldRun) => Promise<Attempt | null> {
  const { registry } = options;

  /** The install as it is now; null once the run was ended because none may run it. */
  const findInstall = async (held: HeldRun): Promise<Install | null> => {
    const install = await registry.active(held.item.scope, held.run.install_id);
    const refusal = refusalOf(install, held.event);
    if (install && !refusal) return install;
    await options.end(held, null, { status: 'dead', attempt: held.run.attempt, error: refusal });
    return null;
  };

  /** What it was given, with the rights that its caller still has; `ended` once the run was ended as its caller has none. */
  const findInput = async (held: HeldRun): Promise<RunInput | null | 'ended'> => {
    const input = await inputNow(options.store, held.item.scope, held.run, options.clock.nowMs());
    if (input === 'ended')
      await options.end(held, null, { status: 'dead', attempt: held.run.attempt, error: callerGone });
    return input;
  };

  return async (held) => {
    const install = await findInstall(held);
    const input = install && (await findInput(held));
    if (!install || input === 'ended') return null;
    return options.attempts.make(input ? { ...held, input } : held, install);
  };
}

export function createTryRun(options: TryOptions): TryRun {
  const { registry, later, verdicts } = options;
  const begin = createBegin(options);

  /** Upgraded, narrowed, paused or removed while it ran: then it did not run with the rights that it has now. */
  const hasChanged = async ({ item }: HeldRun, install: Install): Promise<boolean> => {
    const now = await registry.active(item.scope, install.id);
    return (
      now?.sha256 !== install.sha256 ||
      now.mode !== install.mode ||
      now.grant.join() !== install.grant.join() ||
      !sameValue(now.modes, install.modes)
    );
  };

  /** Others were faster, again and again. */
  const giveWay = async (held: HeldRun, tried: Attempt): Promise<void> => {
    const { attempt, handler_kind: kind } = held.run;
    if (traitsOf[kind].isRetried) return later.retry(held, tried, overtaken);
    await options.end(held, tried, { status: 'dead', attempt: attempt + 1, error: overtaken });
  };

  return async (held, mayRepeat) => {
    const tried = await begin(held);
    if (!tried) return false;
    if (held.signal.aborted) {
      held.queue.drop(held.item);
      return false;
    }
    if (mayRepeat && (await hasChanged(held, tried.install))) return true;
    const { outcome } = tried;
    switch (outcome.status) {
      case 'interrupted':
        // The lease of a run that the end of the process interrupts ends with it: the next process runs it.
        if (options.isStopping()) return false;
        if (mayRepeat) return true;
        await later.interrupt(held, tried, plainText(outcome.message));
        return false;
      case 'succeeded':
        if (await verdicts.succeed(held, tried, outcome)) return false;
        if (mayRepeat) return true;
        await giveWay(held, tried);
        return false;
      case 'failed':
        await verdicts.fail(held, tried, outcome);
        return false;
    }
  };
}

/** Why a run does not begin; null when it does. */
function refusalOf(install: Install | undefined, event: EventRow | undefined) {
  if (!install)
    return {
      code: givenUpCode,
      message: 'The plugin was removed, paused or disabled before this run.',
    };
  if (event && !mayReadEvent(rightsOfInstall(install), event))
    return {
      code: 'insufficient_scope',
      message: `The plugin is not granted ${scopeOfEvent(event.type)} for this ${event.type} any more.`,
    };
  return null;
}
