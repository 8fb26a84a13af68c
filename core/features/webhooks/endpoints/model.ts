// Storage and events of webhook endpoints. Their address and secrets are stored sealed.
import { json, plain, type Column, isoTime } from '../../../kernel/changes/operations.ts';
import { modelOf, type EntityOf } from '../../../kernel/resource/model.ts';
import { switchOps } from '../deliveries/off.ts';
import type { PreviousSecret } from '../secret.ts';
import { addressField, displayAddress } from './address.ts';
import { webhook } from './contract.ts';
import { storePastSubscription } from './subscription.ts';

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
  makerId: plain<string | null>('maker_id'),
  madeWith: plain<string | null>('made_with'),
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
  special: {
    insertExpressions: {
      since_sequence: '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)',
    },
    related: (scope, before, after) =>
      before
        ? { first: storePastSubscription(scope, before, after), last: switchOps(scope, before, after) }
        : {},
  },
});

/** Returns true if a change makes past failures of the endpoint irrelevant. */
export function isForgiven(before: Endpoint, after: Endpoint): boolean {
  return (after.enabled && !before.enabled) || after.address !== before.address;
}
