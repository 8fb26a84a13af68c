// Stores the hash and the encrypted payload of tokens, so that a leaked database grants no access.
import { randomBytes } from 'node:crypto';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { type IdentityDeps, type FindToken, type UseRecorder, membershipOf } from '../people/index.ts';
import { setGrantUsed, clientIsThere } from './grants.ts';
import { sealedFor } from '../../platform/lib/secrets/sealing.ts';
import type { Principal, ResumeCredential } from '../../kernel/http/principal.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, systemOp, tenantOp, type Op, type Store } from '../../platform/store/store.ts';
import { refOf, type GrantRef } from './grant-requests.ts';
import type { GuardedClass } from '../../platform/lib/guarded-classes.ts';
import { commonRights, type Rights } from '../../kernel/rights/rights.ts';
import { expandScopes } from '../../kernel/rights/table.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import type { Schema } from '../../platform/store/generated/schema.ts';
import { grant as grantContract } from './contract.ts';
import type { grantTable } from './tables.ts';

/** Token data of the protocol library. */
type Payload = Readonly<Record<string, unknown>>;

export interface StoredToken {
  readonly payload: Payload;
  readonly grant: GrantRef | null;
  readonly isConsumed: boolean;
  /** Milliseconds since the epoch; null for a token that does not expire. */
  readonly expiresAt: number | null;
}

const why = 'the workspace of a token is known only after the look-up';
const read = ['id', 'workspace_id', 'grant_id', 'payload_sealed', 'consumed_at', 'expires_at'] as const;
type TokenRow = Pick<Schema['oauth_tokens'], (typeof read)[number]>;
const columns = read.join(', ');

const putToken = systemStatement(
  'oauth_tokens.put',
  why,
  `INSERT INTO oauth_tokens (id, kind, workspace_id, grant_id, scope, user_code_tag, payload_sealed, expires_at)
   VALUES (:id, :kind, :workspace, :grant, :scope, :tag, :sealed, :expires)
   ON CONFLICT (id) DO UPDATE SET workspace_id = :workspace, grant_id = :grant, scope = :scope,
     payload_sealed = :sealed, expires_at = :expires`,
);
const findToken = systemStatement<TokenRow>(
  'oauth_tokens.by_id',
  why,
  `SELECT ${columns} FROM oauth_tokens WHERE id = :id AND kind = :kind`,
);
const findByTag = systemStatement<TokenRow>(
  'oauth_tokens.by_user_code',
  why,
  `SELECT ${columns} FROM oauth_tokens WHERE user_code_tag = :tag AND kind = :kind`,
);
const consumeToken = systemStatement(
  'oauth_tokens.consume',
  why,
  'UPDATE oauth_tokens SET consumed_at = :now WHERE id = :id AND consumed_at IS NULL',
);
const decideToken = systemStatement(
  'oauth_tokens.decide',
  why,
  'UPDATE oauth_tokens SET decided_at = :now WHERE id = :id AND decided_at IS NULL AND consumed_at IS NULL',
);
const removeToken = systemStatement('oauth_tokens.remove', why, 'DELETE FROM oauth_tokens WHERE id = :id');

const useOp = ({ workspaceId, id }: GrantRef, now: number): Op =>
  tenantOp(scopeOf(workspaceId), setGrantUsed, { id, at: now });

export interface Tokens {
  find(kind: string, token: string): Promise<StoredToken | null>;
  findByUserCode(kind: string, code: string): Promise<StoredToken | null>;
  /**
   * Inserts or updates a token.
   * @param seconds lifetime from now; undefined for no expiry
   */
  put(kind: string, token: string, payload: Payload, seconds: number | undefined): Promise<void>;
  /**
   * Marks a token as used. Exactly one of several concurrent calls succeeds.
   * @returns false if the token was used before
   */
  consume(token: string): Promise<boolean>;
  /** Returns an operation that marks a request as decided, and fails if a decision exists. */
  decideOp(token: string): Op;
  remove(token: string): Promise<void>;
}

export function createTokens({ store, sealing, nowMs }: IdentityDeps): Tokens {
  const tagOf = (code: string): string => sealing.sign(code, 'oauth-user-code');
  const opened = (row: TokenRow | undefined): StoredToken | null => {
    if (!row) return null;
    const text = sealing.open(row.payload_sealed, sealedFor('oauth-token', row.workspace_id, row.id));
    const grant = row.grant_id === null ? null : { workspaceId: row.workspace_id, id: row.grant_id };
    return {
      payload: JSON.parse(text) as Payload,
      grant,
      isConsumed: row.consumed_at !== null,
      expiresAt: row.expires_at,
    };
  };
  const closed = (token: string, payload: Payload) => {
    const id = tokenHash(token);
    const grant = typeof payload.grantId === 'string' ? refOf(payload.grantId) : null;
    const workspaceId = grant?.workspaceId ?? '';
    // The decision on a user code requires the text of the device code, which the browser does not send.
    const jti = 'userCode' in payload ? token : undefined;
    const text = JSON.stringify({ ...payload, jti });
    return { id, grant, workspaceId, sealed: sealing.seal(text, sealedFor('oauth-token', workspaceId, id)) };
  };

  return {
    async find(kind, token) {
      const [row] = await store.readSystem(findToken, { kind, id: tokenHash(token) });
      return opened(row);
    },
    async findByUserCode(kind, code) {
      const [row] = await store.readSystem(findByTag, { kind, tag: tagOf(code) });
      return opened(row);
    },
    async put(kind, token, payload, seconds) {
      const { id, grant, workspaceId, sealed } = closed(token, payload);
      const now = nowMs();
      const { scope, userCode } = payload;
      const put = systemOp(putToken, {
        id,
        kind,
        sealed,
        workspace: workspaceId,
        grant: grant?.id ?? null,
        scope: kind === 'AccessToken' ? String(scope) : null,
        tag: typeof userCode === 'string' ? tagOf(userCode) : null,
        expires: seconds === undefined ? null : now + seconds * 1000,
      });
      // Token requests count as a use of the grant.
      const used = grant && kind === 'AccessToken' ? [useOp(grant, now)] : [];
      const outcome = await store.commit([...used, put]);
      if (!outcome.ok) throw new Error(`Could not store a ${kind}: ${outcome.message}`);
    },
    async consume(token) {
      const op = systemOp(consumeToken, { id: tokenHash(token), now: nowMs() }, { expectRows: 1 });
      return (await store.commit([op])).ok;
    },
    decideOp: (token) => systemOp(decideToken, { id: tokenHash(token), now: nowMs() }, { expectRows: 1 }),
    async remove(token) {
      await store.commit([systemOp(removeToken, { id: tokenHash(token) })]);
    },
  };
}

