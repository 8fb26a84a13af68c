// Interface between the kernel and its adapters, `requests.ts` for HTTP and `values.ts` for in-process
// callers, and parsers of the path, the headers and the client address of a request.
import { type Cidr, type IpAddress, isWithin, parseAddress } from '../../../platform/lib/address.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import {
  type HandlerAnswer,
  type IncomingFile,
  type Origin,
  type Terms,
  type WriteMode,
  writeModes,
} from '../call.ts';
import type { Principal } from '../principal.ts';
import type { Exchange } from '../requests.ts';
import type { RawRequest, Route } from '../route.ts';
import type { BodyLimits, ReadBody } from './body.ts';

export interface Incoming {
  /** Path parameters by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Reads each part of a request only when the kernel needs it, so that nothing is read for a caller who is not
 * admitted. `In` is the adapter's form of a request, `Out` its form of a response.
 */
export interface RequestAdapter<In extends Incoming, Out> {
  /**
   * Authenticates the caller and counts the request against its limits.
   * @throws ApiError unauthorized, rate_limited
   */
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

/**
 * Returns the path as sent, with its percent escapes and without the query. Creates no URL object, which
 * would cost more than reading the rest of the request.
 */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.indexOf('?');
  return url.slice(start, end < 0 ? undefined : end);
}

/** Browsers accept HTML when a person opens a URL or sends a form. Programs accept JSON, or anything. */
export function acceptsPage({ headers }: Request): boolean {
  return (headers.get('accept') ?? '').includes('text/html');
}

/** Returns the mode in `Tatami-Mode`; `commit` without the header. @throws ApiError validation_failed */
export function modeOf(header: string | null): WriteMode {
  const requested = header ?? 'commit';
  const mode = writeModes.find((one) => one === requested);
  if (mode) return mode;
  const fix = `Use one of ${writeModes.join(', ')}.`;
  throw new ApiError('validation_failed', `Tatami-Mode: ${fix}`, {
    details: [{ path: 'Tatami-Mode', issue: 'invalid_enum', fix }],
  });
}

/**
 * Returns the key in `Idempotency-Key`. The IETF draft quotes it, as a structured string; both forms are
 * equal.
 * @throws ApiError validation_failed
 */
export function checkedKey(header: string): string {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key.length >= 1 && key.length <= 255) return key;
  const fix = 'Give 1 to 255 characters.';
  throw new ApiError('validation_failed', `Idempotency-Key: ${fix}`, {
    details: [{ path: 'Idempotency-Key', issue: key.length === 0 ? 'too_short' : 'too_long', fix }],
  });
}

/**
 * Returns `traceparent` (W3C Trace Context), which is propagated to events, runs and deliveries; null if
 * malformed.
 */
export function traceparentOf(header: string | null): string | null {
  return header !== null && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(header) ? header : null;
}

/** More hops than any chain of proxies has; earlier entries are ignored. */
const hopsMax = 32;
/** An IPv6 host owns its whole /64 (RFC 6177), so limits by single addresses would be ineffective. */
const networkBytes = 8;

/**
 * Returns the name of a client's rate-limit buckets: its IPv4 address, or its IPv6 network. Behind trusted
 * proxies the client is the last address in X-Forwarded-For that is not one of them; addresses to its left
 * are unverified claims of the client. Without trusted proxies the header is ignored.
 * @param socketAddress remote address of the connection
 */
export function peerName(
  socketAddress: string,
  forwardedFor: string | null,
  trusted: readonly Cidr[],
): string {
  let peer = plain(parseAddress(socketAddress));
  if (!peer) return socketAddress;
  const hops = forwardedFor === null ? [] : forwardedFor.split(',').slice(-hopsMax);
  for (let hop = hops.pop(); hop !== undefined && isWithin(peer, trusted); hop = hops.pop()) {
    const client = plain(parseAddress(withoutPort(hop.trim())));
    // A trusted proxy that names no client counts as the client.
    if (!client) break;
    peer = client;
  }
  if (peer.kind() === 'ipv4') return peer.toString();
  return `${Buffer.from(peer.toByteArray().slice(0, networkBytes)).toString('hex')}/64`;
}

/** Maximum number of addresses that are reported, because each is a line in the log. */
const reportedMax = 8;

/**
 * Returns `peerName` for these proxies.
 * @param untrusted called once for each untrusted address that sends X-Forwarded-For: it may be a proxy
 * missing in the configuration
 */
export function createPeerNames(
  trusted: readonly Cidr[],
  untrusted: (address: string) => void,
): (socketAddress: string, forwardedFor: string | null) => string {
  const reported = new Set<string>();
  return (socketAddress, forwardedFor) => {
    if (forwardedFor !== null && reported.size < reportedMax && !reported.has(socketAddress)) {
      const address = plain(parseAddress(socketAddress));
      if (address && !isWithin(address, trusted)) {
        reported.add(socketAddress);
        untrusted(address.toString());
      }
    }
    return peerName(socketAddress, forwardedFor, trusted);
  };
}

/** Converts an IPv4-mapped IPv6 address, as dual-stack sockets and proxies show it, to IPv4. */
function plain(address: IpAddress | undefined): IpAddress | undefined {
  return address && 'isIPv4MappedAddress' in address && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop);
  if (bracketed) return bracketed[1]!;
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
}
