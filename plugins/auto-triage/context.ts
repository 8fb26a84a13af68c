// What of `ctx` each half of the plugin uses: narrow enough to stand in for in a test.
import type { Chosen, Context, Issue, IssueQuery, Page } from '@tatami/sdk/plugin';

export type Scopes = 'issues:read' | 'issues:write' | 'comments:write' | 'labels:read';

export type Settings = {
  /** Label at or above this confidence. */
  readonly threshold: number;
  /** Below the threshold, say in a comment what it might be. */
  readonly suggest: boolean;
  /** Where a team has too few labelled issues to learn from, go by the built-in rule. */
  readonly rule: boolean;
};

type Ctx = Context<Scopes, Settings>;

export type Stored = Pick<Ctx['kv'], 'get' | 'set'>;

export type TriageContext = Pick<Ctx, 'settings' | 'log'> & {
  readonly issues: Pick<Ctx['issues'], 'get' | 'update'>;
  readonly comments: Pick<Ctx['comments'], 'create'>;
  readonly kv: Stored;
};

export type LearnContext = Pick<Ctx, 'log' | 'sleep'> & {
  readonly run: Pick<Ctx['run'], 'cpuLeftMs'>;
  readonly issues: { list(query: IssueQuery): Promise<Page<Chosen<Issue>>> };
  readonly labels: Pick<Ctx['labels'], 'list'>;
  readonly kv: Stored;
};
