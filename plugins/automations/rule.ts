// Compiled rule, which the server passes as the settings of the plugin, and the parts of `ctx` that rules use.
import type { Context, Issue, IssueFilter } from '@tatami/sdk/plugin';
import type { Scopes } from './events.ts';

export type Ctx = Context<Scopes, CompiledRule>;

export type Relative =
  'issue' | 'parent' | 'sub_issues' | 'blocks' | 'blocked_by' | 'related' | 'duplicates' | 'duplicate_of';

interface OnRelatives {
  /** Issues that the action acts on, relative to the issue of the rule; default `issue`. */
  readonly on?: Relative;
}

type Fields = Readonly<Record<string, unknown>>;

interface ActionsByType {
  set: { readonly fields: Fields };
  add: { readonly field: string; readonly values: readonly unknown[] };
  remove: { readonly field: string; readonly values: readonly unknown[] };
  move: { readonly team: string; readonly state?: string };
  comment: { readonly body: string; readonly once?: boolean };
  create: { readonly issues: readonly Fields[]; readonly as?: 'sub_issue' | 'issue' };
  relate: { readonly relation: string; readonly issue: string };
  assign: { readonly how: 'fixed' | 'round_robin' | 'least_open'; readonly members: readonly string[] };
  subscribe: { readonly members: readonly string[] };
  board: { readonly board: string; readonly column: string };
  cycle: { readonly cycle: string | null };
  release: { readonly release: string | null };
  http: {
    readonly host: string;
    /** Default `POST` with a body, `GET` without. */
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  plugin: { readonly plugin: string; readonly action: string; readonly input?: Fields };
}

export type ActionType = keyof ActionsByType;
export type Action<Type extends ActionType = ActionType> = {
  [One in Type]: { readonly type: One } & ActionsByType[One] & OnRelatives;
}[Type];

type Match = 'all' | 'any' | 'none';

export type RelationType = 'blocks' | 'blocked_by' | 'duplicate_of' | 'duplicated_by' | 'relates_to';

interface SubIssues {
  readonly match: Match;
  readonly filter: IssueFilter;
}

export interface Conditions {
  readonly issue?: IssueFilter;
  readonly parent?: {
    readonly exists?: boolean;
    readonly filter?: IssueFilter;
    /** Tests the sub-issues of the parent: the issue and its siblings. */
    readonly subIssues?: SubIssues;
  };
  readonly subIssues?: SubIssues;
  readonly relations?: { readonly type?: RelationType; readonly match: Match; readonly filter: IssueFilter };
}

export interface Host {
  readonly origin: string;
  /** Path of all requests, or the start of it if it ends with a slash; null for all paths. */
  readonly path: string | null;
  /** Name of the secret that requests carry; null while unset. */
  readonly secret: string | null;
  /** Header of the secret; null if the host needs none. */
  readonly header: string | null;
}

export interface CompiledRule {
  readonly rule: { readonly id: string; readonly name: string; readonly version: number };
  readonly trigger: { readonly type: string };
  readonly conditions: Conditions;
  readonly issues: { readonly filter: IssueFilter; readonly limit?: number } | null;
  readonly actions: readonly Action[];
  /** True if the server has already tested `conditions.issue` on the issue of the event. */
  readonly matched: boolean;
  readonly hosts: Readonly<Record<string, Host>>;
}

/** Issue with the fields that rules and their templates use. */
export type RuleIssue = Pick<Issue, 'id'> & Partial<Issue>;

export function nameOf({ identifier, id }: RuleIssue): string {
  return identifier ?? id;
}
