// Performs trials: runs versions on the events of a source, with the state as of each event, and passes the
// results to a comparison in the order of the events. A few runs are concurrent, but the results are the same
// as in sequence. Live runs have priority. docs/decisions/0091.
import { renderEvent, type EventRow } from '../../../kernel/events/event.ts';
import { findEvent, pageAfter } from '../../../kernel/events/log/log.ts';
import type { FilterFields } from '../../../platform/lib/filter/filter.ts';
import { createSearched } from '../../../platform/lib/filter/filter-match.ts';
import { createPasts, isNaming, type Pasts, type SeenPast } from '../../../kernel/resource/as-of/past.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { AttemptDeps } from '../deps.ts';
import { contextOf } from '../host-calls/gateway.ts';
import { matchingTypes } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import { byTypeOf } from '../installs/subscriptions.ts';
import { findCut } from '../planning/loops.ts';
import { createMatcher } from '../planning/planner.ts';
import { createAttempts } from '../runs/attempt.ts';
import type { RunRow } from '../runs/rows.ts';
import { createTryOn, notSubscribed, type Tried, type TryOn } from './world.ts';
import type { Version } from './versions.ts';

const pageEvents = 200;
/** CPU time limit of one backtest, in milliseconds. */
const cpuMsMax = 10 * 60_000;
/** Limit of events of a trial that are in progress. */
const underWayMax = 4;
/** Longest wait for live runs before each event, in milliseconds. */
const politeMs = 50;
const politeStepMs = 5;

/** Versions of a trial; the first decides what the past shows. */
type Versions = readonly [Version, ...Version[]];

/** Event of a trial. */
interface Subject {
  readonly event: EventRow;
  /** True if names may have changed since the event before, so that the past directory is read again. */
  readonly namesMoved: boolean;
  /** Versions of the trial that run on the event, because they subscribe to it. */
  readonly versions: readonly Version[];
  /** Live run on the event that the versions repeat. */
  readonly live?: RunRow;
}

/** Results of the versions on an event, one of each. */
export interface Compared {
  readonly event: EventRow;
  readonly past: SeenPast;
  readonly tried: readonly Tried[];
}

/** Counts of a trial so far. */
export interface Totals {
  /** Number of events read, or of runs for a gate, and the total. */
  looked: number;
  of: number;
  /** Number of events that match the subscriptions, and of those that the loop limits skip. */
  wanted: number;
  cut: number;
  runs: number;
  cpuMs: number;
  /** Limit that ended the source early. */
  endedBy: 'events' | 'cpu' | null;
}

export function newTotals(): Totals {
  return { looked: 0, of: 0, wanted: 0, cut: 0, runs: 0, cpuMs: 0, endedBy: null };
}

interface Trial {
  readonly scope: Scope;
  readonly versions: Versions;
  readonly subjects: AsyncIterable<Subject> | Iterable<Subject>;
  readonly signal: AbortSignal;
  readonly totals: Totals;
  /** Called in the order of the events, one call at a time. */
  compare(compared: Compared): Promise<void> | void;
}

export interface TrialDeps extends AttemptDeps {
  /** True if live runs are in progress. */
  readonly isBusy: () => boolean;
}

type Subscribes = (event: EventRow) => Promise<boolean>;

export interface TrialEngine {
  /** @throws if the signal is aborted, or a comparison fails */
  perform(trial: Trial): Promise<void>;
  /** Returns the filter for the events that a version subscribes to. */
  subscribes(scope: Scope, version: Version): Promise<Subscribes>;
}

export function createTrialEngine(deps: TrialDeps): TrialEngine {
  const { services } = deps;
  const tryOn = createTryOn(deps, createAttempts(deps));
  const matches = createMatcher(services.fairQueue);

  const yieldToLiveRuns = async (signal: AbortSignal): Promise<void> => {
    for (let waited = 0; deps.isBusy() && waited < politeMs; waited += politeStepMs)
      await Bun.sleep(politeStepMs);
    signal.throwIfAborted();
  };

  return {
    async subscribes(scope, { install }) {
      const directory = await deps.directoryOf(scope);
      const filterFields = (type: string): FilterFields => deps.filterFields(type, directory);
      const byType = byTypeOf({ log: services.log, filterFields }, [install]);
      return async (event) => {
        const [subscription] = byType.get(event.type)?.all ?? [];
        if (!subscription) return false;
        const filtered = { envelope: renderEvent(event), searched: createSearched() };
        return matches(scope, subscription, event, filtered);
      };
    },
    async perform({ scope, versions, subjects, signal, totals, compare }) {
      const pasts = pastsOf(deps, scope, versions[0].install);
      const underWay: Promise<void>[] = [];
      let lastRuns: Promise<unknown> = Promise.resolve();
      let lastCompared: Promise<unknown> = lastRuns;
      const compareAfter = async (before: unknown, compared: Promise<Compared>): Promise<void> => {
        const results = await compared;
        await before;
        signal.throwIfAborted();
        for (const one of results.tried) {
          if (one !== notSubscribed) totals.runs++;
          totals.cpuMs += one.cpuMs;
        }
        await compare(results);
      };
      try {
        for await (const subject of subjects) {
          if (underWay.length >= underWayMax) await underWay.shift();
          await yieldToLiveRuns(signal);
          if (subject.namesMoved) pasts.moved();
          const past = await pasts.at(subject.event);
          const runs = tryAll(tryOn, versions, subject, { scope, past, signal, before: lastRuns });
          const compared = compareAfter(lastCompared, runs);
          // The rejection is thrown where the promise is awaited; this handler only prevents an unhandled one.
          compared.catch(() => undefined);
          underWay.push(compared);
          [lastRuns, lastCompared] = [runs, compared];
        }
        for (const compared of underWay) await compared;
      } finally {
        await Promise.allSettled(underWay);
      }
    },
  };
}

