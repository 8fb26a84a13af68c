// Finds the principal behind a key. Found keys are remembered; a commit that changes a key makes it be read again, so
// that revoking takes effect at once.
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Committer } from '../../changes/commit.ts';
import type { Authenticate, Principal } from '../../http/principal.ts';
import { expandScopes } from '../../rights/scopes.ts';
import { systemStatement } from '../../store/statement.ts';
import { scopeOf, type Store } from '../../store/store.ts';
import { usedEveryMs, type KeyUses } from './last-used.ts';
import { hashToken, prefixOf } from './token.ts';

interface KeyRow {
  workspace_id: string;
  id: string;
  name: string;
  secret_hash: string;
  scopes_json: string;
  member_id: string;
  expires_at: number | null;
  last_used_at: number | null;
}

const findKey = systemStatement<KeyRow>(
  'api_keys.by_prefix',
  'a token names its workspace only once it has been found',
  `SELECT k.workspace_id, k.id, k.name, k.secret_hash, k.scopes_json, k.member_id, k.expires_at, k.last_used_at
   FROM api_keys AS k JOIN members AS m ON m.workspace_id = k.workspace_id AND m.id = k.member_id
   WHERE k.prefix = :prefix AND k.revoked_at IS NULL AND m.deleted_at IS NULL`,
);

interface Known {
  readonly principal: Principal;
  readonly expiresAt: number;
  usedAt: number;
}

export function createAuthenticate(options: {
  store: Store;
  committer: Committer;
  nowMs: () => number;
  uses: Pick<KeyUses, 'note'>;
}): Authenticate {
  const { store, committer, nowMs, uses } = options;
  /** By the whole token: a hit needs no hashing, and the map is as secret as the memory of any request. */
  const known = new LRUCache<string, Known>({ max: 10_000 });
  let generation = 0;
  committer.onCommit((_, changes) => {
    if (!changes.some(({ kind }) => kind === 'api_key' || kind === 'member')) return;
    generation++;
    known.clear();
  });

  const noteUse = (key: Known, now: number): void => {
    if (now - key.usedAt < usedEveryMs) return;
    key.usedAt = now;
    uses.note(key.principal.scope, key.principal.tokenId);
  };

  const find = async (token: string): Promise<Principal | null> => {
    const prefix = prefixOf(token);
    if (prefix === null) return null;
    const started = generation;
    const [row] = await store.readSystem(findKey, { prefix });
    if (!row || !timingSafeEqual(Buffer.from(hashToken(token)), Buffer.from(row.secret_hash))) return null;
    const expiresAt = row.expires_at ?? Infinity;
    const now = nowMs();
    if (now >= expiresAt) return null;
    const principal: Principal = {
      scope: scopeOf(row.workspace_id, row.id),
      actor: { kind: 'api_key', id: row.id, name: row.name, memberId: row.member_id },
      scopes: expandScopes(JSON.parse(row.scopes_json) as string[]),
      narrowed: null,
      tokenId: row.id,
    };
    const found = { principal, expiresAt, usedAt: row.last_used_at ?? -Infinity };
    noteUse(found, now);
    if (started === generation) known.set(token, found);
    return principal;
  };

  return (token) => {
    const hit = known.get(token);
    if (!hit) return find(token);
    const now = nowMs();
    if (now >= hit.expiresAt) {
      known.delete(token);
      return null;
    }
    noteUse(hit, now);
    return hit.principal;
  };
}
