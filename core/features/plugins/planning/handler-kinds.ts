// Defines limits and isolation of each kind of handler.
import type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';

export type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';

interface Traits {
  /** First word of messages about a limit. */
  readonly title: string;
  readonly cpuMs: { readonly default: number; readonly most: number };
  readonly wallMs: number;
  /**
   * True if each run has a separate isolate and thread. The run then blocks no other run, so it may use its
   * CPU time without interruption, and it cannot access data that other runs of the plugin read with other
   * rights.
   */
  readonly isFresh: boolean;
  /** Limit of characters in the arguments and answers of the host calls of one run. */
  readonly callCharsMax: number;
  /** True if failed attempts are retried later. False if a caller waits and can repeat the call. */
  readonly isRetried: boolean;
}

const seldom = { default: 2_000, most: 10_000 };
const often = { default: 100, most: 1_000 };
const callChars = 32 * 1024 * 1024;

export const traitsOf: Readonly<Record<HandlerKind, Traits>> = {
  /** Called for an event that the plugin subscribes to. */
  event: {
    title: 'Handler',
    cpuMs: often,
    wallMs: 10_000,
    isFresh: false,
    callCharsMax: callChars,
    isRetried: true,
  },
  /** Called when its cron expression is due, or at a time that a run requested with `ctx.schedule.once`. */
  schedule: {
    title: 'Schedule',
    cpuMs: seldom,
    wallMs: 55_000,
    isFresh: true,
    callCharsMax: 256 * 1024 * 1024,
    isRetried: true,
  },
  /** Called by a person or program over the REST API. */
  action: {
    title: 'Action',
    cpuMs: seldom,
    wallMs: 5_000,
    isFresh: true,
    callCharsMax: callChars,
    isRetried: false,
  },
  /** Called for a request to an inbound route; anyone who has its URL can send requests. */
  route: {
    title: 'Route',
    cpuMs: often,
    wallMs: 10_000,
    isFresh: true,
    callCharsMax: callChars,
    isRetried: false,
  },
};
