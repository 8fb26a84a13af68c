/** Billing account of work; fair queues and quotas apply per account. A `Scope` of the store is one. */
export interface BillingAccount {
  readonly workspaceId: string;
  /** `key_…`, `grt_…`, `ses_…`, `plg_…` or `whe_…`; null for the workspace as a whole. */
  readonly billingAccount: string | null;
  /** Principal whose queue slots and quotas are used, if wider than the account: the member of a key, or the apps of a member. */
  readonly party?: string;
  /** For a request: time spent waiting in queues or for work off the event loop. */
  readonly waiting?: { ms: number };
}

/** Returns the member of a group in fair queues and quotas, so that more keys give no larger share. */
export function partyOf({ party, billingAccount }: BillingAccount): string {
  return party ?? billingAccount ?? '';
}

/** Returns the account of requests without a token: one group per peer. @param peer see `http/peer.ts`; null for none */
export function strangerOf(peer: string | null): BillingAccount {
  return { workspaceId: `peer ${peer ?? ''}`, billingAccount: null };
}

/** Adds wait time to a request before it continues. @param sinceMs of `performance.now` */
export function addWaitTime({ waiting }: BillingAccount, sinceMs: number): void {
  if (waiting) waiting.ms += performance.now() - sinceMs;
}
