interface Bearer {
  readonly workspaceId: string;
  readonly expiresAt: number;
}

interface BearerBounds {
  /** Each tab of a browser has a bearer, and replaces it before it expires. */
  readonly ofSessionMax: number;
  /** About 15 MB. An app whose bearer was removed early exchanges its session again. */
  readonly totalMax: number;
}

const defaultBounds: BearerBounds = { ofSessionMax: 100, totalMax: 50_000 };

/** Hashes of bearers, in memory only: a restart ends all, and each app exchanges its session again. */
export class BearerTable {
  readonly #bounds: BearerBounds;
  readonly #bySession = new Map<string, Map<string, Bearer>>();
  readonly #sessionOf = new Map<string, string>();

  constructor(bounds: BearerBounds = defaultBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#sessionOf.size;
  }

  add(
    { sessionId, hash }: { readonly sessionId: string; readonly hash: string },
    bearer: Bearer,
    now: number,
  ): void {
    const own = this.#bySession.get(sessionId) ?? new Map<string, Bearer>();
    for (const [old, { expiresAt }] of own)
      if (expiresAt <= now || own.size >= this.#bounds.ofSessionMax) this.#remove(own, old);
      else break;
    own.set(hash, bearer);
    this.#sessionOf.set(hash, sessionId);
    // The last used session moves to the end, so that those whose bearers have expired come first.
    this.#bySession.delete(sessionId);
    this.#bySession.set(sessionId, own);
    this.#sweep(now);
    while (this.size > this.#bounds.totalMax) this.#removeOldest();
  }

  find(hash: string): { readonly sessionId: string; readonly bearer: Bearer } | null {
    const sessionId = this.#sessionOf.get(hash);
    const bearer = sessionId === undefined ? undefined : this.#bySession.get(sessionId)?.get(hash);
    return sessionId !== undefined && bearer ? { sessionId, bearer } : null;
  }

  #remove(own: Map<string, Bearer>, hash: string): void {
    own.delete(hash);
    this.#sessionOf.delete(hash);
  }

  /** Removes the oldest bearer of the session that has been idle for longest. */
  #removeOldest(): void {
    const [[sessionId, own] = ['', new Map<string, Bearer>()]] = this.#bySession;
    const [hash = ''] = own.keys();
    this.#remove(own, hash);
    if (own.size === 0) this.#bySession.delete(sessionId);
  }

  /** Removes the bearers of sessions without a current one. */
  #sweep(now: number): void {
    for (const [sessionId, own] of this.#bySession) {
      if ([...own.values()].some(({ expiresAt }) => expiresAt > now)) return;
      for (const hash of [...own.keys()]) this.#remove(own, hash);
      this.#bySession.delete(sessionId);
    }
  }
}
