// The shape of a plugin's definition. Everything but the `handle` functions ends up in the static manifest.
import type { EventData } from '../generated/events.ts';
import type { EventFilters } from '../generated/filters.ts';
import type { Issue } from '../generated/issues.ts';
import type { Project } from '../generated/projects.ts';
import type { Actor, Envelope } from '../webhooks/event.ts';
import type { Received } from './call.ts';
import type { Context } from './context.ts';
import type { PluginEventType } from './event-types.ts';

/** The same envelope that webhooks carry, always with the whole object but for its description. Narrows on `type`. */
export type PluginEvent<Type extends PluginEventType = PluginEventType> = {
  [One in Type]: Envelope<One, Received<EventData[One]>>;
}[Type];

export interface ScopeRequest {
  /** Shown to whoever installs the plugin. */
  why: string;
  /**
   * Fields of the scope (docs/scopes.md lists them). Without them, all fields. A write scope writes these alone, a creation's `team` and
   * `title` included, and reads all. A read scope reads these alone, beside id, version and times: answers and the
   * `data` of events lack the others, although their types name them.
   */
  fields?: readonly string[];
  /** Of issues and comments: keys of the only teams whose objects are seen and written, and whose events are sent. */
  where?: { readonly team?: readonly string[] };
}

type FilterOf<Type> = Type extends keyof EventFilters ? EventFilters[Type] : never;

export interface Subscription<Type extends PluginEventType, Scopes, Settings> {
  /** A filter over the event's `data`, as in lists and webhooks: `{ priority: ['none'] }`. Relative times count from the event. */
  filter?: FilterOf<Type>;
  /** Events that this plugin caused itself; skipped unless asked for. */
  self?: 'skip' | 'deliver';
  /** `issue`: one at a time and in order for each issue. */
  order?: 'issue' | 'none';
  handle(event: Readonly<PluginEvent<Type>>, ctx: Context<Scopes, Settings>): Promise<void> | void;
}

/**
 * How far a schedule has come. While `done` is less than `of`, it is run again at once, with the same `scheduledAt`, as long as each
 * run gets further than the one before; what each run wrote is kept.
 */
export interface Progress {
  readonly done: number;
  readonly of: number;
  /** What is counted, for people: "teams". */
  readonly unit?: string;
}

export interface ScheduledEvent {
  readonly schedule: string;
  readonly scheduledAt: string;
  /** Of a one-off run: the name it was asked for by, `remind` or `remind:iss_…`. */
  readonly name?: string;
  /** Of a one-off run: what it was asked for with. */
  readonly data?: unknown;
}

export interface Schedule<Scopes, Settings> {
  /** Five fields; at most every five minutes. Without it, the schedule runs only when `ctx.schedule.once` asks for it. */
  cron?: string;
  /**
   * IANA time zone in which `cron` is read, such as Europe/Berlin; by default UTC. On the day when clocks go forward, a schedule with one
   * minute and one hour that are skipped runs at the end of the gap; when they go back, it runs at the first of both times.
   */
  timeZone?: string;
  /** Earlier name of `timeZone`. */
  tz?: string;
  /** What happens when the previous run is still going. */
  overlap?: 'skip';
  /** Processor time of one run, up to 10,000 ms; 2,000 ms otherwise. It may be used in one stretch. */
  limits?: { cpuMs?: number };
  handle(event: ScheduledEvent, ctx: Context<Scopes, Settings>): Promise<Progress | void> | Progress | void;
}

/** Any JSON of up to 20,480 characters, or a promise of it; undefined counts as null. */
type Answer = unknown;

export interface ActionEvent<Target extends 'issue' | 'project' | 'none' = 'issue' | 'project' | 'none'> {
  readonly action: string;
  /** The object as the caller, and the plugin, may see it. */
  readonly target: {
    issue: Received<Issue>;
    project: Received<Project>;
    none: null;
  }[Target];
  readonly input: Readonly<Record<string, unknown>>;
  /** Who called. The run can do what this caller and the plugin both may do. */
  readonly caller: Actor;
}

/** Something that people and programs call: `POST /api/v1/plugins/{id}/actions/{name}`. */
export interface Action<Scopes, Settings, Target extends 'issue' | 'project' | 'none'> {
  target: Target;
  title?: string;
  description?: string;
  /** A JSON schema of an object; `default`s fill in what is not given. Without it, the action takes no input. */
  input?: Readonly<Record<string, unknown>>;
  /** Processor time of one run, up to 10,000 ms; 2,000 ms otherwise. */
  limits?: { cpuMs?: number };
  handle(event: Readonly<ActionEvent<Target>>, ctx: Context<Scopes, Settings>): Answer;
}

