// Matches events against the endpoints of a workspace. A section of the workspace cache that is reloaded when an
// endpoint changes. Filters run in the fair queue and are charged to their endpoint.
import type { WebhooksOptions } from './runtime.ts';
import { expandPattern, namespaceOf } from '../../kernel/events/catalogue.ts';
import { renderData, type EventRow } from '../../kernel/events/event.ts';
import {
  erasOf,
  readPastSubscriptions,
  type Eras,
} from '../../kernel/events/consumers/past-subscriptions.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { parseFilter, type FilterFields } from '../../platform/lib/filter/filter.ts';
import {
  createSearched,
  passesOf,
  type Passes,
  type Searched,
} from '../../platform/lib/filter/filter-match.ts';
import type { Log } from '../../platform/lib/log.ts';
import type { Listening } from '../../kernel/events/reading.ts';
import { scopeOf, type Scope, type Store } from '../../platform/store/store.ts';
import { field } from '../fields/contract.ts';
import { endpointModel, type Endpoint, consumerName, type EndpointSubscription } from './endpoints/model.ts';
import { endpointTable } from './tables.ts';

const enabledEndpoints = endpointTable.selectAll(
  'enabled',
  [],
  'AND deleted_at IS NULL AND enabled = 1 ORDER BY created_at, id',
);

/** Subscription of an endpoint, current or past. */
type Wanting = EndpointSubscription & { readonly id: string };

interface Subscriber {
  readonly endpoint: Wanting;
  /** Null if the endpoint receives all events of the type. */
  readonly filter: Passes | null;
}

export interface Subscriptions {
  listens(scope: Scope): Promise<Listening>;
  /**
   * Returns the endpoints, among those accepted by `isMeant`, that were subscribed to an event when it
   * happened.
   */
  wanting(
    scope: Scope,
    event: EventRow,
    isMeant: (endpointId: string, sequence: number) => boolean,
  ): Promise<readonly Wanting[]>;
  /** Returns true if the current subscription of an endpoint matches an event of any time. */
  matches(scope: Scope, endpointId: string, event: EventRow): Promise<boolean>;
  /** Returns undefined if the endpoint is deleted or disabled. */
  enabled(scope: Scope, endpointId: string): Promise<Endpoint | undefined>;
  /** Returns the enabled endpoints; their number is limited per workspace. */
  enabledIds(scope: Scope): Promise<ReadonlySet<string>>;
}

interface Listeners {
  /** Enabled endpoints by id. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly byType: Eras<ByType>;
}

type ByType = ReadonlyMap<string, readonly Subscriber[]>;

const none: readonly Subscriber[] = [];

/** A ping is delivered to its endpoint regardless of the subscription. */
function isPingOf(endpointId: string, event: EventRow): boolean {
  return event.type === 'webhook.ping' && event.entityId === endpointId;
}

export function createSubscriptions(options: WebhooksOptions): Subscriptions {
  const { store, log, fairQueue } = options.services;
  const { of } = options.cache.section<Listeners>({
    // Filters may refer to custom fields of the workspace.
    kinds: new Set([endpointModel.name, field.name]),
    load: async (scope) => {
      const directory = await options.directoryOf(scope);
      const filterFields = (type: string): FilterFields => options.filterFields(type, directory);
      return readListeners(store, scope, { log, filterFields });
    },
    move: () => undefined,
  });

  const matches = async (
    scope: Scope,
    { endpoint, filter }: Subscriber,
    { createdAt }: EventRow,
    data: unknown,
    searched: Searched,
  ): Promise<boolean> =>
    filter === null ||
    fairQueue.run(scopeOf(scope.workspaceId, endpoint.id), () => filter(data, searched, createdAt));

  return {
    async listens(scope) {
      const { byType } = await of(scope);
      return { isAny: byType.now.size > 0, pastUntil: byType.pastUntil };
    },
    async wanting(scope, event, isMeant) {
      const wanting: Wanting[] = [];
      const subscribers = (await of(scope)).byType.at(event.sequence).get(event.type) ?? none;
      if (subscribers.length === 0) return wanting;
      const data = renderData(event);
      const searched = createSearched();
      for (const subscriber of subscribers) {
        const { endpoint } = subscriber;
        // An endpoint receives only events after its creation. Its ping already has a delivery.
        if (event.sequence <= endpoint.sinceSequence || isPingOf(endpoint.id, event)) continue;
        if (!isMeant(endpoint.id, event.sequence)) continue;
        if (await matches(scope, subscriber, event, data, searched)) wanting.push(endpoint);
      }
      return wanting;
    },
    async matches(scope, endpointId, event) {
      const subscriber = (await of(scope)).byType.now
        .get(event.type)
        ?.find(({ endpoint }) => endpoint.id === endpointId);
      if (!subscriber || isPingOf(endpointId, event)) return false;
      return matches(scope, subscriber, event, renderData(event), createSearched());
    },
    enabled: async (scope, endpointId) => (await of(scope)).endpoints.get(endpointId),
    enabledIds: async (scope) => new Set((await of(scope)).endpoints.keys()),
  };
}

interface Reading {
  readonly log: Log;
  readonly filterFields: (eventType: string) => FilterFields;
}

async function readListeners(store: Store, scope: Scope, reading: Reading): Promise<Listeners> {
  const endpoints = (await enabledEndpoints.all(store, scope, {})).map(endpointModel.fromRow);
  const past = await readPastSubscriptions<EndpointSubscription>(store, scope, consumerName);
  return {
    endpoints: new Map(endpoints.map((endpoint) => [endpoint.id, endpoint])),
    byType: erasOf<Wanting, EndpointSubscription, ByType>(
      endpoints,
      past,
      ({ id, subscription }) => ({ ...subscription, id }),
      (wanting) => byTypeOf(wanting, reading),
    ),
  };
}

function byTypeOf(endpoints: readonly Wanting[], reading: Reading): ByType {
  const byType = new Map<string, Subscriber[]>();
  const wanting = endpoints.filter(({ enabled }) => enabled);
  for (const [type, subscriber] of wanting.flatMap((endpoint) => subscribersOf(endpoint, reading))) {
    const known = byType.get(type);
    if (known) known.push(subscriber);
    else byType.set(type, [subscriber]);
  }
  return byType;
}

/** Event types with the same fields share one parsed filter. */
function subscribersOf(endpoint: Wanting, reading: Reading): [type: string, subscriber: Subscriber][] {
  const byFields = new Map<FilterFields, Subscriber>();
  const types = new Set(endpoint.events.flatMap(expandPattern));
  return [...types]
    .filter((type) => endpoint.namespaces.includes(namespaceOf(type)))
    .map((type) => {
      const fields = reading.filterFields(type);
      const subscriber = byFields.get(fields) ?? { endpoint, filter: filterOf(endpoint, fields, reading) };
      byFields.set(fields, subscriber);
      return [type, subscriber];
    });
}

function filterOf(endpoint: Wanting, fields: FilterFields, { log }: Reading): Subscriber['filter'] {
  if (endpoint.filter === null) return null;
  try {
    return passesOf(parseFilter(endpoint.filter, fields, 'filter', { wasTaken: true }), fields);
  } catch (error) {
    // The filter was valid at registration by the rules of that version; one invalid filter must not block the
    // workspace.
    log('error', 'webhook has an invalid filter', {
      webhookId: endpoint.id,
      error: errorForLog(error),
    });
    return () => false;
  }
}
