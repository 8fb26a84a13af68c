// Carries replays out: reads the log on from where each has come, and makes its deliveries a page at a time. A crash repeats no page: deliveries and progress are one batch.
import type { EventRow } from '../../events/event.ts';
import { pageAfter } from '../../events/log.ts';
import type { WorkItem, WorkQueue } from '../../events/work.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import { backgroundPatienceMs, type Scope, type Store } from '../../store/store.ts';
import { newDelivery, queueDeliveriesOps } from '../deliveries/rows.ts';
import type { Endpoint } from '../endpoints/kind.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { findReplay, moveReplayOp, settledEvents, type ReplayRow } from './rows.ts';

const pageEvents = 200;

export function createReplayWorker(options: {
  store: Store;
  clock: Clock;
  ids: Ids;
  subscriptions: Subscriptions;
  /** Of deliveries. */
  deliveries: WorkQueue;
  /** Once true, what is left is for the next start. */
  stopped(): boolean;
}): (item: WorkItem, queue: WorkQueue) => Promise<void> {
  const { store, clock, subscriptions, deliveries } = options;

  const wanted = async (
    scope: Scope,
    endpoint: Endpoint,
    replay: ReplayRow,
    events: readonly EventRow[],
  ): Promise<EventRow[]> => {
    const wanting: EventRow[] = [];
    for (const event of events)
      if (
        (replay.since === null || event.createdAt >= replay.since) &&
        (replay.until === null || event.createdAt < replay.until) &&
        (await subscriptions.wants(scope, endpoint.id, event))
      )
        wanting.push(event);
    if (replay.only_undelivered === 0 || wanting.length === 0) return wanting;
    const eventIds = JSON.stringify(wanting.map(({ id }) => id));
    const rows = await store.read(scope, settledEvents, { eventIds, endpointId: endpoint.id });
    const settled = new Set(rows.map((row) => row.event_id));
    return wanting.filter(({ id }) => !settled.has(id));
  };

  /** One page; false once the replay has ended. */
  const step = async (item: WorkItem, queue: WorkQueue): Promise<boolean> => {
    const { scope, id } = item;
    const replay = await store.readOne(scope, findReplay, { id });
    if (replay?.status !== 'running') {
      await store.commit([queue.finish(item)]);
      return false;
    }
    const from = replay.after_sequence;
    const now = clock.nowMs();
    const endpoint = await subscriptions.enabled(scope, replay.endpoint_id);
    const page = endpoint ? await pageAfter(store, scope, from, { limit: pageEvents }) : null;
    const events = page?.events.filter(({ sequence }) => sequence <= replay.last_sequence) ?? [];
    const to = events.at(-1)?.sequence ?? from;
    const ends = !page?.more || page.through >= replay.last_sequence;
    const made = endpoint ? await wanted(scope, endpoint, replay, events) : [];
    const status = !endpoint ? 'canceled' : ends ? 'done' : 'running';
    const moves = [
      moveReplayOp(scope, id, { from, to, made: made.length, status, finishedAt: ends ? now : null }),
      ...(ends ? [queue.finish(item)] : []),
    ];
    const { ops, adoptable } = queueDeliveriesOps(
      deliveries,
      scope,
      made.map((event) => newDelivery(options.ids.next('delivery'), endpoint!, event, now, 'replay')),
    );
    const outcome = await store.commit([...moves, ...ops], { patienceMs: backgroundPatienceMs });
    if (outcome.ok) deliveries.adopt(scope, adoptable(outcome.rows.slice(moves.length)));
    // Where the batch was refused, somebody canceled: the next look tells.
    return !(outcome.ok && ends);
  };

  return async (item, queue) => {
    while (!options.stopped() && (await step(item, queue)));
  };
}
