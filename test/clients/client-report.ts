/** Narrows the response of a write that was sent without `Tatami-Mode: propose`, and so is not a proposal. */
export function committed<T extends object>(answer: T): Exclude<T, { effects: unknown }> {
  if (isProposal(answer)) throw new Error('The write returned a proposal.');
  return answer as Exclude<T, { effects: unknown }>;
}

const isProposal = (answer: object): boolean => 'effects' in answer;

/** The results of a scenario, the same for every client. */
export interface ClientReport {
  readonly identifier: string | null;
  /** True if a repeated idempotency key returned the first response. */
  readonly replayed: boolean;
  /** All issues, in pages of two. */
  readonly listed: readonly string[];
  readonly high: readonly string[];
  readonly patched: string | null;
  readonly stale: string | null;
  readonly comment: string | null;
  readonly secret: string | null;
  readonly refused: readonly string[];
}
