// Types of a plugin's definition. Everything except the `handle` functions becomes the static manifest.
import type { EventData } from '../generated/events.ts';
import type { EventFilters } from '../generated/filters.ts';
import type { Issue } from '../generated/issues.ts';
import type { Project } from '../generated/projects.ts';
import type { Actor, Envelope } from '../webhooks/event.ts';
import type { Received } from './call.ts';
import type { Context } from './context.ts';
import type { PluginEventType } from './event-types.ts';

/** Events of an issue or of a part of an issue, such as a comment. */
type IssueRelated = `${'issue' | 'comment' | 'reaction' | 'sla'}.${string}`;

/**
 * Issue of an event at the start of the run, while `data` is the object at the moment of the event. It counts as a
 * read: the run commits only if the issue is unchanged. `issue` is null for a deleted issue, and absent if the plugin
 * may not read issues, or not those of its team.
 */
interface WithIssue {
  readonly issue?: Received<Issue> | null;
}

/**
 * The envelope that webhooks carry, always with the full object except for long descriptions, and the issue that it
 * is about. Narrows on `type`.
 */
export type PluginEvent<Type extends PluginEventType = PluginEventType> = {
  [One in Type]: Envelope<One, Received<EventData[One]>> & (One extends IssueRelated ? WithIssue : unknown);
}[Type];

export interface ScopeRequest {
  /** Shown to the person who installs the plugin. */
  why: string;
  /**
   * Fields of the scope (listed in docs/scopes.md); all fields if omitted. A write scope may write only these,
   * including `team` and `title` of a creation, and may read all. A read scope may read only these, and id, version
   * and times: results and the `data` of events lack the other fields, although their types name them.
   */
  fields?: readonly string[];
  /**
   * For issues and comments: keys of the only teams whose objects are visible and writable, and whose events are
   * sent.
   */
  where?: { readonly team?: readonly string[] };
}

type FilterOf<Type> = Type extends keyof EventFilters ? EventFilters[Type] : never;

export interface Subscription<Type extends PluginEventType, Scopes, Settings> {
  /**
   * Filter over the event's `data`, as in lists and webhooks: `{ priority: ['none'] }`. Relative times are relative
   * to the event.
   */
  filter?: FilterOf<Type>;
  /** Events caused by this plugin itself; default `skip`. */
  self?: 'skip' | 'deliver';
  /** `issue`: one at a time and in order per issue. */
  order?: 'issue' | 'none';
  handle(event: Readonly<PluginEvent<Type>>, ctx: Context<Scopes, Settings>): Promise<void> | void;
}

/**
 * Progress of a schedule. While `done` is less than `of`, the handler runs again at once with the same `scheduledAt`,
 * provided each run progresses further than the previous one; the writes of every run are committed.
 */
export interface Progress {
  readonly done: number;
  readonly of: number;
  /** Counted unit, shown to people, such as "teams". */
  readonly unit?: string;
}

export interface ScheduledEvent {
  readonly schedule: string;
  readonly scheduledAt: string;
  /** Name of a one-time job, such as `remind` or `remind:iss_…`. */
  readonly name?: string;
  /** Data of a one-time job. */
  readonly data?: unknown;
}

export interface Schedule<Scopes, Settings> {
  /**
   * Five fields, at most every five minutes. Without it, the schedule runs only for one-time jobs of
   * `ctx.schedule.once`.
   */
  cron?: string;
  /**
   * IANA time zone of `cron`, such as Europe/Berlin; default UTC. When clocks go forward, a schedule with one minute
   * and one hour that are skipped runs at the end of the gap; when they go back, it runs at the first of both times.
   */
  timeZone?: string;
  /** Former name of `timeZone`, still accepted. */
  tz?: string;
  /** Behavior when the previous run is still running. */
  overlap?: 'skip';
  /** CPU time of one run, up to 10,000 ms; default 2,000 ms. It may be used in one stretch. */
  limits?: { cpuMs?: number };
  handle(event: ScheduledEvent, ctx: Context<Scopes, Settings>): Promise<Progress | void> | Progress | void;
}

/** JSON of up to 20,480 characters, or a promise of it; undefined counts as null. */
type Answer = unknown;

export interface ActionEvent<Target extends 'issue' | 'project' | 'none' = 'issue' | 'project' | 'none'> {
  readonly action: string;
  /** The object, with the fields that both the caller and the plugin may read. */
  readonly target: {
    issue: Received<Issue>;
    project: Received<Project>;
    none: null;
  }[Target];
  readonly input: Readonly<Record<string, unknown>>;
  /** Caller of the action. The run may do only what both the caller and the plugin may do. */
  readonly caller: Actor;
}

