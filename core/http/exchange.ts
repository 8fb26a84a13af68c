// What is known about a request while it is being served, whichever entrance it came by.
import type { Payer } from '../lib/payer.ts';
import type { WriteMode } from './call.ts';
import { unlimited, type RateVerdict } from './rate-limit.ts';

export interface Exchange {
  readonly requestId: string;
  verdict: RateVerdict;
  /** What a write asked for; null where nothing asked to write. */
  mode: WriteMode | null;
  /** Name of the peer, of a request over HTTP without a token; see `peer.ts`. */
  peer: string | null;
  /** Who pays for it, once that is known. */
  payer: Payer | null;
  readonly startedMs: number;
  /** The part of the time since then that went by in waiting: for the caller's body, the disk, turns, and reads off the loop. */
  readonly away: { ms: number };
  bytesIn: number;
  bytesOut: number;
  /** True where a person's browser asks for a page, which then shows errors that have one as a page. */
  asksForPage: boolean;
  /** Gives back the memory that was reserved for its body. */
  release?: () => void;
}

export function newExchange(requestId: string): Exchange {
  return {
    requestId,
    verdict: unlimited,
    mode: null,
    peer: null,
    payer: null,
    startedMs: performance.now(),
    away: { ms: 0 },
    bytesIn: 0,
    bytesOut: 0,
    asksForPage: false,
  };
}
