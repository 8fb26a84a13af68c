// Reads one page of a replay: the events to deliver again, and the position reached in the log.
import type { EventRow } from '../../events/event.ts';
import { pageAfter } from '../../events/log.ts';
import type { Scope, Store } from '../../store/store.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { settledEvents, type ReplayRow } from './rows.ts';

const pageEvents = 200;

interface ReplayPage {
  readonly events: readonly EventRow[];
  /** Sequence of the last examined event. */
  readonly to: number;
  readonly isLast: boolean;
}

interface Sources {
  readonly store: Store;
  readonly subscriptions: Subscriptions;
}

export async function readReplayPage(sources: Sources, scope: Scope, replay: ReplayRow): Promise<ReplayPage> {
  const { current_sequence: from, last_sequence: last } = replay;
  const page = await pageAfter(sources.store, scope, from, { limit: pageEvents });
  const looked = page.events.filter(({ sequence }) => sequence <= last);
  return {
    events: await unsettled(sources.store, scope, replay, await wanted(sources, scope, replay, looked)),
    to: looked.at(-1)?.sequence ?? from,
    isLast: !page.more || page.through >= last,
  };
}

async function wanted(
  { subscriptions }: Sources,
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