/** Operation that people and programs call: `POST /api/v1/plugins/{id}/actions/{name}`. */
export interface Action<Scopes, Settings, Target extends 'issue' | 'project' | 'none'> {
  target: Target;
  title?: string;
  description?: string;
  /** JSON schema of an object; `default`s fill in missing properties. Without it, the action takes no input. */
  input?: Readonly<Record<string, unknown>>;
  /** CPU time of one run, up to 10,000 ms; default 2,000 ms. */
  limits?: { cpuMs?: number };
  handle(event: Readonly<ActionEvent<Target>>, ctx: Context<Scopes, Settings>): Answer;
}

type AnyAction<Scopes, Settings> =
  Action<Scopes, Settings, 'issue'> | Action<Scopes, Settings, 'project'> | Action<Scopes, Settings, 'none'>;

export interface RouteRequest {
  readonly route: string;
  readonly method: 'GET' | 'POST';
  /** Lower-case names; only headers about the content, the sender and the event. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Raw body, UTF-8. */
  readonly body: string;
}

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type NumberOf<Text extends string> = Text extends `${infer Written extends number}` ? Written : never;
type TypeOfContent = 'text/plain' | 'application/json';

export interface RouteAnswer {
  /** 200 to 599. */
  status: NumberOf<`${2 | 3 | 4 | 5}${Digit}${Digit}`>;
  /** At most 20, each of up to 1,000 printable ASCII characters. */
  headers?: {
    readonly 'content-type'?: TypeOfContent | `${TypeOfContent};${string}`;
    readonly 'retry-after'?: string;
    readonly 'cache-control'?: string;
    readonly etag?: string;
    readonly 'last-modified'?: string;
    readonly 'x-slack-no-retry'?: string;
    readonly 'set-cookie'?: never;
    readonly location?: never;
    /** Header names of the plugin itself. Other names are rejected, because proxies act on some of them. */
    readonly [name: `x-plugin-${string}`]: string;
  };
  /** Together with the rest of the answer, up to 20,480 characters of JSON. */
  body?: string;
}

/** HTTP endpoint of the plugin, reachable once an administrator has enabled it. */
export interface Route<Scopes, Settings> {
  method: 'GET' | 'POST';
  /** `hmac`: requests are signed like Tatami webhooks. `public`: anyone who knows the URL may send. */
  auth: 'hmac' | 'public';
  /** Maximum body size in bytes, up to 65,536. */
  maxBody?: number;
  /** Shown to the person who enables it. */
  why?: string;
  handle(
    request: Readonly<RouteRequest>,
    ctx: Context<Scopes, Settings>,
  ): Promise<RouteAnswer | void> | RouteAnswer | void;
}

/** Destination that a plugin may send requests to. */
export interface NetRequest {
  /** `https://api.acme.dev`: scheme, host and, if not the default, port. */
  origin: string;
  /** Default: all. */
  methods?: readonly ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  /** One path, or all paths below it if it ends with `/`. Default: all. */
  path?: string;
  /** Shown to the person who installs the plugin. */
  why: string;
  /** A request whose response was lost is not sent again; the run then gets `EgressDenied`. */
  retry?: 'never';
}

/**
 * A value that an administrator sets. The plugin cannot read it: the host inserts it into a header of
 * outgoing requests.
 */
export interface SecretRequest {
  /** Origins of `net`; the secret is sent to no other. */
  hosts: readonly string[];
  /** The only header that the secret is sent in. */
  header: string;
  /** Value of the header, such as `Bearer {}`. Default: the secret alone. */
  format?: string;
}

export interface PluginDefinition<Scopes extends string, Settings> {
  /** Unique and permanent, such as `com.acme.triage`. */
  id: string;
  version: string;
  name?: string;
  description?: string;
  /** Range of supported Tatami versions. */
  engines: { tatami: string };
  /** Date of the API behavior that the plugin was written for. */
  apiDate?: string;
  scopes?: { [Scope in Scopes]: ScopeRequest };
  net?: readonly NetRequest[];
  /** Secrets by name, such as `ACME_KEY`. */
  secrets?: Readonly<Record<string, SecretRequest>>;
  /** JSON schema of an object, shown as the settings form; `default`s fill in missing properties. */
  settings?: Readonly<Record<string, unknown>>;
  limits?: { cpuMs?: number; memoryMb?: number };
  /** Number of isolates that run in parallel, 1 to 4; an issue always uses the same one. */
  partitions?: 1 | 2 | 3 | 4;
  /**
   * Default `serializable`: a run commits only if everything it read is unchanged, and is retried otherwise. `none`:
   * only the objects that it writes must be unchanged.
   */
  isolation?: 'serializable' | 'none';
  on?: { [Type in PluginEventType]?: Subscription<Type, NoInfer<Scopes>, Settings> };
  schedules?: Record<string, Schedule<NoInfer<Scopes>, Settings>>;
  actions?: Record<string, AnyAction<NoInfer<Scopes>, Settings>>;
  routes?: Record<string, Route<NoInfer<Scopes>, Settings>>;
}
