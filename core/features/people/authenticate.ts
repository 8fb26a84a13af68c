// Resolves tokens to principals and caches the results. A commit that changes a key, grant, app, member or
// team clears the cache, so that a revocation applies to the next request.
import { LRUCache } from 'lru-cache';
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Authenticate, Principal } from '../../kernel/http/principal.ts';
import { rightsForApp } from '../../kernel/rights/roles.ts';
import { usedEveryMs } from './last-used.ts';

interface AuthenticatedToken {
  readonly principal: Principal;
  /** Milliseconds since the epoch; Infinity for a token that does not expire. */
  readonly expiresAt: number;
  /** Time of the last recorded use, ms since the epoch. */
  readonly usedAt: number;
  noteUse(): void;
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

export function createAuthentication(options: {
  committer: Committer;
  nowMs: () => number;
  finders: readonly FindToken[];
}): Authentication {
  const { committer, nowMs, finders } = options;
  /** Keyed by the token itself, so that a hit needs no hash. Requests hold tokens in memory anyway. */
  const known = new LRUCache<string, AuthenticatedToken & { usedAt: number }>({ max: 10_000 });
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
      if (principal && started === generation) known.set(token, mine);
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
