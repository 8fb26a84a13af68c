// Turns events into runs: finds the subscribed plugins, applies their filters, and cuts loops before they
// start. A cut is stored as a dead run, so that users can see why an automation did nothing.
// docs/spec/plugins.md › Loops.
import { type EventRow, renderEvent, type EventEnvelope } from '../../../kernel/events/event.ts';
import type {
  Unit,
  UnitRows,
  WorkItem,
  WorkQueue,
  Leases,
  UnitQueue,
} from '../../../kernel/events/work/queue.ts';
import { scopeOf, type Scope, type Store, type Op } from '../../../platform/store/store.ts';
import { findRun, keyOf, queuedRow, type NewRun, type RunRow } from '../runs/rows.ts';
import { cutRunOp, decidedRunOps, hasOpen, insertRunsOp, isOpenBefore, queueRunOp } from '../runs/state.ts';
import type { ConsumerOptions } from '../../../kernel/events/consumers/consumer.ts';
import { createSearched, type Searched } from '../../../platform/lib/filter/filter-match.ts';
import { derivedId, idPrefixes } from '../../../platform/lib/ids.ts';
import { effectiveMode } from '../installs/mode.ts';
import type { Install } from '../installs/model.ts';
import { findCut, type NotifyLoop } from './loops.ts';
import type { PluginDeps } from '../deps.ts';
import type { Subscription } from '../installs/subscriptions.ts';
import type { Runner } from './runner.ts';
import type { LoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';
import { mayReadEvent } from '../../../kernel/rights/rights.ts';

export interface Planner {
  readonly plan: ConsumerOptions<RunUnit>['plan'];
  /** Returns ops that queue the runs of one install for those past events that match its subscriptions. */
  runsFor(scope: Scope, installId: string, events: readonly EventRow[]): Promise<readonly Op[]>;
  /** Returns the events that match an install's subscriptions. */
  wanted(scope: Scope, installId: string, events: readonly EventRow[]): Promise<EventRow[]>;
}

/** Plan for one page of events, under construction. */
interface Draft {
  readonly units: RunUnit[];
  readonly notes: Op[];
  /** Number of runs in this plan by root event. */
  readonly perRoot: Map<string, number>;
}

interface PlannerDeps extends PluginDeps {
  readonly queue: UnitQueue<RunUnit>;
  readonly runner: Runner;
  readonly notifyLoop: NotifyLoop;
}

export function createPlanner(deps: PlannerDeps): Planner {
  const { registry, queue } = deps;
  const matches = createMatcher(deps.services.fairQueue);

  const planFor = async (
    scope: Scope,
    events: readonly EventRow[],
    subscribed: (event: EventRow) => Promise<readonly Subscription[]>,
    isDue: (install: Install, event: EventRow) => boolean,
    isNew: (runId: string) => Promise<boolean>,
  ): Promise<Draft> => {
    const draft: Draft = { units: [], notes: [], perRoot: new Map() };
    for (const event of events) {
      const subscriptions = await subscribed(event);
      if (subscriptions.length === 0) continue;
      const envelope = renderEvent(event);
      const searched = createSearched();
      for (const one of subscriptions)
        if (isDue(one.install, event) && (await matches(scope, one, event, { envelope, searched })))
          await addRun(deps, draft, scope, event, one, isNew);
    }
    return draft;
  };

  return {
    // Events that precede the installation, or that occurred while the plugin was disabled, are skipped.
    async plan(scope, events, isMeant, isNew) {
      const { units, notes } = await planFor(
        scope,
        events,
        (event) => registry.subscriptionsAt(scope, event),
        ({ id, sinceSequence }, { sequence }) => sequence > sinceSequence && isMeant(id, sequence),
        isNew,
      );
      return { units, notes: [...notes, ...events.flatMap((event) => decidedRunOps(scope, event))] };
    },
    async runsFor(scope, installId, events) {
      const { units, notes } = await planFor(
        scope,
        events,
        (event) => registry.subscriptions(scope, event),
        ({ id }) => id === installId,
        () => Promise.resolve(true),
      );
      const leases = queue.draft();
      return [...units.flatMap((unit) => queueUnitOps(deps, scope, unit, leases)), ...notes];
    },
    async wanted(scope, installId, events) {
      const wanting: EventRow[] = [];
      for (const event of events) {
        const subscriptions = await registry.subscriptions(scope, event);
        const own = subscriptions.find(({ install }) => install.id === installId);
        if (
          own &&
          (await matches(scope, own, event, { envelope: renderEvent(event), searched: createSearched() }))
        )
          wanting.push(event);
      }
      return wanting;
    },
  };
}

/** Adds the run of one event, or the record of a cut. */
async function addRun(
  deps: PlannerDeps,
  draft: Draft,
  scope: Scope,
  event: EventRow,
  subscription: Subscription,
  isNew: (runId: string) => Promise<boolean>,
): Promise<void> {
  const { clock, queue } = deps;
  const { store } = deps.services;
  const nowMs = clock.nowMs();
  const run = runOf(event, subscription);
  // This check precedes the loop detection, so that an existing run is not counted twice for its root.
  if (!(await isNew(run.id))) return;
  const root = event.cause.rootEventId ?? event.id;
  const planned = draft.perRoot.get(root) ?? 0;
  const cut = await findCut(
    store,
    scope,
    event,
    run.installId,
    () => planned + unstoredOfRoot(queue, scope, root),
  );
  if (cut) {
    await deps.notifyLoop(scope, event, cut);
    const { code, message } = cut;
    return void draft.notes.push(cutRunOp(scope, run, { code, message }, nowMs));
  }
  draft.perRoot.set(root, planned + 1);
  const perform: Parameters<typeof runUnit>[0]['perform'] = (...args) =>
    deps.runner.performPlanned(...args, queue);
  draft.units.push(runUnit({ perform }, scope, { run, event, nowMs }));
}

/** Returns the number of unstored runs in the queue that follow from a root event. */
function unstoredOfRoot(queue: UnitQueue<RunUnit>, { workspaceId }: Scope, root: string): number {
  let count = 0;
  for (const { run, scope } of queue.unstored())
    if (run.root_event_id === root && scope.workspaceId === workspaceId) count++;
  return count;
}

function queueUnitOps(
  { queue, runner }: PlannerDeps,
  scope: Scope,
  { run, event }: RunUnit,
  leases: Leases,
): readonly Op[] {
  const due = queueRunOp(queue, scope, keyOf(run), run.created_at, leases);
  const taken: Op['taken'] = (rows) => {
    // The run is cached before it is queued, because the queue may start it at once.
    runner.remember(run, event);
    due.taken?.(rows);
  };
  return [insertRunsOp(scope, [run]), { ...due, taken }];
}

function runOf(event: EventRow, { install, order }: Subscription): NewRun {
  const id = derivedId(idPrefixes.run, event.id, install.id);
  return {
    id,
    installId: install.id,
    handler: { kind: 'event', name: event.type },
    orderKey: order === 'issue' ? (event.subjectId ?? event.entityId) : id,
    sequence: event.sequence,
    eventId: event.id,
    rootEventId: event.cause.rootEventId,
    depth: event.cause.depth,
    mode: effectiveMode(install),
  };
}

/** An event prepared for filters; all subscriptions to the event share it. */
interface Filtered {
  readonly envelope: EventEnvelope;
  readonly searched: Searched;
}

type SubscriptionMatcher = (
  scope: Scope,
  subscription: Subscription,
  event: EventRow,
  filtered: Filtered,
) => Promise<boolean>;

/** @param fairQueue queue that runs the filters, charged to the plugin's account */
export function createMatcher(fairQueue: LoopQueue): SubscriptionMatcher {
  return async (scope, { install, self, passes, changes, rights }, event, { envelope, searched }) => {
    if (!mayReadEvent(rights, envelope)) return false;
    if (self === 'skip' && isOwn(install.id, event)) return false;
    if (passes === null && changes === null) return true;
    const billingAccount = scopeOf(scope.workspaceId, install.id);
    const { data } = envelope;
    const { actor, createdAt } = event;
    return fairQueue.run(
      billingAccount,
      () =>
        (passes === null || passes(data, searched, createdAt)) &&
        (changes === null || changes({ actor, createdAt, data, searched })),
    );
  };
}

/** True if the plugin caused the event, directly or through a person who approved or undid its writes. */
function isOwn(installId: string, { actor, cause }: EventRow): boolean {
  if (actor.id === installId) return true;
  if (actor.kind === 'plugin' || actor.kind === 'system' || cause.depth === 0) return false;
  return cause.path.some((step) => step === installId || step.startsWith(`${installId}:`));
}

/**
 * Run of an event as a work unit. Most runs end within milliseconds and are written once, with their
 * effects; a run that has to wait gets a row and a work row.
 */
export interface RunUnit extends Unit {
  readonly run: RunRow;
  readonly event: EventRow;
}

interface UnitOptions {
  /** Performs a run. The row of the run may not be stored yet. */
  perform(item: WorkItem, run: RunRow, event: EventRow): Promise<void>;
}

function runUnit(
  options: UnitOptions,
  scope: Scope,
  planned: { readonly run: NewRun; readonly event: EventRow; readonly nowMs: number },
): RunUnit {
  const { event, nowMs } = planned;
  const { id, installId, handler, orderKey, sequence } = planned.run;
  const run = queuedRow(planned.run, nowMs);
  return {
    run,
    event,
    id,
    sequence,
    scope: scopeOf(scope.workspaceId, installId),
    subject: installId,
    // A run whose order key is its id never waits for another run.
    orderKey: orderKey === id ? null : `${installId} ${handler.name} ${orderKey}`,
    perform: (item) => options.perform(item, run, event),
  };
}

/** @param remember called with each stored run, so that its first attempt need not read run and event again */
export function runRows(
  store: Store,
  remember: (run: RunRow, event: EventRow) => void,
  queue: () => WorkQueue,
): UnitRows<RunUnit> {
  return {
    isBlocked: ({ scope, run }) => isOpenBefore(store, scope, run),
    hasRows: ({ scope, run }) => hasOpen(store, scope, run.install_id),
    isStored: async ({ scope, id }) => (await findRun(store, scope, id)) !== undefined,
    insertOp: (scope, units) =>
      insertRunsOp(
        scope,
        units.map(({ run }) => run),
      ),
    addInOrderOp: ({ scope, run }, leases, nowMs) => queueRunOp(queue(), scope, keyOf(run), nowMs, leases),
    stored: ({ run, event }) => remember(run, event),
  };
}
