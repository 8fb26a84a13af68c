// In-process adapter of the kernel, used for calls of plugins. Requests and responses are values.
import type { Cause } from '../events/event.ts';
import type { Staging } from '../changes/staging.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import type { Bodies } from './request/body.ts';
import {
  plainTerms,
  type HandlerAnswer,
  type ApprovalCheck,
  type WriteMode,
  type WriteResult,
} from './call.ts';
import { type RequestAdapter, type Incoming, checkedKey } from './request/request.ts';
import type { Exchange } from './requests.ts';
import { versionIn } from '../../platform/lib/response-version.ts';
import { requireAdmitted } from './request/context-of.ts';
import type { Principal } from './principal.ts';
import type { RateLimiter } from './limits/rate-limit.ts';

const noQuery: [] = [];

export interface ValueCall extends Incoming {
  readonly principal: Principal;
  /**
   * True if the call counts against the rate limits of the principal's token; false if its caller limits
   * calls itself.
   */
  readonly isCounted: boolean;
  /**
   * Query parameters. A list or a filter is either a value or the string that a URL would contain. A null or
   * undefined parameter counts as absent.
   */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly ifMatch?: number | null;
  readonly mode?: WriteMode;
  readonly idempotencyKey?: string;
  /** Decides whether the changes are stored as a proposal that needs approval, instead of being committed. */
  readonly hold?: ApprovalCheck;
  readonly cause?: Cause | null;
  readonly staged?: Staging | null;
  readonly traceparent?: string | null;
  readonly ids?: readonly string[];
}

/** Result of a call; T is the type that the caller converts the body to. */
export type Outcome<T> = { readonly requestId: string } & (
  { readonly error: ApiError } | ({ readonly error: null; readonly body: T } & WriteResult)
);

/**
 * Converts the body of an answer (undefined for none) while the request is still being served and charged. The body may be shared with
 * caches and with staged writes: it may be neither retained nor changed.
 */
export interface Take<T> {
  (body: unknown): { readonly taken: T; readonly bytes: number };
}

/** Creates an adapter for callers that convert answers in the same way. */
export interface ValueAdapterFactory {
  <T>(take: Take<T>): RequestAdapter<ValueCall, Outcome<T>>;
}

export function createValues({
  limiter,
  bodies,
}: {
  limiter: RateLimiter;
  bodies: Bodies;
}): ValueAdapterFactory {
  return (take) => ({
    admit({ principal, isCounted }, exchange, route) {
      if (isCounted) {
        exchange.verdict = limiter.hit(principal, route.name, route.limit);
        requireAdmitted(exchange);
      }
      return principal;
    },
    proposes: ({ mode }) => mode === 'propose',
    requirePath: () => undefined,
    queryOf: ({ query }) => (query ? textsOf(query) : noQuery),
    bringsBody: ({ body }) => body !== undefined,
    fileOf() {
      throw new ApiError('forbidden', 'Files can be sent only over HTTP. Send the file with the REST API.');
    },
    rawRequestOf() {
      throw new ApiError(
        'forbidden',
        'This operation is available only over HTTP. Call it with the REST API.',
      );
    },
    readBody: ({ body }, _, billingAccount, limits, check) =>
      bodies.take(billingAccount, body, limits, check),
    termsOf({ ifMatch = null, mode = 'commit', idempotencyKey, hold = null }) {
      if (ifMatch === null && mode === 'commit' && idempotencyKey === undefined && !hold) return plainTerms;
      return {
        ifMatch,
        mode,
        idempotencyKey: idempotencyKey === undefined ? null : checkedKey(idempotencyKey),
        hold,
      };
    },
    originOf: ({ cause = null, staged = null, traceparent = null, ids = [] }) => ({
      cause,
      staged,
      traceparent,
      ids,
    }),
    show: (_, exchange, answer) => outcomeOf(take, exchange, answer),
    refuse: ({ requestId }, error) => ({ requestId, error }),
  });
}

/** Converts parameters to the texts of a URL, so that one rule defines the meaning of a text: lists with commas, objects as JSON. */
export function textsOf(query: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name.toWellFormed(), textOf(value).toWellFormed()]);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** @throws ApiError forbidden */
function outcomeOf<T>(take: Take<T>, exchange: Exchange, answer: HandlerAnswer): Outcome<T> {
  const { requestId } = exchange;
  const bodyOf = (body: unknown): T => {
    const { taken, bytes } = take(body);
    exchange.bytesOut = bytes;
    return taken;
  };
  switch (answer.kind) {
    case 'read':
      return {
        requestId,
        error: null,
        status: answer.status,
        body: bodyOf(answer.body),
        version: versionIn(answer.body),
        location: undefined,
        isReplay: false,
      };
    case 'written': {
      const { status, version, location, isReplay, text } = answer;
      const body = bodyOf(isReplay && text !== null ? JSON.parse(text) : answer.body);
      return { requestId, error: null, status, body, version, location, isReplay };
    }
    case 'raw':
    case 'stream':
      throw new ApiError(
        'forbidden',
        'This operation is available only over HTTP. Call it with the REST API.',
      );
  }
}
