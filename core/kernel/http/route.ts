// Route definitions. The server, the OpenAPI document, the scope matrix and the tests are all derived from one entry per endpoint.
// Handlers are 1–5 lines that call an operation.
import type { Static, TObject, TSchema } from 'typebox';
import type { ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { ErrorCode } from '../../platform/lib/errors/errors.ts';
import type { Connected } from '../../platform/lib/fairness/fair-quota.ts';
import type { BillingAccount } from '../../platform/lib/billing-account.ts';
import type { ArrivedBlob } from '../../platform/store/files/blobs.ts';
import type { CachedBody } from './request/body.ts';
import type { ExemptConnection } from './response/outflow.ts';
import type { Granted, Principal } from './principal.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** Rate-limit class of a route; `none` is unlimited, for health probes. */
export type LimitClass = 'read' | 'write' | 'search' | 'none';

type In<S extends TSchema | undefined> = S extends TSchema ? Static<S> : undefined;

export interface RouteInput<
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
> {
  readonly params: In<P>;
  readonly query: In<Q>;
  readonly body: In<B>;
  /** Version in `If-Match`; null when absent or `*`. */
  readonly ifMatch: number | null;
}

/** Validated input with the types of its schemas erased. */
export type CheckedInput = RouteInput<TObject, TObject, TSchema>;

/** Parts of a route by which a caller is admitted. */
export interface Admission {
  /** `noun.verb`: operation id, CLI command and name in the scope matrix. */
  readonly name: string;
  /** Required scope; null for a public route, which needs no token unless `anyKey` is set. */
  readonly scope: string | null;
  /** Requires a token, but no particular scope. */
  readonly anyKey?: true;
  readonly limit: LimitClass;
  /**
   * Resource that a grant must be for (RFC 8707), for an inbound route that accepts tokens. The handler receives the principal, and
   * itself responds to requests without a valid token.
   */
  readonly resource?: Granted['resource'];
}

interface RouteFacts<
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
> extends Admission {
  readonly method: Method;
  /** Path below the base URL, with `{param}` segments. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Success status → schema of its body; null for no body. */
  readonly responses: Readonly<Record<number, TSchema | null>>;
  /** Example body for the OpenAPI document; a test validates it against the schema. */
  readonly example?: B extends TSchema ? Static<B> : never;
  /** Error codes in addition to those that every route can return. */
  readonly errors?: readonly ErrorCode[];
  /**
   * True if the response is a `CachedBody`: it has an entity tag, and is 304 if the client already has the
   * body.
   */
  readonly cached?: true;
  /** Media type of the success body; default JSON. */
  readonly contentType?: string;
  /** True for routes that only scripts of this server's pages call: they are not part of the API. */
  readonly ofPages?: boolean;
  /** Body limit in bytes, where the default is too small. */
  readonly bodyBytesMax?: number;
  /** Limit of objects, lists and properties in the body, where the default is too small. */
  readonly bodyPartsMax?: number;
  /** True if the response contains a one-time secret: it is stored encrypted for idempotent replays. */
  readonly secret?: boolean;
  /**
   * Restriction of rows for a narrowed scope. `team`: everything that the route reads and writes belongs to a
   * team, and is restricted to the caller's teams. `member`: everything belongs to a member, and is
   * restricted to the caller's own.
   */
  readonly rows?: 'team' | 'member';
  /** Fields that the route writes in addition to those of its body. */
  readonly writes?: readonly string[];
  /** Path parameter that names an install. A plugin that names its own install needs no grant. */
  readonly own?: string;
  /** Rejects an upload before the file is read. @param announcedBytes null without a Content-Length */
  readonly admitsFile?: (ctx: Context, input: CheckedInput, announcedBytes: number | null) => Promise<void>;
  /** Scopes required in addition to `scope`, where they depend on the object. */
  readonly also?: AlsoNeeded;
}

export interface AlsoNeeded {
  /** Names of the scopes, worded as the end of a sentence. */
  readonly words: string;
  scopes(ctx: Context, input: CheckedInput): Promise<readonly string[]>;
}

/** Response that is not JSON, or does not use the envelope of the API. */
export interface RawAnswer {
  readonly contentType: string;
  /** A `CachedBody` is sent compressed and with its entity tag. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | Blob | CachedBody;
  /** Strong entity tag of a `Blob` body, which is then also served in ranges. */
  readonly etag?: string;
  /** A header with several values is sent as several lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly status?: number;
}

/** Connection of an event stream. */
export interface HttpConnection extends Connected {
  /** `Last-Event-ID` (WHATWG HTML § 9.2.4). */
  readonly lastEventId: string | null;
  /**
   * Returns true while the token is valid with the same rights. A client whose rights changed must reconnect.
   */
  isAdmitted(): Promise<boolean>;
  /** Closes the connection, even if the client does not read. */
  hangUp(): void;
}

/** Received file of an upload. */
export interface FileSent {
  /** `Content-Type` of the request; null if absent. */
  readonly contentType: string | null;
  readonly blob: ArrivedBlob;
}

export interface RequestContent {
  readonly method: string;
  /** Requested path, without the query. */
  readonly path: string;
  readonly headers: Headers;
  readonly query: URLSearchParams;
  /** Client address, as far as trusted proxies report it. */
  readonly peer: string;
  /** Reads the body; may be called once. @throws ApiError payload_too_large */
  read(bytesMax: number): Promise<Uint8Array>;
}

/** Unvalidated request in the sender's own format. */
export interface RawRequest extends RequestContent {
  /** Base URL of this server. */
  readonly baseUrl: string;
  /** Caller at a route with `resource`; null without a token that is valid there, and at other routes. */
  readonly principal: Principal | null;
  /** Authenticates again: the token may have been revoked since. */
  identify(): Promise<Principal | null>;
  /** Exempts the connection from the idle timeout. */
  holdOpen(): ExemptConnection;
}

/** Handlers by the kind of route; a route has exactly one. */
interface Works<P extends TObject | undefined, Q extends TObject | undefined, B extends TSchema | undefined> {
  /** Returns the response body. */
  read(ctx: Context, input: RouteInput<P, Q, B>): Promise<unknown>;
  /** Returns a change set, which the kernel commits. */
  write(ctx: Context, input: RouteInput<P, Q, B>): Promise<ChangeSet>;
  /** Returns a page or a document. @param sender account whose quota for expensive work is charged */
  raw(input: RouteInput<P, Q, B>, sender: BillingAccount): Promise<RawAnswer> | RawAnswer;
  /** Like `write`, with a file as the body. */
  upload(ctx: Context, input: RouteInput<P, Q, B>, sent: FileSent): Promise<ChangeSet>;
  /** Returns a file that the caller may read. */
  file(ctx: Context, input: RouteInput<P, Q, B>): Promise<RawAnswer>;
  /** Responds to a request in the sender's own format. The handler authenticates senders; tokens are ignored unless `resource` is set. */
  inbound(input: RouteInput<P, Q, B>, rawRequest: RawRequest): Promise<RawAnswer>;
  /** Returns a stream that lasts as long as the connection. */
  stream(
    ctx: Context,
    input: RouteInput<P, Q, B>,
    connection: HttpConnection,
  ): Promise<ReadableStream<Uint8Array>>;
}

type RouteType = keyof Works<undefined, undefined, undefined>;

type OneWork<P extends TObject | undefined, Q extends TObject | undefined, B extends TSchema | undefined> = {
  [K in RouteType]: Pick<Works<P, Q, B>, K> & { readonly [Other in Exclude<RouteType, K>]?: never };
}[RouteType];

type AnyFacts = RouteFacts<TObject, TObject, TSchema>;
type AnyWorks = Works<TObject, TObject, TSchema>;
type RouteOf<K extends RouteType> = AnyFacts & Readonly<Pick<AnyWorks, K>> & { readonly kind: K };

export type ReadRoute = RouteOf<'read'>;
export type WriteRoute = RouteOf<'write'>;
export type RawRoute = RouteOf<'raw'>;
export type StreamRoute = RouteOf<'stream'>;
export type InboundRoute = RouteOf<'inbound'>;
export type UploadRoute = RouteOf<'upload'>;
export type FileRoute = RouteOf<'file'>;

/** Route with its types erased and its kind as a tag. */
export type Route = ReadRoute | WriteRoute | RawRoute | StreamRoute | UploadRoute | FileRoute | InboundRoute;

/** Content of a signed URL. */
export interface SignedClaims {
  readonly workspaceId: string;
  /** Id of the key, grant or session that requested the URL. */
  readonly credentialId: string;
  /** Id of the object. */
  readonly id: string;
}

/** Route that is called by signed URLs only. */
export interface SignedRoute {
  /** Its only path parameter is `id`. */
  readonly route: Route;
  /** Public path, with `{token}` in place of the id. */
  readonly path: string;
  /** Returns null for a token that is forged or has expired. */
  open(token: string): SignedClaims | null;
}

/** Declares a route. The schemas type the input of the handler, and the kernel validates against them before it calls the handler. */
export function defineRoute<
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: RouteFacts<P, Q, B> & OneWork<P, Q, B>): Route;
export function defineRoute(route: AnyFacts & OneWork<TObject, TObject, TSchema>): Route {
  if (route.read) return { kind: 'read', ...route };
  if (route.write) return { kind: 'write', ...route };
  if (route.raw) return { kind: 'raw', ...route };
  if (route.upload) return { kind: 'upload', ...route };
  if (route.inbound) return { kind: 'inbound', ...route };
  if (route.file) return { kind: 'file', ...route };
  return { kind: 'stream', ...route };
}

/** Returns the status for operations that set none: the first that the route declares. */
export function successStatusOf({ responses }: Route): number {
  return Number(Object.keys(responses)[0]);
}

/**
 * Returns true if the route accepts `If-Match`. A new object, or a response without a version, has no version
 * to compare; a PUT may change an existing object.
 */
export function takesIfMatch(route: Route): boolean {
  if (route.kind !== 'write' || (makes(route) && route.method !== 'PUT')) return false;
  const response = route.responses[200];
  return response == null || hasVersion(response);
}

export function hasVersion(schema: TSchema | null): boolean {
  return 'version' in ((schema as Partial<TObject> | null)?.properties ?? {});
}

export function needsCaller({ scope, anyKey }: Admission): boolean {
  return scope !== null || anyKey === true;
}

export function writesRows({ kind }: Route): boolean {
  return kind === 'write' || kind === 'upload';
}

export function makes(route: Route): boolean {
  return 201 in route.responses || 202 in route.responses;
}

export function pathOf({ path }: Route, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
