// Rate limits: fixed windows in memory, exact and O(1). A request with a token counts at three levels: token × route, member, workspace. A
// request without a token counts by client address. Header names follow the IETF RateLimit draft 06. docs/spec/api.md › Rate limits,
// docs/decisions/0075.
import { RecentMap } from '../../../platform/lib/fairness/recent-map.ts';
import { memberOf, type RateCaller } from '../principal.ts';
import type { LimitClass } from '../route.ts';

export interface RateLimits {
  /** Requests per window by class; 0 disables the limit of that class. */
  readonly perMinute: Readonly<Record<Exclude<LimitClass, 'none'>, number>>;
  /** Requests per window of one member over all keys, grants, sessions and routes; 0 disables the limit. */
  readonly memberPerMinute: number;
  /** Requests per window of one workspace over all members and routes; 0 disables the limit. */
  readonly workspacePerMinute: number;
}

/** Values of the three headers; `admitted` false means 429. */
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
/** Maximum number of buckets for tokens, for workspaces and for peers, each. Beyond it the least recently used ones are reset. */
const bucketsMax = 100_000;
export const unlimited: RateVerdict = {
  admitted: true,
  limit: 2147483647,
  remaining: 2147483647,
  resetSeconds: 0,
};

export interface RateLimiter {
  /** Counts a request with a token. */
  hit(caller: RateCaller, route: string, limitClass: LimitClass): RateVerdict;
  /**
   * Counts a request without a valid token: `public` if none is needed, `refused` if it is rejected for lack of one. They are counted
   * separately, so that guessing tokens does not use up the limit of an address for public pages. `preflight` requests are separate as
   * well: a browser sends one for each URL that a page requests, so their limit is that of a whole workspace.
   */
  hitPeer(peer: string, kind: 'public' | 'refused' | 'preflight', limitClass?: LimitClass): RateVerdict;
}

/** Limits per workspace window; Infinity for a disabled limit. */
interface SharedLimits {
  readonly total: number;
  readonly memberMax: number;
  /** Apps that act for a member may use half of the member's limit. */
  readonly appsMax: number;
}

/** Admitted requests of one member: with their own keys and sessions, and by apps that act for them. */
interface MemberCount {
  own: number;
  apps: number;
}

/**
 * Admitted requests of one workspace and of each of its members in the same window, so that the counts always add up to the total.
 *
 * The total may be exceeded only by principals within their reserved share, which is the total divided by the number of principals that
 * are active in the window. A principal is a member, or the apps that act for a member. Within its share a principal is admitted at this
 * level, whatever others do. The n-th principal exceeds the total by at most total ÷ n, so n of them by at most total × (1 + ln n).
 */
class WorkspaceWindow implements Bucket {
  count = 0;
  readonly resetAtMs: number;
  readonly #limits: SharedLimits;
  /** Number of principals with at least one admitted request. */
  #active = 0;
  /** At most one entry for each member of the workspace. */
  readonly #members = new Map<string, MemberCount>();

  constructor(resetAtMs: number, limits: SharedLimits) {
    this.resetAtMs = resetAtMs;
    this.#limits = limits;
  }

  countOf(memberId: string): MemberCount {
    let known = this.#members.get(memberId);
    if (!known) this.#members.set(memberId, (known = { own: 0, apps: 0 }));
    return known;
  }

  /** Returns the requests that a principal has left, by the tightest of its limits. */
  left(member: MemberCount, isApp: boolean): number {
    return Math.min(
      this.#leftOfMember(member, isApp),
      this.#leftOfWorkspace(isApp ? member.apps : member.own),
    );
  }

  /** Returns the limit that `left` counts down from. */
  limit(member: MemberCount, isApp: boolean): number {
    const { total, memberMax, appsMax } = this.#limits;
    const ofMember = this.#leftOfMember(member, isApp);
    const ofWorkspace = this.#leftOfWorkspace(isApp ? member.apps : member.own);
    if (ofWorkspace <= ofMember) return ofWorkspace > total - this.count ? this.#reserved() : total;
    return ofMember === memberMax - member.own - member.apps ? memberMax : appsMax;
  }

  admit(member: MemberCount, isApp: boolean): void {
    this.count++;
    if ((isApp ? member.apps++ : member.own++) === 0) this.#active++;
  }

  #leftOfMember({ own, apps }: MemberCount, isApp: boolean): number {
    const left = this.#limits.memberMax - own - apps;
    return isApp ? Math.min(left, this.#limits.appsMax - apps) : left;
  }