type AnyAction<Scopes, Settings> =
  Action<Scopes, Settings, 'issue'> | Action<Scopes, Settings, 'project'> | Action<Scopes, Settings, 'none'>;

export interface RouteRequest {
  readonly route: string;
  readonly method: 'GET' | 'POST';
  /** Lower-case names; only those that say something of the content, of the sender and of the event it sends. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** As it came, UTF-8. */
  readonly body: string;
}

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type NumberOf<Text extends string> = Text extends `${infer Written extends number}` ? Written : never;
type TypeOfContent = 'text/plain' | 'application/json';

export interface RouteAnswer {
  /** 200 to 599. */
  status: NumberOf<`${2 | 3 | 4 | 5}${Digit}${Digit}`>;
  /** At most 20, of up to 1,000 printable ASCII characters each. */
  headers?: {
    readonly 'content-type'?: TypeOfContent | `${TypeOfContent};${string}`;
    readonly 'retry-after'?: string;
    readonly 'cache-control'?: string;
    readonly etag?: string;
    readonly 'last-modified'?: string;
    readonly 'x-slack-no-retry'?: string;
    readonly 'set-cookie'?: never;
    readonly location?: never;
    /** Header names of the plugin's own. Other names are refused: proxies act on some of them. */
    readonly [name: `x-plugin-${string}`]: string;
  };
  /** With the rest of the answer, up to 20,480 characters of JSON. */
  body?: string;
}

/** An address of the plugin's own that others send to, once an administrator has opened it. */
export interface Route<Scopes, Settings> {
  method: 'GET' | 'POST';
  /** `hmac`: what is sent is signed as our webhooks are. `public`: whoever knows the address may send. */
  auth: 'hmac' | 'public';
  /** Bytes, up to 65,536. */
  maxBody?: number;
  /** Shown to whoever opens it. */
  why?: string;
  handle(
    request: Readonly<RouteRequest>,
    ctx: Context<Scopes, Settings>,
  ): Promise<RouteAnswer | void> | RouteAnswer | void;
}

/** Where a plugin may send requests. */
export interface NetRequest {
  /** `https://api.acme.dev`: scheme, host and, where it is not the usual one, port. */
  origin: string;
  /** Absent: all. */
  methods?: readonly ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  /** One path, or with `/` at its end all paths below it. Absent: all. */
  path?: string;
  /** Shown to whoever installs the plugin. */
  why: string;
  /** A request whose answer was lost is not sent a second time; the run then gets `EgressDenied`. */
  retry?: 'never';
}

/** A value that an administrator puts in. The plugin never sees it: the host writes it into a header on the way out. */
export interface SecretRequest {
  /** Origins of `net`; it is sent nowhere else. */
  hosts: readonly string[];
  /** It is sent in no other header. */
  header: string;
  /** What the header then holds, such as `Bearer {}`. Absent: the secret alone. */
  format?: string;
}

export interface PluginDefinition<Scopes extends string, Settings> {
  /** Unique and lasting, such as `com.acme.triage`. */
  id: string;
  version: string;
  name?: string;
  description?: string;
  /** The range of Tatami versions the plugin works with. */
  engines: { tatami: string };
  /** The date whose behaviour of the API the plugin was written for. */
  apiDate?: string;
  scopes?: { [Scope in Scopes]: ScopeRequest };
  net?: readonly NetRequest[];
  /** By names such as `ACME_KEY`. */
  secrets?: Readonly<Record<string, SecretRequest>>;
  /** A JSON schema of an object, the settings form; `default`s fill in what is not given. */
  settings?: Readonly<Record<string, unknown>>;
  limits?: { cpuMs?: number; memoryMb?: number };
  /** Isolates that work in parallel; an issue always meets the same one. 1 to 4. */
  partitions?: 1 | 2 | 3 | 4;
  /**
   * `serializable`, unless given: a run that read commits only while all it read still is so, and is run again otherwise. `none`: only
   * the objects that it writes must be as they were.
   */
  isolation?: 'serializable' | 'none';
  on?: { [Type in PluginEventType]?: Subscription<Type, NoInfer<Scopes>, Settings> };
  schedules?: Record<string, Schedule<NoInfer<Scopes>, Settings>>;
  actions?: Record<string, AnyAction<NoInfer<Scopes>, Settings>>;
  routes?: Record<string, Route<NoInfer<Scopes>, Settings>>;
}
