// Functions of the plugin runtime that operations of automations need.
import type { TSchema } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/catalogue.ts';
import type { CheckFilter } from '../../kernel/resource/filter/filtering.ts';
import type { FilterFields } from '../../platform/lib/filter/filter.ts';
import type { Directory } from '../../kernel/context.ts';
import type { Op } from '../../platform/store/store.ts';
import type { AutomationBacktest } from './contract.ts';
import type { Automation } from './model.ts';

/** Issue to run on; absent for an automation that selects issues. */
interface RunSubject {
  readonly issue?: string;
}

export interface RuleRuntime {
  readonly checkFilter: CheckFilter;
  readonly filterFields: (eventType: EventType, directory?: Directory) => FilterFields;
  /** Returns the scopes granted to an active plugin with this action; undefined if there is none. */
  actionScopes(ctx: Context, plugin: string, action: string): Promise<readonly string[] | undefined>;
  /** Returns why a template cannot be used, with what to do; null if it can. */
  readonly checkTemplate: (text: string) => Promise<string | null>;
  /** Returns the ops that update the schedules and other rows to the state of an automation. */
  stateOps(ctx: Context, after: Automation): Promise<readonly Op[]>;
  /** Queues the backtest of a rule, in place of an open one of the same automation. */
  backtest(
    ctx: Context,
    automation: Automation,
    days?: number,
  ): Promise<{ readonly backtest: AutomationBacktest; readonly ops: readonly Op[] }>;
  /** Response schemas of `run`, by status. */
  readonly runResponses: Readonly<Record<200 | 202, TSchema>>;
  /** Response schema of `simulate`. */
  readonly simulation: TSchema;
  /** Response schema of `health`. */
  readonly healthResponse: TSchema;
  health(ctx: Context, automation: Automation): Promise<object>;
  /** Opens the address of a rule with the trigger `webhook`, or replaces its secret. */
  openWebhook(ctx: Context, automation: Automation): Promise<ChangeSet>;
  /** Returns the ops that close the address of a rule, if it is open. */
  webhookOps(ctx: Context, id: string): readonly Op[];
  closeWebhook(ctx: Context, automation: Automation, ifMatch: number | null): Promise<ChangeSet>;
  /** Runs an automation on an issue, or on the issues that it selects, and waits for the result. */
  run(ctx: Context, automation: Automation, input: RunSubject): Promise<ChangeSet>;
  /** Returns what `run` would do, without effects. */
  simulate(ctx: Context, automation: Automation, input: RunSubject): Promise<ChangeSet>;
}
