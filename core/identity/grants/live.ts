// The grant behind a token, as it stands at this moment: a token whose grant, app or member has ended is good for nothing.
import { lastUsedIn } from '../last-used.ts';
import type { GuardedClass } from '../../lib/guarded.ts';
import { systemStatement } from '../../store/statement.ts';
import { scopeOf, type Scope, type Store } from '../../store/store.ts';
import { standingOf, type Standing } from '../standing.ts';
import type { ClientKind } from './contract.ts';

interface GrantRow {
  workspace_id: string;
  id: string;
  member_id: string;
  client_id: string;
  client_name: string;
  client_kind: ClientKind;
  resource: 'api' | 'mcp';
  scopes_json: string;
  guarded_json: string;
  last_used_at: number | null;
}

/** A client that is gone has no live grants, whether or not each was told so already. */
export const clientIsThere = `(client_kind = 'document'
  OR (client_kind = 'app' AND EXISTS (SELECT 1 FROM oauth_apps AS a WHERE a.id = client_id AND a.deleted_at IS NULL))
  OR (client_kind = 'registered' AND EXISTS (SELECT 1 FROM oauth_clients AS c WHERE c.id = client_id)))`;

const findGrant = systemStatement<GrantRow>(
  'grants.live',
  'a token names its grant, which says in which workspace it acts',
  `SELECT workspace_id, id, member_id, client_id, client_name, client_kind, resource, scopes_json, guarded_json, last_used_at
   FROM grants WHERE id = :id AND revoked_at IS NULL AND ${clientIsThere}`,
);

/** For `Uses`: by it a request of a grant is noted. */
export const setGrantUsed = lastUsedIn('grants');

export interface LiveGrant {
  readonly scope: Scope;
  readonly id: string;
  readonly memberId: string;
  /** What the member may do now. */
  readonly standing: Standing;
  readonly client: { readonly id: string; readonly name: string; readonly kind: ClientKind };
  readonly resource: 'api' | 'mcp';
  /** What was granted, without the reads that writes imply. */
  readonly scopes: readonly string[];
  readonly guarded: readonly GuardedClass[];
  /** Milliseconds since the epoch; null for never. */
  readonly lastUsedAt: number | null;
}

/** @returns null where it was revoked, its client is gone, or its member was removed */
export async function findLiveGrant(
  store: Pick<Store, 'readOne' | 'readSystem'>,
  id: string,
): Promise<LiveGrant | null> {
  const [row] = await store.readSystem(findGrant, { id });
  if (!row) return null;
  const scope = scopeOf(row.workspace_id, row.id);
  const standing = await standingOf(store, scope, row.member_id);
  if (!standing) return null;
  return {
    scope,
    id: row.id,
    memberId: row.member_id,
    standing,
    client: { id: row.client_id, name: row.client_name, kind: row.client_kind },
    resource: row.resource,
    scopes: JSON.parse(row.scopes_json) as string[],
    guarded: JSON.parse(row.guarded_json) as GuardedClass[],
    lastUsedAt: row.last_used_at,
  };
}
