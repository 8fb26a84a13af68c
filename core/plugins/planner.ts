// Turns events into runs: finds who subscribed, applies the filter, and cuts loops before they start. A cut is recorded as
// a dead run, because an automation that silently did nothing is the hardest to explain. docs/spec/plugins.md › Loops.
import type { Plan } from '../events/consumer.ts';
import { renderEvent, type EventEnvelope, type EventRow } from '../events/event.ts';
import type { WorkQueue } from '../events/work.ts';
import type { Clock } from '../lib/clock.ts';
import { createSearched, matches, type Searched } from '../lib/filter.ts';
import type { Ids } from '../lib/ids.ts';
import { mayReadEvent } from '../rights/rights.ts';
import type { LoopTurns } from '../lib/fairness/loop-turns.ts';
import { scopeOf, type Op, type Scope, type Store } from '../store/store.ts';
import type { Install } from './installs/schema.ts';
import { depthMax, runsPerRootMax, sameInPathMax } from './limits.ts';
import type { Registry, Subscription } from './registry.ts';
import { deadRunOp, queuedRow, queueRunOps, runsOfRoot, type NewRun, type RunRow } from './runs/rows.ts';

export interface Planner {
  /** The runs of new events. */
  plan(scope: Scope, events: readonly EventRow[]): Promise<Plan>;
  /** The runs of one install for events of the past that it wants. */
  runsFor(scope: Scope, installId: string, events: readonly EventRow[]): Promise<Plan>;
  /** Those of the events that an install's subscriptions want. */
  wanted(scope: Scope, installId: string, events: readonly EventRow[]): Promise<EventRow[]>;
}

export function createPlanner(options: {
  store: Store;
  clock: Clock;
  ids: Ids;
  registry: Registry;
  queue: WorkQueue;
  turns: LoopTurns;
  /** Told of each run that is queued, so that its first attempt need not read it and its event again. */
  remember(run: RunRow, event: EventRow): void;
}): Planner {
  const { store, clock, ids, registry, queue, turns } = options;

  const cutOf = async (scope: Scope, event: EventRow, { install }: Subscription, planned: number) => {
    const { cause } = event;
    if (cause.depth > depthMax)
      return {
        code: 'loop_depth',
        message: `Plugins caused each other ${cause.depth} times in a row: ${cause.path.join(' → ')}.`,
      };
    const step = stepOf(install.id, event);
    if (cause.path.filter((earlier) => earlier === step).length >= sameInPathMax)
      return {
        code: 'loop_path',
        message: `This plugin met the same object ${sameInPathMax} times in one chain: ${cause.path.join(' → ')}.`,
      };
    if (
      cause.depth > 0 &&
      cause.rootEventId !== null &&
      (await runsOfRoot(store, scope, cause.rootEventId)) + planned >= runsPerRootMax
    )
      return {
        code: 'loop_runs',
        message: `${runsPerRootMax} runs came from the event ${cause.rootEventId}; this one is not started.`,
      };
    return null;
  };

  /** Its filter is looked at in turns, which the plugin pays. */
  const wants = async (
    scope: Scope,
    { install, self, filter, fields, rights }: Subscription,
    event: EventRow,
    shown: EventEnvelope,
    searched: Searched,
  ): Promise<boolean> => {
    if (!mayReadEvent(rights, shown)) return false;
    if (self === 'skip' && event.actor.id === install.id) return false;
    if (filter === null) return true;
    const payer = scopeOf(scope.workspaceId, install.id);
    return turns.run(payer, () => matches(filter, fields, shown.data, searched));
  };

  const planFor = async (
    scope: Scope,
    events: readonly EventRow[],
    isDue: (install: Install, event: EventRow) => boolean,
  ): Promise<Plan> => {
    const ops: Op[] = [];
    const leases = queue.draft();
    const queued: { readonly op: number; readonly run: RunRow; readonly event: EventRow }[] = [];
    const perRoot = new Map<string, number>();
    for (const event of events) {
      const subscriptions = await registry.subscriptions(scope, event.type);
      if (subscriptions.length === 0) continue;
      const shown = renderEvent(event);
      const searched = createSearched();
      for (const subscription of subscriptions) {
        const { install } = subscription;
        if (!isDue(install, event) || !(await wants(scope, subscription, event, shown, searched))) continue;
        const now = clock.nowMs();
        const id = ids.next('run');
        const run: NewRun = {
          id,
          installId: install.id,
          handler: { kind: 'event', name: event.type },
          orderKey: subscription.order === 'issue' ? (event.subjectId ?? event.entityId) : id,
          sequence: event.sequence,
          eventId: event.id,
          rootEventId: event.cause.rootEventId,
          depth: event.cause.depth,
          mode: install.mode,
        };
        const root = event.cause.rootEventId ?? event.id;
        const cut = await cutOf(scope, event, subscription, perRoot.get(root) ?? 0);
        if (cut) {
          ops.push(deadRunOp(scope, run, cut, now));
          continue;
        }
        perRoot.set(root, (perRoot.get(root) ?? 0) + 1);
        ops.push(...queueRunOps(leases, scope, run, now));
        queued.push({ op: ops.length - 1, run: queuedRow(run, now), event });
      }
    }
    return {
      ops,
      committed(returned) {
        for (const { op, run, event } of queued) {
          const rows = returned[op] ?? [];
          options.remember(run, event);
          queue.adopt(scope, rows);
        }
      },
    };
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
        if (own && (await wants(scope, own, event, renderEvent(event), createSearched())))
          wanting.push(event);
      }
      return wanting;
    },
  };
}

/** One step of a chain: an install meeting an object. */
export function stepOf(installId: string, event: Pick<EventRow, 'subjectId' | 'entityId'>): string {
  return `${installId}:${event.subjectId ?? event.entityId}`;
}
