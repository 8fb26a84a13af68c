// Finds the principal behind a token, whichever kind of token it is. Found ones are remembered; a commit that changes a key, a grant,
// an app, a member or a team makes them be read again, so that whatever is withdrawn holds from the next request on.
import { LRUCache } from 'lru-cache';
import type { Committer } from '../changes/commit.ts';
import type { Authenticate, Principal } from '../http/principal.ts';
import { rightsForApp } from '../rights/roles.ts';
import { usedEveryMs } from './last-used.ts';

interface Found {
  readonly principal: Principal;
  /** Milliseconds since the epoch; Infinity for a token that does not expire. */
  readonly expiresAt: number;
  /** When its last use that was noted was; milliseconds since the epoch. */
  readonly usedAt: number;
  noteUse(): void;
}

/** @returns null for a token that is none of this kind, or is good no more */
export interface FindToken {
  (token: string): Promise<Found | null>;
}

export interface Authentication {
  readonly authenticate: Authenticate;
  /** A token has ended by other means than a commit: everything is read again. */
  forget(): void;
  /** Told whenever a right may have been withdrawn, once what was known of tokens is forgotten. */
  onForgotten(callback: () => void): void;
}

/** Whose changes decide what a token may do. */
export const deciding: ReadonlySet<string> = new Set(['api_key', 'grant', 'member', 'oauth_app', 'team']);

/** An app never has more than apps may have, whatever it was granted. */
function bounded(principal: Principal): Principal {
  return principal.actor.kind === 'app' ? { ...principal, ...rightsForApp(principal) } : principal;
}

export function createAuthentication(options: {
  committer: Committer;
  nowMs: () => number;
  finders: readonly FindToken[];
}): Authentication {
  const { committer, nowMs, finders } = options;
  /** By the whole token: a hit needs no hashing, and the map is as secret as the memory of any request. */
  const known = new LRUCache<string, Found & { usedAt: number }>({ max: 10_000 });
  const told: (() => void)[] = [];
  let generation = 0;
  const forget = (): void => {
    generation++;
    known.clear();
    for (const callback of told) callback();
  };
  committer.onCommit((_, changes) => {
    if (changes.some(({ kind }) => deciding.has(kind))) forget();
  });

  /** @returns null where it has expired */
  const used = (found: Found & { usedAt: number }): Principal | null => {
    const now = nowMs();
    if (now >= found.expiresAt) return null;
    if (now - found.usedAt >= usedEveryMs) {
      found.usedAt = now;
      found.noteUse();
    }
    return found.principal;
  };

  const find = async (token: string): Promise<Principal | null> => {
    const started = generation;
    for (const finder of finders) {
      const found = await finder(token);
      if (!found) continue;
      const mine = { ...found, principal: bounded(found.principal) };
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
    onForgotten: (callback) => void told.push(callback),
  };
}
