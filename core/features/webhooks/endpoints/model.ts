// Storage and events of webhook endpoints. A change stores the previous subscription, so that each event is
// matched against the subscription at its time.
import { sameValue } from '../../../kernel/changes/change.ts';
import { storeSubscriptionOp } from '../../../kernel/events/consumers/past-subscriptions.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';
import { json, plain, type Column, isoTime } from '../../../kernel/changes/operations.ts';
import { modelOf, type EntityOf } from '../../../kernel/resource/model.ts';
import { switchOps } from '../deliveries/canceler.ts';
import { type PreviousSecret, addressField, displayAddress, openAddress } from './secrets.ts';
import { webhook } from './contract.ts';

/** Name of the consumer that turns events into deliveries. */
export const consumerName = 'webhooks';

/** Properties that decide which events an endpoint receives, and in which order. */
export interface EndpointSubscription {
  readonly enabled: boolean;
  readonly events: readonly string[];
  readonly namespaces: readonly string[];
  readonly filter: unknown;
  readonly ordering: 'none' | 'entity';
  readonly sinceSequence: number;
}

type Stored = EndpointSubscription & { readonly id: string; readonly deletedAt: number | null };

function subscriptionOf({
  enabled,
  deletedAt,
  events,
  namespaces,
  filter,
  ordering,
  sinceSequence,
}: Stored): EndpointSubscription {
  return { enabled: enabled && deletedAt === null, events, namespaces, filter, ordering, sinceSequence };
}

/** Returns the ops that store the previous subscription, for the batch of the change, before its events. */
function storePastSubscription(scope: Scope, before: Stored, after: Stored): Op[] {
  const [previous, subscription] = [subscriptionOf(before), subscriptionOf(after)];
  return sameValue(previous, subscription)
    ? []
    : [storeSubscriptionOp(scope, consumerName, before.id, previous)];
}

const secretSealed: Column<Uint8Array> = {
  column: 'secret_sealed',
  read: (value) => new Uint8Array(value as Uint8Array),
};

const stored = {
  address: addressField,
  /** Event namespaces the owner could read when subscribing; `*` does not cover namespaces of later versions. */
  namespaces: json<readonly string[]>('namespaces_json'),
  secretSealed,
  /** Previous secrets, newest first; each signs until it expires. */
  previousSecrets: json<readonly PreviousSecret[]>('previous_secrets_json'),
  /**
   * Owner and the API key used, if any. The endpoint is disabled when the owner loses the permission or the key is
   * revoked. Null if the operator created it.
   */
  createdBy: plain<string | null>('created_by'),
  createdWith: plain<string | null>('created_with'),
  /** Last sequence before creation, set by the insert; only later events are delivered. */
  sinceSequence: plain<number>('since_sequence'),
};
export type Endpoint = EntityOf<typeof webhook, typeof stored>;

export const endpointModel = modelOf(webhook, {
  table: 'endpoints',
  stored,
  shows: {
    url: displayAddress,
    previousSecretExpiresAt: ({ previousSecrets }) => isoTime(previousSecrets[0]?.expiresAt ?? null),
    previousSecretLastSucceededAt: ({ previousSecrets }) =>
      isoTime(previousSecrets[0]?.lastSucceededAt ?? null),
  },
  events(before, after) {
    if (!before) return ['webhook.created'];
    if (after.deletedAt !== null) return ['webhook.deleted'];
    if (after.secretSealed !== before.secretSealed) return ['webhook.secret_rotated'];
    return before.enabled && !after.enabled ? ['webhook.disabled'] : ['webhook.updated'];
  },
  follows: { from: 'enabled', fields: ['disabledReason'] },
  inputs: {
    address: {
      name: 'url',
      valueOf: (endpoint, { sealing, workspaceId }) => openAddress(sealing, workspaceId, endpoint),
    },
  },
  insertExpressions: {
    since_sequence: '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)',
  },
  related: (scope, before, after) =>
    before
      ? { first: storePastSubscription(scope, before, after), last: switchOps(scope, before, after) }
      : {},
});

/** Returns true if a change makes past failures of the endpoint irrelevant. */
export function isForgiven(before: Endpoint, after: Endpoint): boolean {
  return (after.enabled && !before.enabled) || after.address !== before.address;
}
