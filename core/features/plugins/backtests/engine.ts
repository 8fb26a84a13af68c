// Runs versions on recorded events in log order, with the state as of each event. A few runs are concurrent,
// but the results are the same as in sequence. Live runs have priority.
import type { Context } from '../../../kernel/context.ts';
import { renderEvent, type EventRow } from '../../../kernel/events/event.ts';
import { pageAfter } from '../../../kernel/events/log/log.ts';
import type { FilterFields } from '../../../platform/lib/filter/filter.ts';
import { createSearched } from '../../../platform/lib/filter/filter-match.ts';
import { derivedId, idPrefixes } from '../../../platform/lib/ids.ts';
import { createPasts, isNaming, type Pasts } from '../../../kernel/resource/as-of/past.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { AttemptDeps } from '../deps.ts';
import { principalOf } from '../host-calls/gateway.ts';
import { matchingTypes } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import { findCut } from '../planning/loops.ts';
import { byTypeOf, type ByType } from '../installs/registry.ts';
import { createAttempts } from '../runs/attempt.ts';
import type { RunEffect } from '../runs/effects.ts';
import { createMatcher } from '../planning/planner.ts';
import { afterwardsOf, fieldEffectsOf } from './fields.ts';
import { createCollector, type Collector } from './collector.ts';
import type { BacktestReport } from './schema.ts';
import { createTrials, type TryOn, type Version } from './trial.ts';

const pageEvents = 200;
/** CPU time limit of one backtest, in milliseconds. */
const cpuMsMax = 10 * 60_000;
/** Limit of concurrent runs of one backtest. */
const underWayMax = 4;
/** Longest wait for live runs before each run of a backtest, in milliseconds. */
const politeMs = 50;
const politeStepMs = 5;

export interface BacktestWindow {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Range of sequences: `after` exclusive, `to` inclusive. */
  readonly after: number;
  readonly to: number;
  readonly eventsMax: number;
}

export interface BacktestProgress {
  /** Number of events read so far, or of runs for a gate, and the total. */
  readonly looked: number;
  readonly of: number;
  readonly runs: number;
}

export interface BacktestDeps extends AttemptDeps {
  /** True if live runs are in progress. */
  readonly isBusy: () => boolean;
}

/** Runs a version on single events. */
interface TrialEngine {
  readonly tryOn: TryOn;
  pastsFor(scope: Scope, install: Install): Pasts;
  /** Waits briefly while live runs are in progress. @throws if `signal` is aborted */
  yieldTo(signal: AbortSignal): Promise<void>;
  /** Returns the filter for the events that a version subscribes to. */
  subscribed(scope: Scope, install: Install): Promise<(event: EventRow) => Promise<boolean>>;
}

export interface BacktestEngine extends TrialEngine {
  /** Returns the report of a version; rejects if `signal` is aborted. */
  backtest(
    scope: Scope,
    version: Version,
    window: BacktestWindow,
    signal: AbortSignal,
    onProgress: (progress: BacktestProgress) => void,
  ): Promise<BacktestReport>;
}

export function createEngine(deps: BacktestDeps): BacktestEngine {
  const { services } = deps;
  const { store } = services;
  const attempts = createAttempts(deps);
  const tryOn = createTrials(deps, attempts);
  const matches = createMatcher(services.fairQueue);

  const yieldTo = async (signal: AbortSignal): Promise<void> => {
    for (let waited = 0; deps.isBusy() && waited < politeMs; waited += politeStepMs)
      await Bun.sleep(politeStepMs);
    signal.throwIfAborted();
  };

  const subscribed: BacktestEngine['subscribed'] = async (scope, install) => {
    const directory = await deps.directoryOf(scope);
    const filterFields = (type: string): FilterFields => deps.filterFields(type, directory);
    const byType: ByType = byTypeOf({ log: services.log, filterFields }, [install]);
    return async (event) => {
      const [subscription] = byType.get(event.type) ?? [];
      if (!subscription) return false;
      return matches(scope, subscription, event, {
        envelope: renderEvent(event),
        searched: createSearched(),
      });
    };
  };

  const pastsFor = (scope: Scope, install: Install): Pasts => {
    const { actor, scopes, narrowed } = principalOf(scope, install);
    return createPasts(async (): Promise<Context> => ({
      ...services,
      scope,
      workspaceId: scope.workspaceId,
      directory: await deps.directoryOf(scope),
      actor,
      authority: { actor },
      scopes,
      narrowed,
      visibleTeams: null,
      cause: null,
      requestId: '',
      traceparent: null,
      staged: null,
    }));
  };

  const parts = { tryOn, pastsFor, yieldTo, subscribed };
  return { ...parts, backtest: createBacktest(store, parts) };
}

