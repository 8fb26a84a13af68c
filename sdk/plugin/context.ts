// The types of `ctx`: they have the members of the scopes that the plugin declares. Without types, a call whose scope is not declared
// rejects with `ScopeDenied`, which names the scope.
import type { Page } from '../page.ts';
import type { ReadCalls, ScopeNamespaces, WriteCalls } from '../generated/calls.ts';

export interface RunInfo {
  readonly id: string;
  readonly attempt: number;
  readonly mode: 'apply' | 'propose' | 'simulate' | 'replay';
  /** How many runs of plugins led to this one. */
  readonly depth: number;
  readonly rootEventId: string | null;
  /** Milliseconds since 1970, when the run is stopped if it only waits. */
  readonly deadline: number;
  /** Processor time left when the present stretch of code began: each answer of the host begins a new one. */
  cpuLeftMs(): number;
}

export interface Log {
  debug(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  error(...parts: unknown[]): void;
}

/** Values are JSON, up to 2 MiB each; they belong to this install alone. */
export interface KeyValue {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  list(query?: { prefix?: string; limit?: number; after?: string }): Promise<Page<{ key: string }>>;
  increment(key: string, by?: number): Promise<number>;
  /** True when the value was `expected` and is now `next`; `expected` null means absent. */
  compareAndSet(key: string, expected: unknown, next: unknown): Promise<boolean>;
}

/** One-off runs of the schedules that the manifest has without `cron`. They are kept with the run's other writes, or not at all. */
export interface OneOffs {
  /**
   * Runs a schedule once, at a time of at most a year ahead; one that was asked for by the same name before is replaced.
   * @param name that of the schedule, or `schedule:key` to have several of them: `remind:iss_…`
   * @param at milliseconds since 1970, a Date, or an ISO time
   * @param data JSON of up to 16 KiB, which the handler finds in `event.data`
   */
  once(name: string, at: number | string | Date, data?: unknown): Promise<void>;
  /** True where there was one. */
  cancel(name: string): Promise<boolean>;
}

/** Stands for a secret; see `Secrets.ref`. */
export type SecretRef = string & { readonly secretRef: never };

export interface Secrets {
  /** Whether the manifest declares it and an administrator has set it. */
  has(name: string): boolean;
  /**
   * A placeholder. In the declared header of a request to a declared host the secret takes its place; anywhere else the
   * request is refused. @throws InvalidInput where the manifest does not declare it
   */
  ref(name: string): SecretRef;
}

/** Of `URLSearchParams` and the like. */
interface Texts extends Iterable<readonly [string, string]> {
  toString(): string;
}

export interface FetchInit {
  /** `GET` unless given. */
  readonly method?: string;
  /** Also a `Headers`. */
  readonly headers?: Readonly<Record<string, string>> | Iterable<readonly [string, string]>;
  /** Text, up to 256 KiB, or a `URLSearchParams`. */
  readonly body?: string | Texts | null;
  /** An `AbortSignal`. */
  readonly signal?: {
    readonly aborted: boolean;
    readonly reason?: unknown;
    addEventListener(type: 'abort', listener: () => void): void;
  } | null;
}

/** Redirects are not followed: they are answers like any other. */
export interface FetchResponse {
  readonly status: number;
  /** 200 to 299. */
  readonly ok: boolean;
  readonly url: string;
  /** A `Headers`. */
  readonly headers: Iterable<[string, string]> & {
    get(name: string): string | null;
    has(name: string): boolean;
  };
  text(): Promise<string>;
  json<Value = unknown>(): Promise<Value>;
}

export interface BaseContext<Settings> {
  readonly run: RunInfo;
  readonly settings: Settings;
  readonly kv: KeyValue;
  readonly schedule: OneOffs;
  readonly log: Log;
  readonly secrets: Secrets;
  /**
   * Sends one of the requests that the manifest's `net` names, and takes 5 s at most. A run that is tried again gets the answer that it
   * got, and nothing is sent again. @throws EgressDenied, DeadlineExceeded, Unreachable, QuotaExceeded, InvalidInput
   */
  fetch(url: string | { readonly href: string }, init?: FetchInit): Promise<FetchResponse>;
  /** The run's clock: it moves only while the host is asked something. */
  now(): number;
  /** From the run's seed. */
  random(): number;
  /** Also ends the current stretch of code; an event handler's may each take 100 ms of processor time. */
  sleep(ms: number): Promise<void>;
  /** Whether the workspace has granted this scope. */
  has(scope: string): boolean;
}

/** Whether one of `Needed` is among the declared scopes. */
type Declares<Declared, Needed> = [Extract<Declared, Needed>] extends [never] ? false : true;
type Namespace = keyof ScopeNamespaces;
type ScopeOf<Name extends Namespace, Right extends string> = `${ScopeNamespaces[Name]}:${Right}`;
type Part<Calls, Name, Allowed> = [Allowed, Name] extends [true, keyof Calls]
  ? Calls[Name & keyof Calls]
  : unknown;

/** What `ctx` can call: a namespace for the scopes that are declared for it; write implies read. */
type Calls<Scopes> = {
  readonly [
    Name in Namespace as Declares<Scopes, ScopeOf<Name, 'read' | 'write'>> extends true ? Name : never
  ]: Part<ReadCalls, Name, true> & Part<WriteCalls, Name, Declares<Scopes, ScopeOf<Name, 'write'>>>;
};

/** `Scopes` is the union of the declared ones. */
export type Context<Scopes, Settings> = BaseContext<Settings> & Calls<Scopes>;
