/** Billing account of a request or job, for fair queues and quotas. A `Scope` of the store extends it. */
export interface BillingAccount {
  readonly workspaceId: string;
  /** `key_…`, `grt_…`, `ses_…`, `plg_…` or `whe_…`; null for the workspace as a whole. */
  readonly billingAccount: string | null;
  /**
   * Principal whose queue slots and quotas are used, if not the account itself: the member of a key, or the
   * apps of a member.
   */
  readonly party?: string;
  /** Present for requests: time spent in queues and on work off the event loop. */
  readonly waiting?: { ms: number };
}

/** Returns the member name for fair queues and quotas; the keys of a member share it, and so a quota. */
export function partyOf({ party, billingAccount }: BillingAccount): string {
  return party ?? billingAccount ?? '';
}

/** Returns the account of requests without a token: one group per peer. @param peer see `http/peer.ts`; null for none */
export function strangerOf(peer: string | null): BillingAccount {
  return { workspaceId: `peer ${peer ?? ''}`, billingAccount: null };
}

/** Adds the time since `sinceMs` (of `performance.now`) to the wait time of a request. */
export function addWaitTime({ waiting }: BillingAccount, sinceMs: number): void {
  if (waiting) waiting.ms += performance.now() - sinceMs;
}
