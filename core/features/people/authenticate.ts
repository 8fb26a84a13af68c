// Resolves tokens to principals and caches the results. A commit that changes a key, grant, app, member or
// team clears the cache, so that a revocation applies to the next request.
import type { IdentityDeps } from './deps.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { tenantStatement, type Statement } from '../../platform/store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope } from '../../platform/store/store.ts';
import { createLru } from '../../platform/lib/lru.ts';
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Authenticate, Principal, ResumeCredential } from '../../kernel/http/principal.ts';
import { rightsForApp } from '../../kernel/rights/roles.ts';

interface AuthenticatedToken {
  readonly principal: Principal;
  /** Milliseconds since the epoch; Infinity for a token that does not expire. */
  readonly expiresAt: number;
  /** Time of the last recorded use, ms since the epoch. */
  readonly usedAt: number;
  noteUse(): void;
  /** True if each request must read the token again. */
  readonly isUncached?: true;
}

/** @returns null for a token of another type, and for an invalid, expired or revoked token */
export interface FindToken {
  (token: string): Promise<AuthenticatedToken | null>;
}

export interface Authentication {
  readonly authenticate: Authenticate;
  /** Clears the cache. Must be called when a token ends without a commit. */
  forget(): void;
  /** Registers a callback for each clearing of the cache. Rights may have been revoked then. */
  onForgotten(callback: () => void): void;
}

export const deciding: ReadonlySet<string> = new Set(['api_key', 'grant', 'member', 'oauth_app', 'team']);

/** Limits an app to the rights that the role table gives to apps, even if its grant has more. */
function bounded(principal: Principal): Principal {
  return principal.actor.kind === 'app' ? { ...principal, ...rightsForApp(principal) } : principal;
}

/** Returns the principal of a credential that one of the functions knows, with the rights that `authenticate` gives. */
export function createResume(resumers: readonly ResumeCredential[]): ResumeCredential {
  return async (workspaceId, credentialId) => {
    for (const resume of resumers) {
      const principal = await resume(workspaceId, credentialId);
      if (principal) return bounded(principal);
    }
    return null;
  };
}

export function createAuthentication(options: {
  committer: Committer;
  nowMs: () => number;
  finders: readonly FindToken[];
}): Authentication {
  const { committer, nowMs, finders } = options;
  /** Keyed by the token itself, so that a hit needs no hash. Requests hold tokens in memory anyway. */
  const known = createLru<string, AuthenticatedToken & { usedAt: number }>(10_000);
  const listeners: (() => void)[] = [];
  let generation = 0;
  const forget = (): void => {
    generation++;
    known.clear();
    for (const callback of listeners) callback();
  };
  committer.onCommit((_, changes) => {
    if (changes.some(({ kind }) => deciding.has(kind))) forget();
  });

  /** Records the use of a token. @returns null if the token has expired */
  const used = (authenticated: AuthenticatedToken & { usedAt: number }): Principal | null => {
    const now = nowMs();
    if (now >= authenticated.expiresAt) return null;
    if (now - authenticated.usedAt >= usedEveryMs) {
      authenticated.usedAt = now;
      authenticated.noteUse();
    }
    return authenticated.principal;
  };

  const find = async (token: string): Promise<Principal | null> => {
    const started = generation;
    for (const finder of finders) {
      const authenticated = await finder(token);
      if (!authenticated) continue;
      const mine = { ...authenticated, principal: bounded(authenticated.principal) };
      const principal = used(mine);
      if (principal && started === generation && !mine.isUncached) known.set(token, mine);
      return principal;
    }
    return null;
  };

  return {
    authenticate(token) {
      const hit = known.get(token);
      if (!hit) return find(token);
      const principal = used(hit);
      if (!principal) known.delete(token);
      return principal;
    },
    forget,
    onForgotten: (callback) => void listeners.push(callback),
  };
}

/** Minimum interval between two recorded uses of a key or grant. */
const usedEveryMs = 60_000;
const gatherMs = 1_000;

/** Returns the statement that sets `last_used_at` in a table, never to an earlier time. */
export const lastUsedIn = (table: 'api_keys' | 'grants'): Statement<unknown> =>
  tenantStatement(
    `${table}.set_last_used`,
    `UPDATE ${table} SET last_used_at = :at WHERE workspace_id = :ws AND id = :id AND coalesce(last_used_at, 0) < :at`,
  );

export interface UseRecorder {
  /** @param statement result of `lastUsedIn` for the table of the key or grant */
  note(statement: Statement<unknown>, scope: Scope, id: string): void;
}

interface Uses extends UseRecorder {
  /** Resolves when no write is in progress. */
  settled(): Promise<void>;
  /** Writes the pending uses. */
  stop(): Promise<void>;
}

interface Noted {
  readonly statement: Statement<unknown>;
  readonly scope: Scope;
  readonly atMs: number;
}

/**
 * Records the last use of keys and grants outside the commits of their requests: at most once a minute for
 * each key or grant, in one commit per second. A crash loses at most the last minute.
 */
export function createUses({ store, log }: IdentityDeps, clock: Clock): Uses {
  let noted = new Map<string, Noted>();
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const ops = [...noted].map(([id, { statement, scope, atMs }]) =>
      tenantOp(scope, statement, { id, at: atMs }),
    );
    noted = new Map();
    if (ops.length === 0 || !store.status().writable) return;
    try {
      await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    } catch (error) {
      // A lost record is acceptable, because the next use is recorded again.
      log('debug', 'could not record the last use of keys and grants', { error: errorForLog(error) });
    }
  };
  const flush = (): void => {
    cancel = null;
    writing = writing.then(write);
  };

  return {
    note(statement, scope, id) {
      noted.set(id, { statement, scope, atMs: clock.nowMs() });
      cancel ??= clock.after(gatherMs, flush);
    },
    settled: () => writing,
    async stop() {
      cancel?.();
      flush();
      await writing;
    },
  };
}
