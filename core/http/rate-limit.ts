// Rate limits: a fixed window per bucket (token × route) and one per workspace, counted in memory, exact and O(1).
// Header names as in the IETF RateLimit draft 06, which the specification fixes. Spec › Limits.
import type { LimitClass } from './route.ts';

export interface RateLimits {
  /** Requests a window by class; 0 switches that class off. */
  readonly perMinute: Readonly<Record<LimitClass, number>>;
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
/** Past this many live buckets the expired ones are swept. */
const bucketsMax = 50_000;
const unlimited: RateVerdict = { admitted: true, limit: 2147483647, remaining: 2147483647, resetSeconds: 0 };

export interface RateLimiter {
  /** @param caller token id, or the peer address where there is no token */
  hit(caller: string, route: string, limitClass: LimitClass, workspaceId: string | null): RateVerdict;
}

export function createRateLimiter(limits: RateLimits, nowMs: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>();

  const current = (key: string, now: number): Bucket => {
    let bucket = buckets.get(key);
    // A clock set back must not leave a bucket closed for longer than one window.
    if (!bucket || now >= bucket.resetAtMs || bucket.resetAtMs - now > windowMs) {
      if (buckets.size >= bucketsMax)
        for (const [name, old] of buckets) if (now >= old.resetAtMs) buckets.delete(name);
      bucket = { count: 0, resetAtMs: now + windowMs };
      buckets.set(key, bucket);
    }
    return bucket;
  };

  return {
    hit(caller, route, limitClass, workspaceId) {
      const now = nowMs();
      const limit = limits.perMinute[limitClass];
      const total = workspaceId === null ? 0 : limits.workspacePerMinute;
      const own = limit > 0 ? current(`${caller} ${route}`, now) : null;
      const shared = total > 0 ? current(`workspace ${workspaceId}`, now) : null;
      const admitted = (!own || own.count < limit) && (!shared || shared.count < total);
      if (admitted) {
        if (own) own.count++;
        if (shared) shared.count++;
      }
      const ownLeft = own ? limit - own.count : Infinity;
      const sharedLeft = shared ? total - shared.count : Infinity;
      // With nothing left of either, the one that opens later says how long to wait.
      const sharedIsTight =
        sharedLeft < ownLeft ||
        (sharedLeft === ownLeft && shared !== null && own !== null && shared.resetAtMs > own.resetAtMs);
      const tight = sharedIsTight ? shared : own;
      if (!tight) return unlimited;
      return {
        admitted,
        limit: tight === shared ? total : limit,
        remaining: Math.max(0, tight === shared ? sharedLeft : ownLeft),
        resetSeconds: Math.max(1, Math.ceil((tight.resetAtMs - now) / 1000)),
      };
    },
  };
}
