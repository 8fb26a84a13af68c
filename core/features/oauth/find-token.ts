// Resolves an OAuth access token to its principal, an app that acts for a member, without the protocol
// library. The rights are the intersection of those of the token, the grant and the role of the member.
import type { GuardedClass } from '../../platform/lib/guarded-classes.ts';
import { type FindToken, type UseRecorder, membershipOf } from '../people/index.ts';
import { clientIsThere, setGrantUsed } from './grants/live.ts';
import { commonRights, type Rights } from '../../kernel/rights/rights.ts';
import { expandScopes } from '../../kernel/rights/table.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, type Store } from '../../platform/store/store.ts';
import type { ProtectedResource } from './resources.ts';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { looksIssued } from './tokens.ts';

interface AccessTokenRow {
  workspace_id: string;
  scope: string;
  expires_at: number;
  grant_id: string;
  member_id: string;
  client_id: string;
  client_name: string;
  resource: ProtectedResource;
  scopes_json: string;
  guarded_json: string;
  last_used_at: number | null;
}

const findAccess = systemStatement<AccessTokenRow>(
  'oauth_tokens.access',
  'the workspace of a token is known only after the look-up',
  `SELECT t.workspace_id, t.scope, t.expires_at, t.grant_id, g.member_id, g.client_id, g.client_name, g.resource, g.scopes_json,
     g.guarded_json, g.last_used_at
   FROM oauth_tokens AS t JOIN grants AS g ON g.workspace_id = t.workspace_id AND g.id = t.grant_id
   WHERE t.id = :hash AND t.kind = 'AccessToken' AND g.revoked_at IS NULL AND ${clientIsThere('g')}`,
);

export function createFindAccessToken(options: { store: Store; uses: UseRecorder }): FindToken {
  const { store, uses } = options;
  return async (token) => {
    if (!looksIssued('AccessToken', token)) return null;
    const [row] = await store.readSystem(findAccess, { hash: tokenHash(token) });
    if (!row) return null;
    const scope = scopeOf(row.workspace_id, row.grant_id, `${row.member_id} apps`);
    const membership = await membershipOf(store, scope, row.member_id);
    if (!membership) return null;
    const granted = commonRights(whole(JSON.parse(row.scopes_json) as string[]), whole(row.scope.split(' ')));
    return {
      principal: {
        scope,
        actor: { kind: 'app', id: row.client_id, name: row.client_name, memberId: row.member_id },
        ...commonRights(granted, membership.rights),
        tokenId: row.grant_id,
        grant: {
          id: row.grant_id,
          resource: row.resource,
          guarded: JSON.parse(row.guarded_json) as GuardedClass[],
        },
      },
      expiresAt: row.expires_at,
      usedAt: row.last_used_at ?? -Infinity,
      noteUse: () => uses.note(setGrantUsed, scope, row.grant_id),
    };
  };
}

const whole = (scopes: readonly string[]): Rights => ({ scopes: expandScopes(scopes), narrowed: null });
