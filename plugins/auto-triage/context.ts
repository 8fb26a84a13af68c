// What of `ctx` each half of the plugin uses: narrow enough to stand in for in a test.
import type { Context } from '@tatami/sdk/plugin';

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
  readonly comments: Pick<Ctx['comments'], 'add'>;
  readonly kv: Stored;
};

export type LearnContext = Pick<Ctx, 'log' | 'sleep'> & {
  readonly run: Pick<Ctx['run'], 'cpuLeftMs'>;
  readonly issues: Pick<Ctx['issues'], 'list'>;
  readonly labels: Pick<Ctx['labels'], 'list'>;
  readonly kv: Stored;
};
