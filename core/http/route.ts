// Routes are data: one entry says everything about an endpoint, and the server, the OpenAPI document, the scope matrix and
// the tests are all derived from it. Handlers are 1–5 lines that call an operation.
import type { Static, TObject, TSchema } from 'typebox';
import type { ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { ErrorCode } from '../lib/errors.ts';
import type { Connected } from '../lib/fairness/shares.ts';
import type { Payer } from '../lib/payer.ts';
import type { ArrivedBlob } from '../store/blobs.ts';
import type { Kept } from './kept.ts';
import type { Held } from './outflow.ts';
import type { Granted, Principal } from './principal.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** The class decides how many requests a minute are allowed; `none` has no limit and is for what supervisors ask. */
export type LimitClass = 'read' | 'write' | 'search' | 'none';

type In<S extends TSchema | undefined> = S extends TSchema ? Static<S> : undefined;

export interface Input<
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
> {
  readonly params: In<P>;
  readonly query: In<Q>;
  readonly body: In<B>;
  /** The version of `If-Match`; null when absent or `*`. */
  readonly ifMatch: number | null;
}

/** The input as the kernel holds it: checked against the schemas, whose types are erased here. */
export type CheckedInput = Input<TObject, TObject, TSchema>;

interface RouteFacts<
  P extends TObject | undefined,
  Q extends TObject | undefined,
  B extends TSchema | undefined,
> {
  readonly method: Method;
  /** Below the base address, with `{param}` segments. */
  readonly path: string;
  /** `noun.verb`: operation id, CLI word and name in the scope matrix. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** Null: public, no token needed, unless `anyKey`. */
  readonly scope: string | null;
  /** It needs a token, and none of its scopes. */
  readonly anyKey?: true;
  readonly limit: LimitClass;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Success status → schema of its body; null for no body. */
  readonly responses: Readonly<Record<number, TSchema | null>>;
  /** An example body for the document; it must satisfy the schema (a test says so). */
  readonly example?: B extends TSchema ? Static<B> : never;
  /** Errors beyond those every route can answer. */
  readonly errors?: readonly ErrorCode[];
  /** Answers what is `Kept`, so with an entity tag, and 304 to whoever has it already. */
  readonly kept?: true;
  /** The media type of the success body, where it is not JSON. */
  readonly contentType?: string;
  /** Asked by scripts of pages of this server alone: no part of the API, whatever it answers. */
  readonly ofPages?: boolean;
  /** The cap of the body, where the usual one is too small. */
  readonly bodyBytesMax?: number;
  /** The cap of objects, lists and properties in the body, where the usual one is too small. */
  readonly bodyPartsMax?: number;
  /** The answer shows a secret once: it is kept encrypted for idempotent replays. */
  readonly secret?: boolean;
  /**
   * What can be enforced of a scope held in part. `team`: all that the route reads and writes belongs to a team, and is held to those of
   * the caller. `member`: all of it belongs to a member, and is held to the caller's own.
   */
  readonly rows?: 'team' | 'member';
  /** Fields that the route writes beside those of its body. */
  readonly writes?: readonly string[];
  /** The path parameter that names an install. A plugin that names its own there needs no grant. */
  readonly own?: string;
  /** Of an upload, asked before any of the file is taken. @param announcedBytes null where the request does not say */
  readonly admitsFile?: (ctx: Context, input: CheckedInput, announcedBytes: number | null) => Promise<void>;
  /** Scopes needed beside `scope`, where the object decides which those are. */
  readonly also?: AlsoNeeded;
  /**
   * Of an inbound route that takes tokens: the resource that a grant must be for (RFC 8707). It is told who asks, and itself answers
   * those who bring no token that is good there.
   */
  readonly resource?: Granted['resource'];
}

export interface AlsoNeeded {
  /** The scopes in words, for the end of a sentence. */
  readonly words: string;
  scopes(ctx: Context, input: CheckedInput): Promise<readonly string[]>;
}

/** Answers that are not JSON, or not under the API's envelope. */
export interface RawAnswer {
  readonly contentType: string;
  /** What is `Kept` is sent coded, and with its entity tag. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | Blob | Kept;
  /** Strong entity tag of a body that is a `Blob`: it is then also sent in ranges. */
  readonly etag?: string;
  /** One with several values is sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly status?: number;
}

/** The connection that a stream is sent on. */
export interface Connection extends Connected {
  /** `Last-Event-ID` (WHATWG HTML § 9.2.4). */
  readonly lastEventId: string | null;
  /** Whether the token of the request is still good, and may do what it could: who may do less or more comes back, and reads by that. */
  isAdmitted(): Promise<boolean>;
  /** Closes the connection, even where its peer takes nothing. */
  hangUp(): void;
}

/** A file as a request brought it. */
export interface FileSent {
  /** Its `Content-Type`; null where it has none. */
  readonly contentType: string | null;
  readonly blob: ArrivedBlob;
}

/** A request that others send in a form of their own; nothing of it has been looked at. */
export interface Arrival {
  /** Address of this server. */
  readonly baseUrl: string;
  readonly method: string;
  /** As it was asked for, without the query. */
  readonly path: string;
  readonly headers: Headers;
  readonly query: URLSearchParams;
  /** The address that it comes from, as far as the proxies that are trusted can tell. */
  readonly peer: string;
  /** To be called once. @throws ApiError payload_too_large */
  read(bytesMax: number): Promise<Uint8Array>;
  /** At a route of a resource, whose token it brings; null for none that is good there, and at other routes. */
  readonly principal: Principal | null;
  /** Finds that out anew: a token may have been withdrawn since. */
  identify(): Promise<Principal | null>;
  /** Keeps its connection open however long it is silent. */
  holdOpen(): Held;
}

/** What the kinds of route do; a route does exactly one of them. */
interface Works<P extends TObject | undefined, Q extends TObject | undefined, B extends TSchema | undefined> {
  /** Answers. */
  read(ctx: Context, input: Input<P, Q, B>): Promise<unknown>;
  /** Returns a change set for the door to commit. */
  write(ctx: Context, input: Input<P, Q, B>): Promise<ChangeSet>;
  /** Answers a page or a document. @param sender whose share of limited work the answer uses */
  raw(input: Input<P, Q, B>, sender: Payer): Promise<RawAnswer> | RawAnswer;
  /** As `write`, with a file for a body. */
  upload(ctx: Context, input: Input<P, Q, B>, sent: FileSent): Promise<ChangeSet>;
  /** Answers a file to who may have it. */
  file(ctx: Context, input: Input<P, Q, B>): Promise<RawAnswer>;
  /** Answers what others send in a form of their own. It knows its senders by other means than a token, which is not looked at. */
  inbound(input: Input<P, Q, B>, arrival: Arrival): Promise<RawAnswer>;
  /** Answers for as long as the connection is held. */
  stream(ctx: Context, input: Input<P, Q, B>, connection: Connection): Promise<ReadableStream<Uint8Array>>;
}

type RouteKind = keyof Works<undefined, undefined, undefined>;

type OneWork<P extends TObject | undefined, Q extends TObject | undefined, B extends TSchema | undefined> = {
  [K in RouteKind]: Pick<Works<P, Q, B>, K> & { readonly [Other in Exclude<RouteKind, K>]?: never };
}[RouteKind];

type AnyFacts = RouteFacts<TObject, TObject, TSchema>;
type AnyWorks = Works<TObject, TObject, TSchema>;
type RouteOf<K extends RouteKind> = AnyFacts & Readonly<Pick<AnyWorks, K>> & { readonly kind: K };

export type ReadRoute = RouteOf<'read'>;
export type WriteRoute = RouteOf<'write'>;
export type RawRoute = RouteOf<'raw'>;
export type StreamRoute = RouteOf<'stream'>;
export type InboundRoute = RouteOf<'inbound'>;
export type UploadRoute = RouteOf<'upload'>;
export type FileRoute = RouteOf<'file'>;

/** A route as the kernel holds it: its types erased, and its kind as a tag. */
export type Route = ReadRoute | WriteRoute | RawRoute | StreamRoute | UploadRoute | FileRoute | InboundRoute;

/** Declares a route; the handler's input is typed by the schemas, which the kernel enforces before it calls. */
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

/** The status of an answer where the operation names none: the first that the route declares. */
export function successStatusOf({ responses }: Pick<Route, 'responses'>): number {
  return Number(Object.keys(responses)[0]);
}

/** What is only just made, and what shows no version, has none to compare. A PUT may find what it is to make. */
export function takesIfMatch(route: Route): boolean {
  if (route.kind !== 'write' || (makes(route) && route.method !== 'PUT')) return false;
  const shown = route.responses[200];
  return shown == null || hasVersion(shown);
}

export function hasVersion(schema: TSchema | null): boolean {
  return 'version' in ((schema as Partial<TObject> | null)?.properties ?? {});
}

/** Whether it answers only to somebody. */
export function needsCaller({ scope, anyKey }: Pick<Route, 'scope' | 'anyKey'>): boolean {
  return scope !== null || anyKey === true;
}

/** Whether it commits what it is asked for. */
export function writesRows({ kind }: Pick<Route, 'kind'>): boolean {
  return kind === 'write' || kind === 'upload';
}

export function makes(route: Route): boolean {
  return 201 in route.responses || 202 in route.responses;
}

/** The path of a request to a route. */
export function pathOf({ path }: Route, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
