// Turns events into runs: finds who subscribed, applies the filter, and cuts loops before they start. A cut is recorded as
// a dead run, because an automation that silently did nothing is the hardest to explain. Plugin contract › Loops.
import type { Plan } from '../events/consumer.ts';
import { renderEvent, type EventRow } from '../events/event.ts';
import type { WorkQueue } from '../events/work.ts';
import type { Clock } from '../lib/clock.ts';
import { createSearched, matches, type Searched } from '../lib/filter.ts';
import type { Ids } from '../lib/ids.ts';
import type { Turns } from '../lib/turns.ts';
import { scopeOf, type Op, type Scope, type Store } from '../store/store.ts';
import { depthMax, runsPerRootMax, sameInPathMax } from './limits.ts';
import type { Registry, Subscription } from './registry.ts';
import { deadRunOp, queuedRow, queueRunOps, runsOfRoot, type NewRun, type RunRow } from './runs/rows.ts';

export interface Planner {
  (scope: Scope, events: readonly EventRow[]): Promise<Plan>;
}

export function createPlanner(options: {
  store: Store;
  clock: Clock;
  ids: Ids;
  registry: Registry;
  queue: WorkQueue;
  turns: Turns;
  /** Told of each run that is queued in memory, so that its first attempt need not read it and its event again. */
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

  /** Looked at in turns, which the plugin pays. */
  const passes = async (
    scope: Scope,
    { install, filter, fields }: Subscription,
    data: unknown,
    searched: Searched,
  ): Promise<boolean> =>
    filter === null ||
    turns.run(scopeOf(scope.workspaceId, install.id), () => matches(filter, fields, data, searched));

  return async (scope, events) => {
    const ops: Op[] = [];
    const adopted: number[] = [];
    const perRoot = new Map<string, number>();
    for (const event of events) {
      const subscriptions = await registry.subscriptions(scope, event.type);
      if (subscriptions.length === 0) continue;
      const shown = renderEvent(event);
      const searched = createSearched();
      for (const subscription of subscriptions) {
        const { install } = subscription;
        // What happened before the plugin was there is not its business.
        if (event.createdAt < install.createdAt) continue;
        if (subscription.self === 'skip' && event.actor.id === install.id) continue;
        if (!(await passes(scope, subscription, shown.data, searched))) continue;
        const now = clock.nowMs();
        const id = ids.next('run');
        const run: NewRun = {
          id,
          installId: install.id,
          handler: { kind: 'event', name: event.type },
          orderKey: subscription.order === 'issue' ? (event.issueId ?? event.entityId) : id,
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
        ops.push(...queueRunOps(queue, scope, run, now));
        adopted.push(ops.length - 1);
        if (queue.leaseUntil(now) > 0) options.remember(queuedRow(run, now), event);
      }
    }
    return {
      ops,
      committed: (rows) =>
        queue.adopt(
          scope,
          adopted.flatMap((index) => rows[index] ?? []),
        ),
    };
  };
}

/** One step of a chain: an install meeting an object. */
export function stepOf(installId: string, event: Pick<EventRow, 'issueId' | 'entityId'>): string {
  return `${installId}:${event.issueId ?? event.entityId}`;
}
