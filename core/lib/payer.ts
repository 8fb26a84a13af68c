/** Who pays for work, and waits for what it costs others. A `Scope` of the store is one. */
export interface Payer {
  readonly workspaceId: string;
  /** `key_…`, `grt_…`, `ses_…`, `plg_…` or `whe_…`; null where the workspace as a whole is meant. */
  readonly payer: string | null;
  /** Principal whose turns and shares it uses up, where that is more than the payer: the member of a key, or the apps of a member. */
  readonly party?: string;
  /** Of a request: the time it was not worked on, but waited for a turn, or for what is done off the event loop. */
  readonly away?: { ms: number };
}

/** The member of a group in fair queues and shares. More keys do not make more turns. */
export function partyOf({ party, payer }: Payer): string {
  return party ?? payer ?? '';
}

/** Requests without a token pay by peer, each a group of its own. @param peer see `http/peer.ts`; null for none */
export function strangerOf(peer: string | null): Payer {
  return { workspaceId: `peer ${peer ?? ''}`, payer: null };
}

/** To be called with what the request waited for, before it goes on. @param sinceMs of `performance.now` */
export function noteAway({ away }: Payer, sinceMs: number): void {
  if (away) away.ms += performance.now() - sinceMs;
}
