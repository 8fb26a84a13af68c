// Text of API keys: `ttm_<prefix>_<secret>` (docs/spec/api.md › Authentication). The prefix is a public
// look-up id. The secret ends in a checksum, so that a mistyped key is rejected without a look-up. Only the
// SHA-256 of the key is stored: 190 random bits need no slower hash.
import { checksum, randomText, tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { timingSafeEqual } from 'node:crypto';
import { commonRights } from '../../kernel/rights/rights.ts';
import { expandScopes } from '../../kernel/rights/table.ts';
import type { Principal, ResumeCredential } from '../../kernel/http/principal.ts';
import { systemStatement, tenantStatement } from '../../platform/store/statement.ts';
import { scopeOf, type Store } from '../../platform/store/store.ts';
import { type FindToken, lastUsedIn, type UseRecorder, membershipOf } from '../people/index.ts';
import type { Schema } from '../../platform/store/generated/schema.ts';
import { apiKey } from './contract.ts';

const prefixLength = 10;
const secretLength = 32;

interface Token {
  readonly prefix: string;
  readonly text: string;
  readonly hash: string;
}

export function mintToken(): Token {
  const prefix = randomText(prefixLength);
  const secret = randomText(secretLength);
  const text = `ttm_${prefix}_${secret}${checksum(`${prefix}_${secret}`)}`;
  return { prefix, text, hash: tokenHash(text) };
}

/** @returns null for a text that is not a key with a valid checksum */
export function prefixOf(text: string): string | null {
  const match = /^ttm_([0-9A-Za-z]{10})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text);
  if (!match) return null;
  const [, prefix, secret, sum] = match;
  return checksum(`${prefix}_${secret}`) === sum ? prefix! : null;
}

/**
 * Returns the prefix of a key or of `ttm_<prefix>`, without checking the secret.
 * @returns null for other texts
 */
export function publicPartOf(text: string): string | null {
  return /^ttm_([0-9A-Za-z]{10})(?:_|$)/.exec(text)?.[1] ?? null;
}

const columns = [
  ...(['workspace_id', 'id', 'lineage_id', 'name', 'secret_hash'] as const),
  ...(['scopes_json', 'member_id', 'expires_at', 'last_used_at'] as const),
] as const;
type KeyRow = Pick<Schema['api_keys'], (typeof columns)[number]>;
const findKey = systemStatement<KeyRow>(
  'api_keys.by_prefix',
  'the workspace of a token is known only after the look-up',
  `SELECT ${columns.join(', ')} FROM api_keys WHERE prefix = :prefix AND revoked_at IS NULL`,
);

const findKeyById = tenantStatement<KeyRow>(
  'api_keys.by_id',
  `SELECT ${columns.join(', ')} FROM api_keys WHERE workspace_id = :ws AND id = :id AND revoked_at IS NULL`,
);

const setLastUsed = lastUsedIn('api_keys');

export function createFindKey(options: { store: Store; uses: UseRecorder }): FindToken {
  const { store, uses } = options;
  return async (token) => {
    const prefix = prefixOf(token);
    if (prefix === null) return null;
    const [row] = await store.readSystem(findKey, { prefix });
    if (!row || !timingSafeEqual(Buffer.from(tokenHash(token)), Buffer.from(row.secret_hash))) return null;
    const principal = await principalOf(store, row);
    return (
      principal && {
        principal,
        expiresAt: row.expires_at ?? Infinity,
        usedAt: row.last_used_at ?? -Infinity,
        noteUse: () => uses.note(setLastUsed, principal.scope, row.id),
      }
    );
  };
}

export function createResumeKey(options: { store: Store; nowMs: () => number }): ResumeCredential {
  const { store, nowMs } = options;
  return async (workspaceId, id) => {
    if (!id.startsWith(`${apiKey.id}_`)) return null;
    const [row] = await store.read(scopeOf(workspaceId, id), findKeyById, { id });
    return row && nowMs() < (row.expires_at ?? Infinity) ? principalOf(store, row) : null;
  };
}

/** @returns null if the member was removed */
async function principalOf(store: Store, row: KeyRow): Promise<Principal | null> {
  const scope = scopeOf(row.workspace_id, row.id, row.member_id);
  const membership = await membershipOf(store, scope, row.member_id);
  if (!membership) return null;
  const scopes = expandScopes(JSON.parse(row.scopes_json) as string[]);
  return {
    scope,
    actor: { kind: 'api_key', id: row.id, name: row.name, memberId: row.member_id },
    ...commonRights({ scopes, narrowed: null }, membership.rights),
    tokenId: row.lineage_id ?? row.id,
    membership,
  };
}