  /** Returns what is left of the total, or of the reserved share if that is more. */
  #leftOfWorkspace(used: number): number {
    return Math.max(this.#limits.total - this.count, this.#reserved() - used);
  }

  #reserved(): number {
    return Math.ceil(this.#limits.total / Math.max(1, this.#active));
  }
}

class Buckets<B extends Bucket> {
  // A bucket is removed after its window, or as the least recently used of too many.
  readonly #known = new RecentMap<B>({ ageMs: windowMs, max: bucketsMax });
  readonly #open: (resetAtMs: number) => B;

  constructor(open: (resetAtMs: number) => B) {
    this.#open = open;
  }

  /** Returns the bucket of the current window. */
  at(key: string, now: number): B {
    const known = this.#known.get(key, now);
    if (known && now < known.resetAtMs) return known;
    const bucket = this.#open(now + windowMs);
    this.#known.set(key, bucket, now);
    return bucket;
  }

  get size(): number {
    return this.#known.size;
  }
}

/** @param nowMs monotonic time: setting the system clock neither opens nor closes a bucket */
export function createRateLimiter(limits: RateLimits, nowMs: () => number): RateLimiter & { size(): number } {
  // Separate maps, so that a flood of peers or of tokens evicts no counts of another level.
  const plain = (resetAtMs: number): Bucket => ({ count: 0, resetAtMs });
  const ofTokens = new Buckets(plain);
  const ofPeers = new Buckets(plain);
  const total = limits.workspacePerMinute || Infinity;
  const memberMax = limits.memberPerMinute || Infinity;
  const sharedLimits = { total, memberMax, appsMax: Math.ceil(memberMax / 2) };
  const ofWorkspaces = new Buckets((resetAtMs) => new WorkspaceWindow(resetAtMs, sharedLimits));
  const isShared = total < Infinity || memberMax < Infinity;

  return {
    size: () => ofTokens.size + ofPeers.size + ofWorkspaces.size,
    hitPeer: createHitPeer(limits, ofPeers, nowMs),
    hit(caller, route, limitClass) {
      if (limitClass === 'none') return unlimited;
      const now = nowMs();
      const limit = limits.perMinute[limitClass];
      const token = limit > 0 ? ofTokens.at(`${caller.tokenId} ${route}`, now) : null;
      if (!token && !isShared) return unlimited;
      const shared = ofWorkspaces.at(caller.scope.workspaceId, now);
      const isApp = caller.actor.kind === 'app';
      const member = shared.countOf(memberOf(caller));
      const tokenLeft = token ? limit - token.count : Infinity;
      const sharedLeft = shared.left(member, isApp);
      const admitted = tokenLeft > 0 && sharedLeft > 0;
      // The tightest level is reported; of equally tight ones, the one that resets later.
      const isOfToken = token && (tokenLeft - sharedLeft || shared.resetAtMs - token.resetAtMs) <= 0;
      const verdict = isOfToken
        ? verdictOf(limit, tokenLeft, admitted, token.resetAtMs, now)
        : verdictOf(shared.limit(member, isApp), sharedLeft, admitted, shared.resetAtMs, now);
      if (!admitted) return verdict;
      if (token) token.count++;
      shared.admit(member, isApp);
      return verdict;
    },
  };
}

function createHitPeer(
  { perMinute, workspacePerMinute }: RateLimits,
  ofPeers: Buckets<Bucket>,
  nowMs: () => number,
): RateLimiter['hitPeer'] {
  return (peer, kind, limitClass = 'read') => {
    const isSearch = kind === 'public' && limitClass === 'search';
    const limit = kind === 'preflight' ? workspacePerMinute : perMinute[isSearch ? 'search' : 'read'];
    if (limit === 0) return unlimited;
    const now = nowMs();
    const bucket = ofPeers.at(`${peer} ${kind}${isSearch ? ' search' : ''}`, now);
    const left = limit - bucket.count;
    if (left > 0) bucket.count++;
    return verdictOf(limit, left, left > 0, bucket.resetAtMs, now);
  };
}

/** @param left requests left before this one */
function verdictOf(
  limit: number,
  left: number,
  admitted: boolean,
  resetAtMs: number,
  now: number,
): RateVerdict {
  return {
    admitted,
    limit,
    remaining: Math.max(0, admitted ? left - 1 : left),
    resetSeconds: Math.max(1, Math.ceil((resetAtMs - now) / 1000)),
  };
}
