// Webhook endpoints: where events go, which of them, and whether deliveries are made.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind, flag, json } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, id, named, nullable, time, version } from '../../lib/schema.ts';
import { payloadVersions, type PayloadVersion } from '../payload.ts';
import type { PreviousSecret } from '../secret.ts';
import { addressField, shownAddress, type Address } from './address.ts';

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
const ordering = Type.Enum(['none', 'entity'], {
  description:
    'With `entity`, events of one issue (or other object) are delivered one after the other: a failing one holds back those behind it. A change holds for deliveries made from then on.',
});
const payloadVersion = Type.Enum([...payloadVersions], {
  description: 'The shape of the payload. It stays until this is changed, whatever newer shapes come.',
});
const filter = Type.Record(Type.String(), Type.Unknown(), {
  description: "A filter tree over the issue's fields, as in the list of issues.",
});

export const EndpointShown = named(
  'Webhook',
  Closed({
    id: id('endpoint'),
    url: Type.String({
      description: 'The values of its query may be secrets: each is shown as `…`.',
    }),
    description,
    events: Type.Array(Type.String()),
    filter: nullable(filter),
    ordering,
    payloadVersion,
    enabled: Type.Boolean(),
    disabledReason: nullable(Type.String()),
    secretSince: { ...time, description: 'Since when the signing secret is in use.' },
    previousSecretExpiresAt: nullable({
      ...time,
      description: 'Until when deliveries are signed with the secret before as well.',
    }),
    previousSecretLastSucceededAt: nullable({
      ...time,
      description: 'When the secret before had last signed a delivery that succeeded, as of its rotation.',
    }),
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
  ordering: Type.Optional(ordering),
  payloadVersion: Type.Optional(payloadVersion),
});
export const EndpointUpdate = Closed({
  url: Type.Optional(url),
  events: Type.Optional(events),
  description: Type.Optional(description),
  filter: Type.Optional(nullable(filter)),
  ordering: Type.Optional(ordering),
  payloadVersion: Type.Optional(payloadVersion),
  enabled: Type.Optional(Type.Boolean()),
});

export const SecretRotate = Closed({
  overlapHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 168,
      default: 24,
      description: 'How long earlier secrets go on signing beside the new one; 0 ends them at once.',
    }),
  ),
});
export const SecretRotated = named(
  'WebhookSecretRotated',
  Closed({
    id: id('endpoint'),
    secret: Type.String({ description: 'Signs from now on. It is shown this once.' }),
    previousSecretExpiresAt: time,
    version,
  }),
);

export interface Endpoint extends Entity {
  readonly address: Address;
  readonly description: string;
  readonly events: readonly string[];
  /** The event namespaces its registrar could read when it subscribed: a later version's `*` covers no more. */
  readonly namespaces: readonly string[];
  readonly filter: Readonly<Record<string, unknown>> | null;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly ordering: 'none' | 'entity';
  readonly payloadVersion: PayloadVersion;
  readonly secretSealed: Uint8Array;
  /** When the secret was made. */
  readonly secretSince: number;
  /** Those before, newest first; each signs until it expires. */
  readonly previousSecrets: readonly PreviousSecret[];
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
    address: addressField,
    description: 'description',
    events: json('events_json'),
    namespaces: json('namespaces_json'),
    filter: json('filter_json'),
    enabled: flag('enabled'),
    disabledReason: 'disabled_reason',
    ordering: 'ordering',
    payloadVersion: 'payload_version',
    secretSealed: { column: 'secret_sealed', read: (value) => new Uint8Array(value as Uint8Array) },
    secretSince: 'secret_since',
    previousSecrets: json('previous_secrets_json'),
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
    url: shownAddress(endpoint),
    description: endpoint.description,
    events: [...endpoint.events],
    filter: endpoint.filter,
    ordering: endpoint.ordering,
    payloadVersion: endpoint.payloadVersion,
    enabled: endpoint.enabled,
    disabledReason: endpoint.disabledReason,
    secretSince: isoTime(endpoint.secretSince),
    previousSecretExpiresAt: isoTime(endpoint.previousSecrets[0]?.expiresAt ?? null),
    previousSecretLastSucceededAt: isoTime(endpoint.previousSecrets[0]?.lastSucceededAt ?? null),
    version: endpoint.version,
    createdAt: isoTime(endpoint.createdAt),
    updatedAt: isoTime(endpoint.updatedAt),
  }),
  events(before, after) {
    if (!before) return ['webhook.created'];
    if (after.deletedAt !== null) return ['webhook.deleted'];
    if (after.secretSealed !== before.secretSealed) return ['webhook.secret_rotated'];
    return before.enabled && !after.enabled ? ['webhook.disabled'] : ['webhook.updated'];
  },
});

/** Whether a change of an endpoint makes its past failures say nothing of its future. */
export function isForgiven(
  before: Pick<Endpoint, 'address' | 'enabled'>,
  after: Pick<Endpoint, 'address' | 'enabled'>,
): boolean {
  return (after.enabled && !before.enabled) || after.address !== before.address;
}
