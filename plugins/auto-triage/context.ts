// Parts of `ctx` that triage and learning use, narrow enough to be faked in tests.
import type { Chosen, Context, Issue, IssueQuery, Page } from '@tatami/sdk/plugin';

export type Scopes = 'issues:read' | 'issues:write' | 'comments:write' | 'labels:read';

export type Settings = {
  /** Confidence from which issues are labelled. */
  readonly threshold: number;
  /** True to suggest a kind in a comment below the threshold. */
  readonly suggest: boolean;
  /** True to use the built-in rule while a team has too few labelled issues. */
  readonly rule: boolean;
  /** True to mention likely duplicates in the comment. */
  readonly duplicates: boolean;
  /** Use of a predicted priority: none, in the comment, or also as the priority of the issue. */
  readonly priority: 'off' | 'suggest' | 'set';
};

type Ctx = Context<Scopes, Settings>;

export type Stored = Pick<Ctx['kv'], 'get' | 'set' | 'delete'>;

type ListIssues = { list(query: IssueQuery): Promise<Page<Chosen<Issue>>> };

export type TriageContext = Pick<Ctx, 'settings' | 'log'> & {
  readonly issues: Pick<Ctx['issues'], 'update'> & ListIssues;
  readonly comments: Pick<Ctx['comments'], 'create'>;
  readonly kv: Stored;
};

export type LearnContext = Pick<Ctx, 'log' | 'sleep' | 'settings'> & {
  readonly run: Pick<Ctx['run'], 'cpuLeftMs'>;
  readonly issues: ListIssues;
  readonly labels: Pick<Ctx['labels'], 'list'>;
  readonly kv: Stored;
};
