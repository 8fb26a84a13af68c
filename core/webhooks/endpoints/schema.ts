// Webhook endpoints: where events go, which of them, and whether deliveries are made.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind, flag, json } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, id, named, nullable, time, version } from '../../lib/schema.ts';

const url = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'An https address; http only where the operator allows the network.',
});
const events = Type.Array(
  Type.String({
    pattern: '^(\\*|[a-z_]+\\.(\\*|[a-z_]+))$',
    description: 'An event type, a namespace such as `issue.*`, or `*`.',
  }),
  { minItems: 1, maxItems: 100, uniqueItems: true },
);
const description = Type.String({ maxLength: 500 });
const filter = Type.Record(Type.String(), Type.Unknown(), {
  description: "A filter tree over the issue's fields, as in the list of issues.",
});

export const EndpointShown = named(
  'Webhook',
  Closed({
    id: id('endpoint'),
    url,
    description,
    events: Type.Array(Type.String()),
    filter: nullable(filter),
    enabled: Type.Boolean(),
    disabledReason: nullable(Type.String()),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);
export const EndpointCreated = named(
  'WebhookCreated',
  Closed({
    id: id('endpoint'),
    url,
    events: Type.Array(Type.String()),
    enabled: Type.Boolean(),
    secret: Type.String({ description: 'Signs each delivery. It is shown this once.' }),
  }),
);
export const EndpointCreate = Closed({
  url,
  events,
  description: Type.Optional(description),
  filter: Type.Optional(nullable(filter)),
});
export const EndpointUpdate = Closed({
  url: Type.Optional(url),
  events: Type.Optional(events),
  description: Type.Optional(description),
  filter: Type.Optional(nullable(filter)),
  enabled: Type.Optional(Type.Boolean()),
});

export interface Endpoint extends Entity {
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  /** The event namespaces its registrar could read when it subscribed: a later version's `*` covers no more. */
  readonly namespaces: readonly string[];
  readonly filter: Readonly<Record<string, unknown>> | null;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly secretSealed: Uint8Array;
  /** The last event before its registration, set by the insert: it hears of what comes after. */
  readonly sinceSequence: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
}

export const endpointKind = defineKind<Endpoint, Static<typeof EndpointShown>>({
  name: 'webhook',
  table: 'endpoints',
  fields: {
    url: 'url',
    description: 'description',
    events: json('events_json'),
    namespaces: json('namespaces_json'),
    filter: json('filter_json'),
    enabled: flag('enabled'),
    disabledReason: 'disabled_reason',
    secretSealed: { column: 'secret_sealed', read: (value) => new Uint8Array(value as Uint8Array) },
    sinceSequence: 'since_sequence',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    deletedAt: 'deleted_at',
  },
  insertExpressions: {
    since_sequence: '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)',
  },
  wire: (endpoint) => ({
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    events: [...endpoint.events],
    filter: endpoint.filter,
    enabled: endpoint.enabled,
    disabledReason: endpoint.disabledReason,
    version: endpoint.version,
    createdAt: isoTime(endpoint.createdAt),
    updatedAt: isoTime(endpoint.updatedAt),
  }),
  events(before, after) {
    if (!before) return ['webhook.created'];
    if (after.deletedAt !== null) return ['webhook.deleted'];
    return before.enabled && !after.enabled ? ['webhook.disabled'] : ['webhook.updated'];
  },
});

/** Whether a change of an endpoint makes its past failures say nothing of its future. */
export function isForgiven(
  before: Pick<Endpoint, 'url' | 'enabled'>,
  after: Pick<Endpoint, 'url' | 'enabled'>,
): boolean {
  return (after.enabled && !before.enabled) || after.url !== before.url;
}
