// Turns events into runs: finds who subscribed, applies the filter, and cuts loops before they start. A cut is recorded as
// a dead run, because an automation that silently did nothing is the hardest to explain. docs/spec/plugins.md › Loops.
import type { Plan } from '../events/consumer.ts';
import { renderEvent, type EventRow } from '../events/event.ts';
import type { Leases, WorkQueue } from '../events/work.ts';
import type { Clock } from '../lib/clock.ts';
import type { LoopTurns } from '../lib/fairness/loop-turns.ts';
import { createSearched } from '../lib/filter.ts';
import type { Ids } from '../lib/ids.ts';
import { idPrefixes } from '../lib/ids.ts';
import type { Op, Scope, Store } from '../store/store.ts';
import type { Install } from './installs/schema.ts';
import { findCut } from './loops.ts';
import type { Registry, Subscription } from './registry.ts';
import { deadRunOp, queuedRow, queueRunOps, type NewRun, type RunRow } from './runs/rows.ts';
import { createWants } from './wants.ts';

export interface Planner {
  /** The runs of new events. */
  plan(scope: Scope, events: readonly EventRow[]): Promise<Plan>;
  /** The runs of one install for events of the past that it wants. */
  runsFor(scope: Scope, installId: string, events: readonly EventRow[]): Promise<Plan>;
  /** Those of the events that an install's subscriptions want. */
  wanted(scope: Scope, installId: string, events: readonly EventRow[]): Promise<EventRow[]>;
}

/** A plan that is being made; it lives as long as the planning of one page of events. */
interface Draft {
  readonly ops: Op[];
  readonly leases: Leases;
  /** Runs of this plan by their root event. */
  readonly perRoot: Map<string, number>;
}

export interface PlannerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly registry: Registry;
  readonly queue: WorkQueue;
  readonly turns: LoopTurns;
  /** Told of each run that is queued, so that its first attempt need not read it and its event again. */
  remember(run: RunRow, event: EventRow): void;
}

export function createPlanner(options: PlannerOptions): Planner {
  const { store, clock, ids, registry, queue } = options;
  const wants = createWants(options.turns);

  const addRun = async (
    draft: Draft,
    scope: Scope,
    event: EventRow,
    subscription: Subscription,
  ): Promise<void> => {
    const now = clock.nowMs();
    const run = runOf(ids.next(idPrefixes.run), event, subscription);
    const root = event.cause.rootEventId ?? event.id;
    const planned = draft.perRoot.get(root) ?? 0;
    const cut = await findCut(store, scope, event, run.installId, planned);
    if (cut) return void draft.ops.push(deadRunOp(scope, run, cut, now));
    draft.perRoot.set(root, planned + 1);
    const [insert, due] = queueRunOps(queue, scope, run, now, draft.leases);
    const taken: Op['taken'] = (rows) => {
      // Ahead of the queue, which may perform it at once.
      options.remember(queuedRow(run, now), event);
      due.taken?.(rows);
    };
    draft.ops.push(insert, { ...due, taken });
  };

  const planFor = async (
    scope: Scope,
    events: readonly EventRow[],
    isDue: (install: Install, event: EventRow) => boolean,
  ): Promise<Plan> => {
    const draft: Draft = { ops: [], leases: queue.draft(), perRoot: new Map() };
    for (const event of events) {
      const subscriptions = await registry.subscriptions(scope, event.type);
      if (subscriptions.length === 0) continue;
      const shown = renderEvent(event);
      const searched = createSearched();
      for (const one of subscriptions)
        if (isDue(one.install, event) && (await wants(scope, one, event, { shown, searched })))
          await addRun(draft, scope, event, one);
    }
    return { ops: draft.ops };
  };

  return {
    // What happened before the plugin was there, or while it was off, is not its business.
    plan: (scope, events) =>
      planFor(scope, events, (install, { sequence }) => sequence > install.sinceSequence),
    runsFor: (scope, installId, events) => planFor(scope, events, ({ id }) => id === installId),
    async wanted(scope, installId, events) {
      const wanting: EventRow[] = [];
      for (const event of events) {
        const subscriptions = await registry.subscriptions(scope, event.type);
        const own = subscriptions.find(({ install }) => install.id === installId);
        if (
          own &&
          (await wants(scope, own, event, { shown: renderEvent(event), searched: createSearched() }))
        )
          wanting.push(event);
      }
      return wanting;
    },
  };
}

function runOf(id: string, event: EventRow, { install, order }: Subscription): NewRun {
  return {
    id,
    installId: install.id,
    handler: { kind: 'event', name: event.type },
    orderKey: order === 'issue' ? (event.subjectId ?? event.entityId) : id,
    sequence: event.sequence,
    eventId: event.id,
    rootEventId: event.cause.rootEventId,
    depth: event.cause.depth,
    mode: install.mode,
  };
}
