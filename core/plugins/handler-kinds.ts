// What the kinds of handler differ in, in one table: what calls them, what a run of one may use, and whether its isolate is its own.
import type { HandlerKind } from '../../sdk/plugin/handlers.ts';

export type { HandlerKind } from '../../sdk/plugin/handlers.ts';

interface Traits {
  /** As the first word of what a person is told of a limit. */
  readonly title: string;
  readonly cpuMs: { readonly default: number; readonly most: number };
  readonly wallMs: number;
  /**
   * Whether each run has an isolate, and so a thread, of its own. It holds up nobody else then, and may use its processor time in one
   * stretch; and what other runs of the plugin read with other rights is out of its reach.
   */
  readonly isFresh: boolean;
  /** Characters of arguments and answers of the host calls of one run. */
  readonly callCharsMax: number;
  /** Whether a failed attempt is made again later. Where somebody waits for the answer, it is for them to ask again. */
  readonly isRetried: boolean;
}

const seldom = { default: 2_000, most: 10_000 };
const often = { default: 100, most: 1_000 };
const callChars = 32 * 1024 * 1024;

export const traitsOf: Readonly<Record<HandlerKind, Traits>> = {
  /** An event that the plugin subscribes to. */
  event: {
    title: 'Handler',
    cpuMs: often,
    wallMs: 10_000,
    isFresh: false,
    callCharsMax: callChars,
    isRetried: true,
  },
  /** The time of a schedule, or one that a run asked for (`ctx.schedule.once`). */
  schedule: {
    title: 'Schedule',
    cpuMs: seldom,
    wallMs: 55_000,
    isFresh: true,
    callCharsMax: 256 * 1024 * 1024,
    isRetried: true,
  },
  /** A person or program, over REST. */
  action: {
    title: 'Action',
    cpuMs: seldom,
    wallMs: 5_000,
    isFresh: true,
    callCharsMax: callChars,
    isRetried: false,
  },
  /** Whoever knows the address of an inbound route. */
  route: {
    title: 'Route',
    cpuMs: often,
    wallMs: 10_000,
    isFresh: true,
    callCharsMax: callChars,
    isRetried: false,
  },
};
