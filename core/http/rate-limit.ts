// Rate limits: a fixed window per bucket (token × route, or peer) and one per workspace, counted in memory, exact and O(1).
// Header names as in the IETF RateLimit draft 06. docs/spec/api.md › Rate limits.
import type { LimitClass } from './route.ts';

export interface RateLimits {
  /** Requests a window by class; 0 switches that class off. */
  readonly perMinute: Readonly<Record<Exclude<LimitClass, 'none'>, number>>;
  /** Requests a window of one workspace, all tokens and routes together; 0 switches it off. */
  readonly workspacePerMinute: number;
}

/** What the three headers say; `admitted` false means 429. */
export interface RateVerdict {
  readonly admitted: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

interface Bucket {
  count: number;
  resetAtMs: number;
}

const windowMs = 60_000;
/** So many buckets are kept for tokens and workspaces, and as many again for peers. Past that, those not used for longest start anew. */
const bucketsMax = 100_000;
export const unlimited: RateVerdict = {
  admitted: true,
  limit: 2147483647,
  remaining: 2147483647,
  resetSeconds: 0,
};

export interface RateLimiter {
  /** A request with a token. */
  hit(tokenId: string, route: string, limitClass: LimitClass, workspaceId: string): RateVerdict;
  /**
   * A request without a good token: `public` where none is needed, `refused` where it is refused for want of one. They count apart,
   * so that guessing tokens does not use up what an address may ask of public pages. So does a `preflight`, of which a browser sends
   * one for each address that a page asks for: there may be as many of them as requests of a whole workspace.
   */
  hitPeer(peer: string, kind: 'public' | 'refused' | 'preflight', limitClass?: LimitClass): RateVerdict;
}

/**
 * Buckets in two generations. A bucket that is used moves to the young one. When that is a window old or full, the old generation
 * is forgotten as a whole and the young one becomes the old one. So nothing is ever searched, and a bucket that is forgotten has
 * ended its window, or is one of those not used for longest of too many.
 */
class Buckets {
  #young = new Map<string, Bucket>();
  #old = new Map<string, Bucket>();
  #since = 0;

  /** The bucket of this window. */
  at(key: string, now: number): Bucket {
    if (this.#young.size >= bucketsMax / 2 || now - this.#since >= windowMs) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#since = now;
    }
    const young = this.#young.get(key);
    const known = young ?? this.#old.get(key);
    const isOpen = known !== undefined && now < known.resetAtMs;
    if (young && isOpen) return young;
    const bucket = isOpen ? known : { count: 0, resetAtMs: now + windowMs };
    this.#young.set(key, bucket);
    return bucket;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}

/** @param nowMs monotonic: a clock that is set neither opens nor closes a bucket */
export function createRateLimiter(limits: RateLimits, nowMs: () => number): RateLimiter & { size(): number } {
  // Apart, so that a flood of peers pushes out no token's count.
  const ofTokens = new Buckets();
  const ofPeers = new Buckets();

  return {
    size: () => ofTokens.size + ofPeers.size,
    hitPeer(peer, kind, limitClass = 'read') {
      const isSearch = kind === 'public' && limitClass === 'search';
      const own = limits.perMinute[isSearch ? 'search' : 'read'];
      const limit = kind === 'preflight' ? limits.workspacePerMinute : own;
      if (limit === 0) return unlimited;
      const now = nowMs();
      const bucket = ofPeers.at(`${peer} ${kind}${isSearch ? ' search' : ''}`, now);
      const admitted = bucket.count < limit;
      if (admitted) bucket.count++;
      return verdictOf(bucket, limit, admitted, now);
    },
    hit(tokenId, route, limitClass, workspaceId) {
      if (limitClass === 'none') return unlimited;
      const now = nowMs();
      const limit = limits.perMinute[limitClass];
      const total = limits.workspacePerMinute;
      const own = limit > 0 ? ofTokens.at(`${tokenId} ${route}`, now) : null;
      const shared = total > 0 ? ofTokens.at(`workspace ${workspaceId}`, now) : null;
      const admitted = isOpen(own, limit) && isOpen(shared, total);
      if (admitted) {
        if (own) own.count++;
        if (shared) shared.count++;
      }
      if (shared && isTighter(shared, total, own, limit)) return verdictOf(shared, total, admitted, now);
      return own ? verdictOf(own, limit, admitted, now) : unlimited;
    },
  };
}

/** True also where nothing is counted. */
function isOpen(bucket: Bucket | null, limit: number): boolean {
  return !bucket || bucket.count < limit;
}

/** Whether less is left of the one bucket than of the other. Where it is the same, the one that resets later is the tighter. */
function isTighter(bucket: Bucket, limit: number, other: Bucket | null, otherLimit: number): boolean {
  if (!other) return true;
  const left = limit - bucket.count;
  const otherLeft = otherLimit - other.count;
  return left < otherLeft || (left === otherLeft && bucket.resetAtMs > other.resetAtMs);
}

function verdictOf(bucket: Bucket, limit: number, admitted: boolean, now: number): RateVerdict {
  return {
    admitted,
    limit,
    remaining: Math.max(0, limit - bucket.count),
    resetSeconds: Math.max(1, Math.ceil((bucket.resetAtMs - now) / 1000)),
  };
}
