/** Narrows the answer of a write that was not sent with `Tatami-Mode: propose`, with which it would be a proposal. */
export function committed<T extends object>(answer: T): Exclude<T, { effects: unknown }> {
  if (isProposal(answer)) throw new Error('Nothing was proposed.');
  return answer as Exclude<T, { effects: unknown }>;
}

const isProposal = (answer: object): boolean => 'effects' in answer;

/** What an integrator saw: the same whichever client asked. */
export interface ClientReport {
  readonly identifier: string | null;
  /** The first answer came back for the same idempotency key. */
  readonly replayed: boolean;
  /** All issues, two a page. */
  readonly listed: readonly string[];
  readonly high: readonly string[];
  readonly patched: string | null;
  readonly stale: string | null;
  readonly comment: string | null;
  readonly secret: string | null;
  readonly refused: readonly string[];
}
