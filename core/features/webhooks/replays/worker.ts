// Runs replays page by page. Deliveries and progress of a page are one batch, so a crash repeats no page.
import { type WorkItem, type WorkQueue, createWorkQueue } from '../../../kernel/events/work/queue.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope, type Store } from '../../../platform/store/store.ts';
import { queueDeliveriesOps } from '../deliveries/queue.ts';
import { newDelivery, type DeliveryRow } from '../deliveries/rows.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { findReplay, type ReplayRow } from './operations.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { pageAfter } from '../../../kernel/events/log/log.ts';
import type { SeenTimes } from '../../../kernel/events/wall-clock.ts';
import type { Services } from '../../../kernel/context.ts';

const move = tenantStatement(
  'replays.move',
  `UPDATE replays SET current_sequence = :to, deliveries = deliveries + :made, status = :status, finished_at = :finishedAt
   WHERE workspace_id = :ws AND id = :id AND status = 'running' AND current_sequence = :from`,
);
/** Returns which of the events in `eventIds` (a JSON array) were or will be delivered to an endpoint. */
const settledEvents = tenantStatement<{ event_id: string }>(
  'deliveries.settled_events',
  `SELECT event_id FROM deliveries INDEXED BY deliveries_event WHERE workspace_id = :ws AND event_id IN (SELECT value FROM json_each(:eventIds))
     AND endpoint_id = :endpointId AND status IN ('pending', 'retrying', 'delivered')`,
);

interface ReplaysOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly owner: string;
  readonly seen: SeenTimes;
  readonly subscriptions: Subscriptions;
  /** Queue to which the replay adds its deliveries. */
  readonly deliveries: WorkQueue;
  /**
   * Stores rows for the running deliveries of an endpoint, so that a replay of undelivered events omits them.
   */
  storeWork(scope: Scope, endpointId: string): Promise<void>;
}

/** Processes one page. @returns false once the replay has ended */
async function step(options: ReplaysOptions, item: WorkItem, queue: WorkQueue): Promise<boolean> {
  const { deliveries } = options;
  const { store } = options.services;
  const { scope, id } = item;
  const replay = await findReplay.one(store, scope, { id });
  if (replay?.status !== 'running') {
    await store.commit([queue.finish(item)]);
    return false;
  }
  const now = options.clock.nowMs();
  const { newDeliveries, to, status } = await planPage(options, scope, replay, now);
  const ends = status !== 'running';
  const moved = {
    id,
    from: replay.current_sequence,
    to,
    made: newDeliveries.length,
    status,
    finishedAt: ends ? now : null,
  };
  const outcome = await store.commit(
    [
      tenantOp(scope, move, moved, { expectRows: 1 }),
      ...(ends ? [queue.finish(item)] : []),
      ...queueDeliveriesOps(deliveries, scope, newDeliveries),
    ],
    { commitDelayMs: backgroundCommitDelayMs },
  );
  // A refused batch means that the replay was canceled; the next step reads that.
  return !(outcome.ok && ends);
}

interface Planned {
  readonly newDeliveries: readonly DeliveryRow[];
  readonly to: number;
  readonly status: ReplayRow['status'];
}

const pageEvents = 200;

interface ReplayPage {
  readonly events: readonly EventRow[];
  /** Sequence of the last examined event. */
  readonly to: number;
  readonly isLast: boolean;
}

async function readReplayPage(options: ReplaysOptions, scope: Scope, replay: ReplayRow): Promise<ReplayPage> {
  const { store } = options.services;
  const { current_sequence: from, last_sequence: last } = replay;
  const page = await pageAfter(store, scope, from, { limit: pageEvents });
  const looked = page.events.filter(({ sequence }) => sequence <= last);
  return {
    events: await unsettled(store, scope, replay, await wanted(options, scope, replay, looked)),
    to: looked.at(-1)?.sequence ?? from,
    isLast: !page.more || page.through >= last,
  };
}

async function wanted(
  { subscriptions }: ReplaysOptions,
  scope: Scope,
  { endpoint_id: endpointId, since, until }: ReplayRow,
  events: readonly EventRow[],
): Promise<EventRow[]> {
  const wanting: EventRow[] = [];
  for (const event of events) {
    if (since !== null && event.createdAt < since) continue;
    if (until !== null && event.createdAt >= until) continue;
    if (await subscriptions.matches(scope, endpointId, event)) wanting.push(event);
  }
  return wanting;
}

/** Omits events that were or will be delivered to the endpoint, if the replay covers only undelivered ones. */
async function unsettled(
  store: Store,
  scope: Scope,
  { endpoint_id: endpointId, only_undelivered: onlyUndelivered }: ReplayRow,
  events: readonly EventRow[],
): Promise<readonly EventRow[]> {
  if (onlyUndelivered === 0 || events.length === 0) return events;
  const eventIds = JSON.stringify(events.map(({ id }) => id));
  const rows = await store.read(scope, settledEvents, { eventIds, endpointId });
  const settled = new Set(rows.map((row) => row.event_id));
  return events.filter(({ id }) => !settled.has(id));
}

async function planPage(
  options: ReplaysOptions,
  scope: Scope,
  replay: ReplayRow,
  nowMs: number,
): Promise<Planned> {
  const endpoint = await options.subscriptions.enabled(scope, replay.endpoint_id);
  if (!endpoint) return { newDeliveries: [], to: replay.current_sequence, status: 'canceled' };
  await options.storeWork(scope, endpoint.id);
  const { events, to, isLast } = await readReplayPage(options, scope, replay);
  return {
    newDeliveries: events.map((event) =>
      newDelivery(options.services.ids.next(idPrefixes.delivery), endpoint, event, nowMs, 'replay'),
    ),
    to,
    status: isLast ? 'done' : 'running',
  };
}

const concurrentReplays = 8;

export interface Replays {
  readonly queue: WorkQueue;
  stop(): Promise<void>;
}

/** On shutdown the worker finishes only its current page. */
export function createReplays(options: ReplaysOptions): Replays {
  const { services, clock, owner, seen } = options;
  const { store, log, mayWork } = services;
  let stopped = false;
  const queue = createWorkQueue({
    store,
    clock,
    log,
    mayWork,
    kind: 'replay',
    owner,
    seen,
    setBack: () => [],
    capacity: concurrentReplays,
    // The next process continues a replay that is running when this one stops.
    async perform(item, queue) {
      while (!stopped && (await step(options, item, queue)));
    },
  });
  return {
    queue,
    async stop() {
      stopped = true;
      await queue.stop();
    },
  };
}
