// State of a request while it is being served, for every adapter.
import type { BillingAccount } from '../../platform/lib/billing-account.ts';
import type { WriteMode } from './call.ts';
import { unlimited, type RateVerdict } from './limits/rate-limit.ts';

export interface Exchange {
  readonly requestId: string;
  verdict: RateVerdict;
  /** Mode that a write requested; null for other requests. */
  mode: WriteMode | null;
  /** Name of the client (`peer.ts`), for an HTTP request without a token. */
  peer: string | null;
  /** Account that is charged, once it is known. */
  billingAccount: BillingAccount | null;
  readonly startedMs: number;
  /** Wait time since `startedMs`: for the body, the disk, queues, and reads outside of the event loop. */
  readonly waiting: { ms: number };
  bytesIn: number;
  bytesOut: number;
  /** True if a browser requests a page; an error that has a page is then sent as that page. */
  asksForPage: boolean;
  /** Releases the memory reserved for the body. */
  release?: () => void;
}

export function newExchange(requestId: string): Exchange {
  return {
    requestId,
    verdict: unlimited,
    mode: null,
    peer: null,
    billingAccount: null,
    startedMs: performance.now(),
    waiting: { ms: 0 },
    bytesIn: 0,
    bytesOut: 0,
    asksForPage: false,
  };
}
