// A request on its way through the kernel, as values: who asks, what for, and what comes of it. Nothing here knows how it came
// in or how the answer goes out.
import type { ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { Op } from '../store/store.ts';
import type { Staging } from '../changes/staging.ts';
import type { Cause } from '../events/origin.ts';
import type { Exchange } from './exchange.ts';
import type { Principal } from './principal.ts';
import type { Arrival, CheckedInput, Connection, RawAnswer } from './route.ts';

/** Modes of a write: it is committed, shown and dropped, or stored for somebody's approval. */
export const writeModes = ['commit', 'simulate', 'propose'] as const;
export type WriteMode = (typeof writeModes)[number];

/**
 * Decides of a write, by what it would change, whether it waits for a person's approval. It is asked of every plan anew, so that it
 * judges just what would be committed.
 */
export interface Hold {
  (now: Context, set: ChangeSet): Promise<Held>;
}
/** `ops` are rows of the machinery that go along with what does not wait. */
type Held = { readonly waits: true } | { readonly waits: false; readonly ops: readonly Op[] };

/** What a caller asks for, beside its input. */
export interface Terms {
  /** The version that the object must have; null for any; -1, which no version equals. */
  readonly ifMatch: number | null;
  readonly mode: WriteMode;
  /** 1 to 255 characters; null where a repetition is another request. */
  readonly idempotencyKey: string | null;
  /** Null where nothing waits that was not asked for as a proposal. */
  readonly hold: Hold | null;
}

/** What a request is part of. */
export interface Origin {
  readonly cause: Cause | null;
  /** Where a plugin run keeps its effects until it ends; null where they are committed at once. */
  readonly staged: Staging | null;
  readonly traceparent: string | null;
  /** The ids that a staged write made when it was first asked; it makes them again. */
  readonly ids: readonly string[];
}

export const plainTerms: Terms = { ifMatch: null, mode: 'commit', idempotencyKey: null, hold: null };
export const noOrigin: Origin = { cause: null, staged: null, traceparent: null, ids: [] };

/** A file on its way in. */
export interface IncomingFile {
  readonly contentType: string | null;
  /** Null where the request does not say. */
  readonly announcedBytes: number | null;
  /** To be read once. */
  readonly source: AsyncIterable<Uint8Array>;
}

export interface Asked {
  readonly exchange: Exchange;
  /** Null at a public route for a request without a token. */
  readonly principal: Principal | null;
  readonly origin: Origin;
  readonly terms: Terms;
  readonly input: CheckedInput;
  /** The file that an upload brings; null where there is none. */
  readonly file: IncomingFile | null;
  /** Of an inbound route, the request. */
  readonly arrival: Arrival | null;
  /** The body as it came; null where it came as a value, or not at all. */
  readonly bodyText: string | null;
}

/** A request whose caller is known, as every kind of route but `raw` needs it. */
export interface Call extends Asked {
  readonly principal: Principal;
}

/** @throws Error where a public route is of a kind that needs a caller, which is a mistake in its declaration */
export function requireCaller(asked: Asked): asserts asked is Call {
  if (!asked.principal) throw new Error('A public route needs a context.');
}

export interface WrittenAnswer {
  readonly kind: 'written';
  readonly status: number;
  /** Undefined for none, and in a replay. */
  readonly body: unknown;
  /** The JSON of the body where it was needed already; of a replay, what was kept of the first answer. */
  readonly text: string | null;
  /** Of the object that was written. */
  readonly version: number | undefined;
  /** The address of what was made. */
  readonly location: string | undefined;
  /** See `ChangeSet`. */
  readonly completed?: ChangeSet['completed'];
  /** The answer of an earlier request with the same idempotency key. */
  readonly isReplay: boolean;
}

/** What comes of a request that is not refused, by the kind of its route. Its objects may be shared with caches: they are read only. */
export type Answer =
  | { readonly kind: 'read'; readonly status: number; readonly body: unknown }
  | WrittenAnswer
  | { readonly kind: 'raw'; readonly raw: RawAnswer }
  | {
      readonly kind: 'stream';
      /** Whose it is, as they were when it was asked for. */
      readonly principal: Principal;
      open(connection: Connection): Promise<ReadableStream<Uint8Array>>;
    };
