// Types of `ctx`: it has the members of the scopes that the plugin declares. Without types, a call without a declared
// scope rejects with `ScopeDenied`, which names the scope.
import type { Page } from '../page.ts';
import type { ReadCalls, ScopeNamespaces, WriteCalls } from '../generated/calls.ts';

export interface RunInfo {
  readonly id: string;
  readonly attempt: number;
  readonly mode: 'apply' | 'propose' | 'simulate' | 'replay';
  /** Number of plugin runs in the chain of causes before this one. */
  readonly depth: number;
  readonly rootEventId: string | null;
  /** Unix time in milliseconds at which the run is stopped, even if it only waits. */
  readonly deadline: number;
  /**
   * Returns the CPU time left in the current stretch of code, in milliseconds; each response of the host starts a new
   * stretch.
   */
  cpuLeftMs(): number;
}

export interface Log {
  debug(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  error(...parts: unknown[]): void;
}

/** Key–value store of this install. Values are JSON of up to 2 MiB each. */
export interface KeyValue {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  list(query?: { prefix?: string; limit?: number; after?: string }): Promise<Page<{ key: string }>>;
  increment(key: string, by?: number): Promise<number>;
  /** Returns true if the value was `expected` and is now `next`; `expected` null means absent. */
  compareAndSet(key: string, expected: unknown, next: unknown): Promise<boolean>;
}

/**
 * One-time jobs of the schedules that the manifest defines without `cron`. They are committed or discarded with the
 * run's other writes.
 */
export interface OneOffs {
  /**
   * Schedules a one-time job, at most a year ahead. Replaces an earlier one with the same name.
   * @param name name of the schedule, or `schedule:key` to have several: `remind:iss_…`
   * @param at Unix milliseconds, a Date, or an ISO 8601 time
   * @param data JSON of up to 16 KiB, passed to the handler as `event.data`
   */
  once(name: string, at: number | string | Date, data?: unknown): Promise<void>;
  /** Returns true if there was a job to cancel. */
  cancel(name: string): Promise<boolean>;
}

/** Placeholder of a secret; see `Secrets.ref`. */
export type SecretRef = string & { readonly secretRef: never };

export interface Secrets {
  /** Returns true if the manifest declares the secret and an administrator has set it. */
  has(name: string): boolean;
  /**
   * Returns a placeholder. The host replaces it with the secret in the declared header of a request to a
   * declared host; anywhere else the request is rejected.
   * @throws InvalidInput if the manifest does not declare the secret
   */
  ref(name: string): SecretRef;
}

/** Structural type of `URLSearchParams` and similar objects. */
interface Texts extends Iterable<readonly [string, string]> {
  toString(): string;
}

export interface FetchInit {
  /** Default `GET`. */
  readonly method?: string;
  /** A record or a `Headers`. */
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

/** Redirects are not followed; they are returned like any other response. */
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
   * Sends a request that the manifest's `net` allows, with a timeout of 5 s. A retried run gets the recorded
   * response, and nothing is sent again.
   * @throws EgressDenied, DeadlineExceeded, Unreachable, QuotaExceeded, InvalidInput
   */
  fetch(url: string | { readonly href: string }, init?: FetchInit): Promise<FetchResponse>;
  /** Returns the run's clock, which advances only during host calls. */
  now(): number;
  /** Returns a random number from the run's seed. */
  random(): number;
  /** Waits. Also ends the current stretch of code; each stretch of an event handler may use 100 ms of CPU time. */
  sleep(ms: number): Promise<void>;
  /** Returns true if the workspace has granted this scope. */
  has(scope: string): boolean;
}

/** True if one of `Needed` is among the declared scopes. */
type Declares<Declared, Needed> = [Extract<Declared, Needed>] extends [never] ? false : true;
type Namespace = keyof ScopeNamespaces;
type ScopeOf<Name extends Namespace, Right extends string> = `${ScopeNamespaces[Name]}:${Right}`;
type Part<Calls, Name, Allowed> = [Allowed, Name] extends [true, keyof Calls]
  ? Calls[Name & keyof Calls]
  : unknown;

/** Calls of `ctx`: one namespace per declared scope; write implies read. */
type Calls<Scopes> = {
  readonly [
    Name in Namespace as Declares<Scopes, ScopeOf<Name, 'read' | 'write'>> extends true ? Name : never
  ]: Part<ReadCalls, Name, true> & Part<WriteCalls, Name, Declares<Scopes, ScopeOf<Name, 'write'>>>;
};

/** `Scopes` is the union of the declared scopes. */
export type Context<Scopes, Settings> = BaseContext<Settings> & Calls<Scopes>;
