// Which endpoints of a workspace want which event, in memory. Loaded once per workspace, dropped when an endpoint changes.
import { LRUCache } from 'lru-cache';
import type { Change } from '../changes/change.ts';
import { expandPattern, namespaceOf } from '../events/catalogue.ts';
import { renderEvent, type EventRow } from '../events/event.ts';
import { matches, parseFilter, type FilterFields } from '../lib/filter.ts';
import type { Log } from '../lib/log.ts';
import { tenantStatement, type Row } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';
import { endpointKind, type Endpoint } from './endpoints/schema.ts';

const enabledEndpoints = tenantStatement<Row>(
  'endpoints.enabled',
  `SELECT ${endpointKind.select} FROM endpoints WHERE workspace_id = :ws AND deleted_at IS NULL AND enabled = 1 ORDER BY created_at, id`,
);
const workspacesMax = 1_000;

export interface Subscriber {
  readonly endpoint: Endpoint;
  /** @param data of the event, in its public shape */
  wants(data: unknown): boolean;
}

export interface Subscriptions {
  /** Whether any endpoint listens to any event. */
  listens(scope: Scope): Promise<boolean>;
  subscribers(scope: Scope, eventType: string): Promise<readonly Subscriber[]>;
  /** Whether an endpoint wants an event, whenever that happened. */
  wants(scope: Scope, endpointId: string, event: EventRow): Promise<boolean>;
  /** Undefined when deleted or disabled. */
  enabled(scope: Scope, endpointId: string): Promise<Endpoint | undefined>;
  moveAlong(workspaceId: string, changes: readonly Change[]): void;
}

interface Loaded {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly byType: ReadonlyMap<string, readonly Subscriber[]>;
}

const none: readonly Subscriber[] = [];

/** A ping goes to its endpoint in any case, whatever that subscribes to. */
export function isPingOf(endpointId: string, event: EventRow): boolean {
  return event.type === 'webhook.ping' && event.entityId === endpointId;
}

export function createSubscriptions(options: {
  store: Store;
  log: Log;
  filterFields: (eventType: string) => FilterFields;
}): Subscriptions {
  const loaded = new LRUCache<string, Loaded>({ max: workspacesMax });
  const generation = new Map<string, number>();

  const wantsOf = (endpoint: Endpoint, type: string): Subscriber['wants'] => {
    if (endpoint.filter === null) return () => true;
    const fields = options.filterFields(type);
    try {
      const filter = parseFilter(endpoint.filter, fields);
      return (data) => matches(filter, fields, data);
    } catch (error) {
      // Checked at registration, but by the fields of that day; one such endpoint must not hold up the workspace.
      options.log('error', 'a webhook has a filter that cannot be read', {
        webhookId: endpoint.id,
        type,
        error: String(error),
      });
      return () => false;
    }
  };

  const of = async (scope: Scope): Promise<Loaded> => {
    const known = loaded.get(scope.workspaceId);
    if (known) return known;
    const before = generation.get(scope.workspaceId);
    const endpoints = (await options.store.read(scope, enabledEndpoints)).map(endpointKind.fromRow);
    if (generation.get(scope.workspaceId) !== before) return of(scope);
    const byType = new Map<string, Subscriber[]>();
    for (const endpoint of endpoints)
      for (const type of new Set(endpoint.events.flatMap(expandPattern))) {
        if (!endpoint.namespaces.includes(namespaceOf(type))) continue;
        byType.set(type, [...(byType.get(type) ?? []), { endpoint, wants: wantsOf(endpoint, type) }]);
      }
    const made = { endpoints: new Map(endpoints.map((endpoint) => [endpoint.id, endpoint])), byType };
    loaded.set(scope.workspaceId, made);
    return made;
  };

  return {
    listens: async (scope) => (await of(scope)).byType.size > 0,
    subscribers: async (scope, eventType) => (await of(scope)).byType.get(eventType) ?? none,
    async wants(scope, endpointId, event) {
      const subscriber = (await of(scope)).byType
        .get(event.type)
        ?.find(({ endpoint }) => endpoint.id === endpointId);
      return !isPingOf(endpointId, event) && (subscriber?.wants(renderEvent(event).data) ?? false);
    },
    enabled: async (scope, endpointId) => (await of(scope)).endpoints.get(endpointId),
    moveAlong(workspaceId, changes) {
      if (!changes.some(({ kind }) => kind === endpointKind.name)) return;
      generation.set(workspaceId, (generation.get(workspaceId) ?? 0) + 1);
      loaded.delete(workspaceId);
    },
  };
}
