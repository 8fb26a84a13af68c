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
};

type Ctx = Context<Scopes, Settings>;

export type Stored = Pick<Ctx['kv'], 'get' | 'set'>;

export type TriageContext = Pick<Ctx, 'settings' | 'log'> & {
  readonly issues: Pick<Ctx['issues'], 'update'>;
  readonly comments: Pick<Ctx['comments'], 'create'>;
  readonly kv: Stored;
};

export type LearnContext = Pick<Ctx, 'log' | 'sleep'> & {
  readonly run: Pick<Ctx['run'], 'cpuLeftMs'>;
  readonly issues: { list(query: IssueQuery): Promise<Page<Chosen<Issue>>> };
  readonly labels: Pick<Ctx['labels'], 'list'>;
  readonly kv: Stored;
};
