// Model of grants, and their creation by consent.
import type { CreationDeps } from '../../people/index.ts';
import { flag, plain } from '../../../kernel/changes/operations.ts';
import type { Change } from '../../../kernel/changes/change.ts';
import type { GuardedClass } from '../../../platform/lib/guarded-classes.ts';
import { modelOf, type EntityOf } from '../../../kernel/resource/model.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { systemOp } from '../../../platform/store/store.ts';
import { grant, type ClientType } from '../contract.ts';

const stored = {
  clientId: plain<string>('client_id'),
  clientName: plain<string>('client_name'),
  clientKind: plain<ClientType>('client_kind'),
  clientVerified: flag('client_verified'),
};
export type Grant = EntityOf<typeof grant, typeof stored>;

const markUsed = systemStatement(
  'oauth_clients.mark_used',
  'a client that registered itself belongs to the installation',
  'UPDATE oauth_clients SET used = 1 WHERE id = :id',
);

export const grantModel = modelOf(grant, {
  table: 'grants',
  stored,
  shows: {
    client: ({ clientId, clientName, clientKind, clientVerified }) => ({
      id: clientId,
      name: clientName,
      kind: clientKind,
      verified: clientVerified,
    }),
  },
  events(before, after) {
    if (!before) return ['grant.created'];
    return [before.revokedAt === after.revokedAt ? 'grant.updated' : 'grant.revoked'];
  },
  special: {
    // Marks a self-registered client as used, so that it is not removed.
    related: (_, before, { clientKind, clientId }) =>
      before || clientKind !== 'registered' ? {} : { last: [systemOp(markUsed, { id: clientId })] },
  },
});

export interface GrantTerms {
  readonly memberId: string;
  readonly client: {
    readonly id: string;
    readonly name: string;
    readonly kind: ClientType;
    /** True if an admin of this workspace registered the client, or the client is built in. */
    readonly verified: boolean;
  };
  /** Host or private-use scheme of the redirect URI; null for the device flow. */
  readonly redirectHost: string | null;
  readonly resource: 'api' | 'mcp';
  readonly scopes: readonly string[];
  readonly guarded: readonly GuardedClass[];
}

/**
 * Returns the change that creates a grant. Only the consent page may commit it, for a person who is signed in
 * as the member.
 */
export function newGrant(
  { ids, nowMs }: CreationDeps,
  { memberId, client, redirectHost, resource, scopes, guarded }: GrantTerms,
): Change & { readonly after: Grant } {
  const now = nowMs();
  return grantModel.create({
    id: ids.next(grant.id),
    memberId,
    redirectHost,
    resource,
    clientId: client.id,
    clientName: client.name,
    clientKind: client.kind,
    clientVerified: client.verified,
    scopes: [...new Set(scopes)],
    guarded: [...new Set(guarded)],
    lastUsedAt: null,
    revokedAt: null,
    createdAt: now,
    updatedAt: now,
  });
}