/** Runs the versions on an event, one after the other. */
async function tryAll(
  tryOn: TryOn,
  versions: readonly Version[],
  { event, live, versions: subscribed }: Subject,
  on: Omit<Parameters<TryOn>[1], 'event' | 'live'>,
): Promise<Compared> {
  const tried: Tried[] = [];
  for (const version of versions)
    tried.push(subscribed.includes(version) ? await tryOn(version, { ...on, event, live }) : notSubscribed);
  return { event, past: on.past, tried };
}

/** Returns the past states of a workspace that an install can read. */
function pastsOf({ services, directoryOf }: TrialDeps, scope: Scope, install: Install): Pasts {
  return createPasts(async () =>
    contextOf(services, scope, install, { directory: await directoryOf(scope), staged: null }),
  );
}

export interface EventWindow {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Range of sequences: `after` exclusive, `to` inclusive. */
  readonly after: number;
  readonly to: number;
  readonly eventsMax: number;
}

export interface Sourcing extends Pick<Trial, 'scope' | 'signal' | 'totals'> {
  readonly store: Store;
  readonly engine: TrialEngine;
}

/** Returns the events of a window that a version subscribes to. */
export async function* eventsOfWindow(
  { store, engine, scope, signal, totals }: Sourcing,
  version: Version,
  window: EventWindow,
): AsyncGenerator<Subject> {
  const types: ReadonlySet<string> = new Set(matchingTypes(version.install));
  const subscribes = await engine.subscribes(scope, version);
  totals.of = window.to - window.after;
  let namesMoved = false;

  /** Counts an event. @returns true if the version runs on it */
  const admits = async (event: EventRow): Promise<boolean> => {
    if (totals.wanted === window.eventsMax) totals.endedBy = 'events';
    else if (totals.cpuMs > cpuMsMax) totals.endedBy = 'cpu';
    if (totals.endedBy) return false;
    totals.wanted++;
    if (!(await findCut(store, scope, event, version.install.id, () => 0))) return true;
    totals.cut++;
    return false;
  };

  for (let { after } = window, more = true; more;) {
    signal.throwIfAborted();
    const page = await pageAfter(store, scope, after, {
      limit: pageEvents,
      matches: ({ type, entityType, sequence }) =>
        sequence <= window.to && (types.has(type) || isNaming(entityType)),
    });
    for (const event of page.events) {
      totals.looked = event.sequence - window.after;
      if (isNaming(event.entityType)) namesMoved = true;
      if (types.has(event.type) && (await subscribes(event)) && (await admits(event))) {
        yield { event, namesMoved, versions: [version] };
        namesMoved = false;
      }
      if (totals.endedBy) return;
    }
    after = page.through;
    totals.looked = Math.min(after, window.to) - window.after;
    more = page.more && after < window.to;
  }
}

const lastRuns = tenantStatement<{ event_id: string }>(
  'runs.last_of_events',
  `SELECT event_id FROM runs WHERE workspace_id = :ws AND install_id = :installId AND event_id IS NOT NULL
   ORDER BY created_at DESC, id DESC LIMIT :limit`,
);

/** Returns the events of the last runs of an install, the first version. */
export async function* eventsOfLastRuns(
  { store, engine, scope, totals }: Sourcing,
  versions: Versions,
  limit: number,
): AsyncGenerator<Subject> {
  const rows = await store.read(scope, lastRuns, { installId: versions[0].install.id, limit });
  const found = await Promise.all(rows.map(({ event_id }) => findEvent(store, scope, event_id)));
  const events = found.filter((event) => event !== undefined).sort((a, b) => a.sequence - b.sequence);
  const filters = await Promise.all(versions.map((version) => engine.subscribes(scope, version)));
  totals.of = events.length;
  for (const event of events) {
    totals.looked++;
    const isWanted = await Promise.all(filters.map((subscribes) => subscribes(event)));
    yield { event, namesMoved: true, versions: versions.filter((_, at) => isWanted[at]) };
  }
}