/** Runs tasks concurrently, and completes them in the order in which they started. */
interface OrderedPool {
  /** Waits until another task can start. @throws the error of a failed task */
  waitForCapacity(): Promise<void>;
  /**
   * @param begin starts the task; its argument resolves when all earlier tasks have completed, and the task
   * must not finish before that
   * @param end receives the result, in the order of the starts; its promise delays only the start of further
   * tasks
   */
  join<Result>(
    begin: (before: Promise<void>) => Promise<Result>,
    end: (result: Result) => Promise<void>,
  ): void;
  /** Waits for all tasks. @throws the error of a failed task */
  drained(): Promise<void>;
}

function createOrderedPool(underWayMax: number): OrderedPool {
  const underWay = new Set<Promise<void>>();
  let last: Promise<void> = Promise.resolve();
  let stopped: { readonly by: unknown } | null = null;
  const stop = (by: unknown): void => void (stopped ??= { by });
  const throwIfStopped = (): void => {
    if (stopped) throw stopped.by;
  };

  return {
    async waitForCapacity() {
      while (underWay.size >= underWayMax) await Promise.race(underWay);
      throwIfStopped();
    },
    join(begin, end) {
      const begun = begin(last);
      const ending = Promise.withResolvers<void>();
      const whole = begun
        .then(async (result) => {
          throwIfStopped();
          const ended = end(result);
          ending.resolve();
          await ended;
        })
        .catch(stop)
        .finally(() => {
          ending.resolve();
          underWay.delete(whole);
        });
      last = ending.promise;
      underWay.add(whole);
    },
    async drained() {
      while (underWay.size > 0) await Promise.race(underWay);
      throwIfStopped();
    },
  };
}

function createBacktest(store: Store, engine: TrialEngine): BacktestEngine['backtest'] {
  return async (scope, version, window, signal, onProgress) => {
    const { install } = version;
    const isWanted = await engine.subscribed(scope, install);
    const types: ReadonlySet<string> = new Set(matchingTypes(install));
    const pasts = engine.pastsFor(scope, install);
    const collector = createCollector(window);
    const events = { looked: 0, wanted: 0, cut: 0 };
    let endedBy: BacktestReport['endedBy'] = null;
    const pool = createOrderedPool(underWayMax);
    const compare = comparing(store, scope, install, collector);

    const meet = async (event: EventRow): Promise<void> => {
      if (isNaming(event.entityType)) pasts.moved();
      if (!types.has(event.type) || !(await isWanted(event))) return;
      if (events.wanted === window.eventsMax) endedBy = 'events';
      else if (collector.cpuMs > cpuMsMax) endedBy = 'cpu';
      if (endedBy) return;
      events.wanted++;
      if (await findCut(store, scope, event, install.id, () => 0)) return void events.cut++;
      await pool.waitForCapacity();
      await engine.yieldTo(signal);
      const past = await pasts.at(event);
      pool.join(
        (before) => engine.tryOn(scope, version, event, past, signal, { before }),
        (tried) => {
          signal.throwIfAborted();
          return compare(event, collector.add(event, tried));
        },
      );
    };

    try {
      for (let { after } = window, more = true; more && !endedBy;) {
        signal.throwIfAborted();
        const page = await pageAfter(store, scope, after, {
          limit: pageEvents,
          matches: ({ type, entityType, sequence }) =>
            sequence <= window.to && (types.has(type) || isNaming(entityType)),
        });
        for (const event of page.events) {
          if (endedBy) break;
          await meet(event);
          const looked = Math.min(event.sequence, window.to) - window.after;
          onProgress({ looked, of: window.to - window.after, runs: collector.runs });
        }
        after = page.through;
        events.looked = Math.min(after, window.to) - window.after;
        more = page.more && after < window.to;
      }
    } finally {
      await pool.drained();
    }
    return collector.report({ window: toWindowResponse(window), events, endedBy });
  };
}

/** Compares effects with later changes, in order, so that a repeated backtest gives the same report. */
function comparing(store: Store, scope: Scope, install: Install, collector: Collector) {
  let last = Promise.resolve();
  const compare = async (event: EventRow, effects: readonly RunEffect[]): Promise<void> => {
    const runId = derivedId(idPrefixes.run, event.id, install.id);
    for (const effect of effects) {
      const fields = fieldEffectsOf(effect).map(({ field }) => field);
      const after = await afterwardsOf(store, scope, event, { issueId: effect.id, fields, runId });
      collector.compare(event, effect, after);
    }
  };
  return (event: EventRow, effects: readonly RunEffect[]): Promise<void> =>
    (last = last.then(() => compare(event, effects)));
}

function toWindowResponse({ sinceMs, untilMs, to }: BacktestWindow): BacktestReport['window'] {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return { since: iso(sinceMs), until: iso(untilMs), toSequence: to };
}
