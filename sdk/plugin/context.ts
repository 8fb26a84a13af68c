// The types of `ctx`: its members appear for the scopes that the plugin declares, and only for those.
import type { Comment, Issue, IssuePatch, IssueQuery, Label, Page, Priority, Project } from './resources.ts';

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

export interface BaseContext<Settings> {
  readonly run: RunInfo;
  readonly settings: Settings;
  readonly kv: KeyValue;
  readonly log: Log;
  /** The run's clock: it moves only while the host is asked something. */
  now(): number;
  /** From the run's seed. */
  random(): number;
  /** Also ends the current stretch of code; an event handler's may each take 100 ms of processor time. */
  sleep(ms: number): Promise<void>;
  /** Whether the workspace has granted this scope. */
  has(scope: string): boolean;
}

interface IssueReads {
  get(id: string): Promise<Issue>;
  list(query?: IssueQuery): Promise<Page<Issue>>;
}

interface IssueWrites {
  create(
    issue: IssuePatch & { title: string; team: string; priority?: Priority },
  ): Promise<Pick<Issue, 'id' | 'title' | 'priority' | 'identifier' | 'url'>>;
  /** `ifVersion` refuses the patch with a Conflict when the issue has changed since. */
  update(id: string, patch: IssuePatch, options?: { ifVersion?: number }): Promise<Issue>;
}

interface CommentReads {
  list(issueId: string, query?: { limit?: number; after?: string }): Promise<Page<Comment>>;
}

interface CommentWrites {
  add(issueId: string, comment: { body: string; parentId?: string }): Promise<Comment>;
  resolve(commentId: string): Promise<Comment>;
}

interface LabelReads {
  list(query?: { team?: string; limit?: number; after?: string }): Promise<Page<Label>>;
}

interface ProjectReads {
  get(id: string): Promise<Project>;
  list(query?: { limit?: number; after?: string }): Promise<Page<Project>>;
}

/** Present where one of `Needed` is among the declared scopes. */
type When<Declared, Needed, Member> = [Extract<Declared, Needed>] extends [never] ? unknown : Member;

/** `Scopes` is the union of the declared ones; write implies read. */
export type Context<Scopes, Settings> = BaseContext<Settings> &
  When<
    Scopes,
    'issues:read' | 'issues:write',
    { readonly issues: IssueReads & When<Scopes, 'issues:write', IssueWrites> }
  > &
  When<
    Scopes,
    'comments:read' | 'comments:write',
    { readonly comments: CommentReads & When<Scopes, 'comments:write', CommentWrites> }
  > &
  When<Scopes, 'labels:read' | 'labels:write', { readonly labels: LabelReads }> &
  When<Scopes, 'projects:read' | 'projects:write', { readonly projects: ProjectReads }>;
