// How webhook endpoints are stored and announced: their address and secrets rest sealed.
import { json, plain, type Column } from '../../changes/columns.ts';
import { isoTime } from '../../changes/operations.ts';
import { kindOf, type EntityOf } from '../../resource/kind.ts';
import { switchOps } from '../deliveries/off.ts';
import type { PreviousSecret } from '../secret.ts';
import { addressField, shownAddress } from './address.ts';
import { webhook } from './contract.ts';
import { keepPastWants } from './wants.ts';

const secretSealed: Column<Uint8Array> = {
  column: 'secret_sealed',
  read: (value) => new Uint8Array(value as Uint8Array),
};

const kept = {
  address: addressField,
  /** The event namespaces its registrar could read when it subscribed: a later version's `*` covers no more. */
  namespaces: json<readonly string[]>('namespaces_json'),
  secretSealed,
  /** Those before, newest first; each signs until it expires. */
  previousSecrets: json<readonly PreviousSecret[]>('previous_secrets_json'),
  /** The member with whose right it ends, and the key that made it; null where an earlier version did. */
  makerId: plain<string | null>('maker_id'),
  madeWith: plain<string | null>('made_with'),
  /** The last event before its registration, set by the insert: it hears of what comes after. */
  sinceSequence: plain<number>('since_sequence'),
};
export type Endpoint = EntityOf<typeof webhook, typeof kept>;

export const endpointKind = kindOf(webhook, {
  table: 'endpoints',
  kept,
  shows: {
    url: shownAddress,
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
      before ? { first: keepPastWants(scope, before, after), last: switchOps(scope, before, after) } : {},
  },
});

/** Whether a change of an endpoint makes its past failures say nothing of its future. */
export function isForgiven(
  before: Pick<Endpoint, 'address' | 'enabled'>,
  after: Pick<Endpoint, 'address' | 'enabled'>,
): boolean {
  return (after.enabled && !before.enabled) || after.address !== before.address;
}
