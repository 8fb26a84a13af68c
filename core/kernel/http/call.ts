// A request inside the kernel, independent of the transport: its caller, input, options and answer.
import type { ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { Op } from '../../platform/store/store.ts';
import type { Staging } from '../changes/staging.ts';
import type { Cause } from '../events/event.ts';
import type { Exchange } from './requests.ts';
import type { Principal } from './principal.ts';
import type { RawRequest, CheckedInput, HttpConnection, RawAnswer } from './route.ts';

/** Modes of a write: it is committed, computed and discarded, or stored for approval. */
export const writeModes = ['commit', 'simulate', 'propose'] as const;
export type WriteMode = (typeof writeModes)[number];

/**
 * Decides from the change set of a write whether it waits for approval. It is called for every new plan, so that it judges exactly what
 * would be committed.
 */
export interface ApprovalCheck {
  (now: Context, set: ChangeSet): Promise<ApprovalDecision>;
}
/** `ops` are internal rows that are committed with a write that does not wait. */
type ApprovalDecision = { readonly waits: true } | { readonly waits: false; readonly ops: readonly Op[] };

/** Options of a request, apart from its input. */
export interface Terms {
  /** Version that the object must have; null for any; -1, which no version equals, for a tag without a version. */
  readonly ifMatch: number | null;
  readonly mode: WriteMode;
  /** 1 to 255 characters; null if a repetition is a new request. */
  readonly idempotencyKey: string | null;
  /** Decides about approval; null if only requested proposals wait for approval. */
  readonly hold: ApprovalCheck | null;
}

/** Context that a request is part of. */
export interface Origin {
  readonly cause: Cause | null;
  /** Buffer for the effects of a plugin run until it ends; null if they are committed immediately. */
  readonly staged: Staging | null;
  readonly traceparent: string | null;
  /** Ids that a staged write generated when it was first planned, and reuses. */
  readonly ids: readonly string[];
}

export const plainTerms: Terms = { ifMatch: null, mode: 'commit', idempotencyKey: null, hold: null };
export const noOrigin: Origin = { cause: null, staged: null, traceparent: null, ids: [] };

/** Uploaded file that is not read yet. */
export interface IncomingFile {
  readonly contentType: string | null;
  /** Content-Length; null if absent. */
  readonly announcedBytes: number | null;
  /** Readable once. */
  readonly source: AsyncIterable<Uint8Array>;
}

export interface ParsedRequest {
  readonly exchange: Exchange;
  /** Null for a request without a token to a public route. */
  readonly principal: Principal | null;
  readonly origin: Origin;
  readonly terms: Terms;
  readonly input: CheckedInput;
  /** Uploaded file; null for other requests. */
  readonly file: IncomingFile | null;
  /** Request to an inbound route; null for other routes. */
  readonly rawRequest: RawRequest | null;
  /** Body as received; null if it came as a value, or not at all. */
  readonly bodyText: string | null;
}

/** Request with a known caller, which all kinds of route but `raw` and `inbound` need. */
export interface Call extends ParsedRequest {
  readonly principal: Principal;
}

/** @throws Error if a route is declared public although its kind requires a caller */
export function requireCaller(request: ParsedRequest): asserts request is Call {
  if (!request.principal) throw new Error('A public route must be of the kind `raw` or `inbound`.');
}

export interface WriteResult {
  readonly status: number;
  /** Version of the written object. */
  readonly version: number | undefined;
  /** URL of the created object. */
  readonly location: string | undefined;
  /** True for the response to an earlier request with the same idempotency key. */
  readonly isReplay: boolean;
}

export interface WrittenAnswer extends WriteResult {
  readonly kind: 'written';
  /** Undefined for no body, and in a replay. */
  readonly body: unknown;
  /** JSON of the body, if it is already known; in a replay, the stored body of the first response. */
  readonly text: string | null;
  /** See `ChangeSet.completed`. */
  readonly completed?: ChangeSet['completed'];
}

/** Result of a successful request, by the kind of its route. Its objects may be shared with caches and are read-only. */
export type HandlerAnswer =
  | { readonly kind: 'read'; readonly status: number; readonly body: unknown }
  | WrittenAnswer
  | { readonly kind: 'raw'; readonly raw: RawAnswer }
  | {
      readonly kind: 'stream';
      /** Caller, with the rights at the time of the request. */
      readonly principal: Principal;
      open(connection: HttpConnection): Promise<ReadableStream<Uint8Array>>;
    };
