/** Who pays for work, and waits for what it costs others. A `Scope` of the store is one. */
export interface Payer {
  readonly workspaceId: string;
  /** `key_…`, `grt_…`, `ses_…`, `plg_…` or `whe_…`; null where the workspace as a whole is meant. */
  readonly payer: string | null;
  /** Of a request: the time it was not worked on, but waited for a turn, or for what is done off the event loop. */
  readonly away?: { ms: number };
}

/** To be called with what the request waited for, before it goes on. @param sinceMs of `performance.now` */
export function noteAway({ away }: Payer, sinceMs: number): void {
  if (away) away.ms += performance.now() - sinceMs;
}