/** Secret scanners recognize these prefixes; 256 random bits follow. */
const prefixes = { AccessToken: 'tta_', RefreshToken: 'ttr_' } as const;

export function mintText(tokenType: keyof typeof prefixes): string {
  return prefixes[tokenType] + randomBytes(32).toString('base64url');
}

function looksIssued(tokenType: keyof typeof prefixes, text: string): boolean {
  return text.startsWith(prefixes[tokenType]) && text.length === 47;
}

type Grant = RowOf<typeof grantTable>;
type AccessTokenRow = Pick<
  Grant,
  'member_id' | 'client_id' | 'client_name' | 'resource' | 'scopes_json' | 'guarded_json' | 'last_used_at'
> & {
  readonly workspace_id: string;
  readonly scope: string;
  readonly expires_at: number;
  readonly grant_id: string;
};

const findAccess = systemStatement<AccessTokenRow>(
  'oauth_tokens.access',
  'the workspace of a token is known only after the look-up',
  `SELECT t.workspace_id, t.scope, t.expires_at, t.grant_id, g.member_id, g.client_id, g.client_name, g.resource, g.scopes_json,
     g.guarded_json, g.last_used_at
   FROM oauth_tokens AS t JOIN grants AS g ON g.workspace_id = t.workspace_id AND g.id = t.grant_id
   WHERE t.id = :hash AND t.kind = 'AccessToken' AND g.revoked_at IS NULL AND ${clientIsThere('g')}`,
);

type GrantRow = Omit<AccessTokenRow, 'scope' | 'expires_at'>;
const findGrant = systemStatement<GrantRow>(
  'grants.to_resume',
  'the clients of grants belong to the installation',
  `SELECT g.workspace_id, g.id AS grant_id, g.member_id, g.client_id, g.client_name, g.resource, g.scopes_json, g.guarded_json,
     g.last_used_at
   FROM grants AS g WHERE g.workspace_id = :workspace AND g.id = :id AND g.revoked_at IS NULL AND ${clientIsThere('g')}`,
);

/**
 * Resolves an access token to its principal, an app that acts for a member, without the protocol library. The
 * rights are the intersection of those of the token, the grant and the role of the member.
 */
export function createFindAccessToken(options: { store: Store; uses: UseRecorder }): FindToken {
  const { store, uses } = options;
  return async (token) => {
    if (!looksIssued('AccessToken', token)) return null;
    const [row] = await store.readSystem(findAccess, { hash: tokenHash(token) });
    if (!row) return null;
    const granted = commonRights(whole(JSON.parse(row.scopes_json) as string[]), whole(row.scope.split(' ')));
    const principal = await principalOf(store, row, granted);
    return (
      principal && {
        principal,
        expiresAt: row.expires_at,
        usedAt: row.last_used_at ?? -Infinity,
        noteUse: () => uses.note(setGrantUsed, principal.scope, row.grant_id),
      }
    );
  };
}

/** The rights are those of the grant and the role, because the token that was used first is unknown. */
export function createResumeGrant({ store }: { store: Store }): ResumeCredential {
  return async (workspaceId, id) => {
    if (!id.startsWith(`${grantContract.id}_`)) return null;
    const [row] = await store.readSystem(findGrant, { workspace: workspaceId, id });
    return row ? principalOf(store, row, whole(JSON.parse(row.scopes_json) as string[])) : null;
  };
}

/** @returns null if the member was removed */
async function principalOf(store: Store, row: GrantRow, granted: Rights): Promise<Principal | null> {
  const scope = scopeOf(row.workspace_id, row.grant_id, `${row.member_id} apps`);
  const membership = await membershipOf(store, scope, row.member_id);
  return (
    membership && {
      scope,
      actor: { kind: 'app', id: row.client_id, name: row.client_name, memberId: row.member_id },
      ...commonRights(granted, membership.rights),
      tokenId: row.grant_id,
      grant: {
        id: row.grant_id,
        resource: row.resource,
        guarded: JSON.parse(row.guarded_json) as GuardedClass[],
      },
    }
  );
}

const whole = (scopes: readonly string[]): Rights => ({ scopes: expandScopes(scopes), narrowed: null });
