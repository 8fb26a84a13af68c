// Interface between the kernel and its adapters, `requests.ts` for HTTP and `values.ts` for in-process
// callers. An adapter reads each part of a request only when the kernel needs it, so that nothing is read for
// a caller who is not admitted.
import type { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import type { BodyLimits, ReadBody } from './body.ts';
import type { HandlerAnswer, IncomingFile, Origin, Terms } from '../call.ts';
import type { Exchange } from '../exchange.ts';
import type { Principal } from '../principal.ts';
import type { RawRequest, Route } from '../route.ts';

export interface Incoming {
  /** Path parameters by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** `In` is the adapter's form of a request, `Out` its form of a response. */
export interface RequestAdapter<In extends Incoming, Out> {
  /** Authenticates the caller and counts the request against its limits. @throws ApiError unauthorized, rate_limited */
  admit(incoming: In, exchange: Exchange, route: Route): Principal | null | Promise<Principal | null>;
  /** True if a write is requested as a proposal, which needs other scopes. */
  proposes(incoming: In): boolean;
  /** @throws ApiError malformed_request for a path that cannot be decoded */
  requirePath(incoming: In): void;
  /** Returns the query parameters as texts, which the schema of the route converts to their types. */
  queryOf(incoming: In): Iterable<readonly [name: string, text: string]>;
  bringsBody(incoming: In): boolean;
  /** @throws ApiError payload_too_large, malformed_request, rate_limited, and what `check` throws */
  readBody(
    incoming: In,
    exchange: Exchange,
    billingAccount: BillingAccount,
    limits: BodyLimits,
    check: (value: unknown) => void,
  ): ReadBody | Promise<ReadBody>;
  /** Returns the file of an upload, which is read later. @throws ApiError */
  fileOf(incoming: In, exchange: Exchange, billingAccount: BillingAccount): IncomingFile;
  /** Returns the request to an inbound route. @throws ApiError */
  rawRequestOf(incoming: In, exchange: Exchange, route: Route, principal: Principal | null): RawRequest;
  /** Called only for writes. @throws ApiError validation_failed */
  termsOf(incoming: In): Terms;
  originOf(incoming: In): Origin;
  /** @throws ApiError if the adapter cannot send the answer */
  show(incoming: In, exchange: Exchange, answer: HandlerAnswer): Out | Promise<Out>;
  refuse(exchange: Exchange, error: ApiError): Out;
}
