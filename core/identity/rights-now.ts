// What is left of the rights of a caller who asked for something that is done later: nothing of what was withdrawn since is done for them.
import type { Actor } from '../events/origin.ts';
import { commonRights, type Rights } from '../rights/rights.ts';
import { rightsForApp } from '../rights/roles.ts';
import { expandScopes } from '../rights/scopes.ts';
import { tenantStatement } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';
import { standingOf } from './standing.ts';

const keyNow = tenantStatement<{ scopes_json: string }>(
  'api_keys.scopes_now',
  `SELECT scopes_json FROM api_keys WHERE workspace_id = :ws AND id = :id AND revoked_at IS NULL
     AND (expires_at IS NULL OR expires_at > :now)`,
);

/** @returns null where the key has ended, or the member was removed; of who acts for no member, what they had */
export async function rightsNow(
  store: Store,
  scope: Scope,
  { actor, rights: had }: { readonly actor: Actor; readonly rights: Rights },
  nowMs: number,
): Promise<Rights | null> {
  const { kind, id, memberId } = actor;
  if (kind === 'plugin' || memberId === undefined) return had;
  const standing = await standingOf(store, scope, memberId);
  if (!standing) return null;
  const rights = commonRights(had, standing.rights);
  if (kind === 'app') return rightsForApp(rights);
  if (kind !== 'api_key') return rights;
  const key = await store.readOne(scope, keyNow, { id, now: nowMs });
  if (!key) return null;
  return commonRights(rights, {
    scopes: expandScopes(JSON.parse(key.scopes_json) as string[]),
    narrowed: null,
  });
}
