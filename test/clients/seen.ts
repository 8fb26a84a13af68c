/** What an integrator saw: the same whichever client asked. */
export interface Seen {
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
