import { timingSafeEqual } from 'node:crypto';
import { commonRights } from '../../kernel/rights/rights.ts';
import { expandScopes } from '../../kernel/rights/table.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, type Store } from '../../platform/store/store.ts';
import { type FindToken, lastUsedIn, type UseRecorder, membershipOf } from '../people/index.ts';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { prefixOf } from './token.ts';

interface KeyRow {
  workspace_id: string;
  id: string;
  lineage_id: string | null;
  name: string;
  secret_hash: string;
  scopes_json: string;
  member_id: string;
  expires_at: number | null;
  last_used_at: number | null;
}

const findKey = systemStatement<KeyRow>(
  'api_keys.by_prefix',
  'the workspace of a token is known only after the look-up',
  `SELECT workspace_id, id, lineage_id, name, secret_hash, scopes_json, member_id, expires_at, last_used_at
   FROM api_keys WHERE prefix = :prefix AND revoked_at IS NULL`,
);

const setLastUsed = lastUsedIn('api_keys');

export function createFindKey(options: { store: Store; uses: UseRecorder }): FindToken {
  const { store, uses } = options;
  return async (token) => {
    const prefix = prefixOf(token);
    if (prefix === null) return null;
    const [row] = await store.readSystem(findKey, { prefix });
    if (!row || !timingSafeEqual(Buffer.from(tokenHash(token)), Buffer.from(row.secret_hash))) return null;
    const scope = scopeOf(row.workspace_id, row.id, row.member_id);
    const membership = await membershipOf(store, scope, row.member_id);
    if (!membership) return null;
    const scopes = expandScopes(JSON.parse(row.scopes_json) as string[]);
    return {
      principal: {
        scope,
        actor: { kind: 'api_key', id: row.id, name: row.name, memberId: row.member_id },
        ...commonRights({ scopes, narrowed: null }, membership.rights),
        tokenId: row.lineage_id ?? row.id,
        membership,
      },
      expiresAt: row.expires_at ?? Infinity,
      usedAt: row.last_used_at ?? -Infinity,
      noteUse: () => uses.note(setLastUsed, scope, row.id),
    };
  };
}
