// What an entrance to the kernel is: how a request is read and how its answer goes out. There are two, `requests.ts` for HTTP
// and `values.ts` for callers inside the process. The kernel asks for each part when its turn has come, so that nothing is read
// for a caller who is not admitted.
import type { ApiError } from '../lib/errors.ts';
import type { Payer } from '../lib/payer.ts';
import type { BodyLimits, ReadBody } from './body.ts';
import type { Answer, IncomingFile, Origin, Terms } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { Principal } from './principal.ts';
import type { Arrival, Route } from './route.ts';

/** One request as it comes in. */
export interface Incoming {
  /** Of the path, by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** `In` is what the entrance is handed of a request, `Out` what it hands back. */
export interface Entrance<In extends Incoming, Out> {
  /** Who asks, counted against its limits. @throws ApiError unauthorized, rate_limited */
  admit(incoming: In, exchange: Exchange, route: Route): Principal | null | Promise<Principal | null>;
  /** Whether a write is asked for as a proposal, which other scopes admit to. */
  proposes(incoming: In): boolean;
  /** @throws ApiError malformed_request for a path that cannot be decoded */
  requirePath(incoming: In): void;
  /** The parameters as texts, which the route's schema gives their types. */
  queryOf(incoming: In): Iterable<readonly [name: string, text: string]>;
  bringsBody(incoming: In): boolean;
  /** @throws ApiError payload_too_large, malformed_request, rate_limited, and what `check` throws */
  readBody(
    incoming: In,
    exchange: Exchange,
    payer: Payer,
    limits: BodyLimits,
    check: (value: unknown) => void,
  ): ReadBody | Promise<ReadBody>;
  /** Of an upload, what is read of it later. @throws ApiError */
  fileOf(incoming: In, exchange: Exchange, payer: Payer): IncomingFile;
  /** Of an inbound route. @throws ApiError */
  arrivalOf(incoming: In, exchange: Exchange, route: Route, principal: Principal | null): Arrival;
  /** Asked of writes alone. @throws ApiError validation_failed */
  termsOf(incoming: In): Terms;
  originOf(incoming: In): Origin;
  /** @throws ApiError where the answer cannot go out this way */
  show(incoming: In, exchange: Exchange, answer: Answer): Out | Promise<Out>;
  refuse(exchange: Exchange, error: ApiError): Out;
}
