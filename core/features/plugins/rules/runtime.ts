// Functions of the plugin runtime for the operations of automations.
import { responseProperties } from '../../../kernel/contract/schemas.ts';
import { issue } from '../../issues/contract.ts';
import { Type } from 'typebox';
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import { Closed, namedSchema, nullable } from '../../../platform/lib/schema.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import {
  readHosts,
  isWithoutIssue,
  ruleOf,
  type Automation,
  type CanFilter,
  type Rule,
  type RuleRuntime,
} from '../../automations/index.ts';
import type { AttemptDeps } from '../deps.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { callActionOf, targetOf, type ActionWork } from '../inbound/actions.ts';
import { closeRoute, openRoute } from '../inbound/openings.ts';
import { routesAfterOps } from '../inbound/rows.ts';
import { AutomationHealth, healthOf } from './health.ts';
import type { StateOps } from '../installs/disable.ts';
import { declared } from '../installs/manifest.ts';
import { installOfRule, rulesPackage } from '../installs/rules.ts';
import { isTestable } from '../installs/subscriptions.ts';
import type { Install } from '../installs/model.ts';
import { createAttempts, usageOf } from '../runs/attempt.ts';
import { previewEffects } from '../runs/effects.ts';
import { callerOf, inputNow, type RunInput } from '../runs/job.ts';
import { queuedRow, uncausedRun } from '../runs/rows.ts';
import { LogLine, RunEffectResponse, RunResponse } from '../runs/schema.ts';
import type { Backtests } from '../trial/backtests.ts';
import { queued, windowOf } from '../trial/operations.ts';
import { endBacktestOp, findBacktest } from '../trial/rows.ts';
import { limited } from '../trial/versions.ts';
import { uninterrupted } from '../trial/world.ts';

const backtestDays = 90;

const Simulation = namedSchema(
  'AutomationSimulation',
  Closed({
    effects: Type.Array(RunEffectResponse, { description: 'Effects that the run would have.' }),
    logs: Type.Array(LogLine, { description: 'Lines that explain unmet conditions.' }),
    error: nullable(
      Closed(
        {
          code: Type.String({ description: 'Error code.' }),
          message: Type.String({ description: 'Error message.' }),
        },
        { description: 'Error of the run; null without a failure.' },
      ),
    ),
  }),
);

interface RuleWork extends ActionWork {
  readonly backtests: Backtests;
  readonly stateOps: StateOps;
  /** Stores runs that have no row yet. */
  storeWork(scope: Scope, installId: string): Promise<void>;
}

/** Ports other than those of runs. */
type Checks = Pick<RuleRuntime, 'checkFilter' | 'filterFields'>;

/** Members of the objects in templates. Those of `event.data`, `previous` and `webhook` depend on their sender. */
function templateMembers() {
  const issueMembers = Object.keys(responseProperties(issue));
  return {
    issue: issueMembers,
    parent: issueMembers,
    event: ['type', 'data', 'actor'],
    rule: ['id', 'name'],
  };
}

/** Loads the template engine on first use, because a start does not need it. */
const checkTemplate = async (text: string): Promise<string | null> =>
  (await import('../../../../plugins/automations/template.ts')).checkTemplate(text, templateMembers());

export function createRuleRuntime(deps: AttemptDeps, work: RuleWork, checks: Checks): RuleRuntime {
  const installOf = async (ctx: Context, automation: Automation): Promise<Install> => {
    const canFilter: CanFilter = (type, filter) =>
      isTestable(filter, checks.filterFields(type, ctx.directory));
    const hosts = await readHosts(ctx.store, ctx.scope);
    const { members } = ctx.directory;
    return installOfRule(automation, await rulesPackage(), { canFilter, hosts, members });
  };
  return {
    ...checks,
    checkTemplate,
    async actionScopes({ scope }, plugin, action) {
      const install = await deps.registry.activePlugin(scope, plugin);
      return install && declared(install.manifest.actions, action) ? install.grant : undefined;
    },
    runResponses: { 200: RunResponse, 202: RunResponse },
    simulation: Simulation,
    healthResponse: AutomationHealth,
    async health(ctx, automation) {
      await work.usage.written();
      await work.storeWork(ctx.scope, automation.id);
      return healthOf(ctx, automation, { usage: work.usage, install: await installOf(ctx, automation) });
    },
    async openWebhook(ctx, automation) {
      const set = await openRoute(ctx, webhookOf(await installOf(ctx, automation)), webhookRoute);
      const { url, secret } = set.body as { readonly url: string; readonly secret: string };
      return { ...set, body: { url, secret } };
    },
    webhookOps: ({ scope, nowMs }, id) => routesAfterOps(scope, { id, deletedAt: nowMs() }),
    closeWebhook: async (ctx, automation, ifMatch) =>
      closeRoute(ctx, await installOf(ctx, automation), webhookRoute, ifMatch),
    stateOps: async (ctx, after) => [...work.stateOps(await installOf(ctx, after), ctx)],
    async backtest(ctx, automation, days = backtestDays) {
      const install = await installOf(ctx, automation);
      const { manifest, sha256, grant, settings } = install;
      const version = limited(ctx, { code: { manifest, sha256, code: '' }, grant, settings });
      const since = new Date(ctx.nowMs() - days * dayMs).toISOString();
      const window = await windowOf(ctx, { since });
      const set = await queued(ctx, { install, versions: [version], runs: null, window }, work);
      const { id } = set.body as { readonly id: string };
      const ops = [...(await endOpenOps(ctx, automation, work.backtests)), ...(set.ops ?? [])];
      return { backtest: { id, status: 'queued' }, ops };
    },
    async run(ctx, automation, { issue }) {
      const { handler, target } = calledOf(automation, issue);
      const install = await installOf(ctx, automation);
      if (issue !== undefined) await targetOf(ctx, install, 'issue', issue, work, 'issue');
      return callActionOf(ctx, install, handler, target, work);
    },
    async simulate(ctx, automation, { issue }) {
      const install = { ...(await installOf(ctx, automation)), state: 'active' as const };
      return simulationOf(deps, ctx, install, calledOf(automation, issue), work);
    },
  };
}

/** Route of the plugin that the trigger `webhook` uses. */
const webhookRoute = 'hook';

/** @throws ApiError conflict */
function webhookOf(install: Install): Install {
  if (install.manifest.routes) return install;
  throw new ApiError(
    'conflict',
    'The automation has another trigger. Give it the trigger {"type":"webhook"} first.',
  );
}

/** Ends an open backtest of an earlier revision. */
async function endOpenOps(ctx: Context, { backtest }: Automation, backtests: Backtests) {
  const row = backtest && (await ctx.store.readOne(ctx.scope, findBacktest, { id: backtest.id }));
  if (!row || row.finished_at !== null) return [];
  return [
    endBacktestOp(ctx.scope, row.id, { status: 'canceled', now: ctx.nowMs() }),
    backtests.queue.remove(ctx.scope, row.id),
  ];
}

/** Returns true if a rule selects no issues itself and has an action on one. */
function needsIssue({ issues, actions }: Rule): boolean {
  return issues === null && !actions.every(isWithoutIssue);
}

/** Returns the action that runs a rule, and its target. @throws ApiError validation_failed */
function calledOf(automation: Automation, issue: string | undefined) {
  if (issue !== undefined) return { handler: 'run', target: { target: issue } };
  if (needsIssue(ruleOf(automation)))
    throw invalidField('issue', 'required', 'Give the id or identifier of an issue, such as ENG-1.');
  return { handler: 'start', target: {} };
}

async function simulationOf(
  deps: AttemptDeps,
  ctx: Context,
  install: Install,
  { handler, target }: ReturnType<typeof calledOf>,
  work: RuleWork,
): Promise<ChangeSet> {
  const kind = handler === 'run' ? 'issue' : 'none';
  const event = {
    action: handler,
    target: await targetOf(ctx, install, kind, target.target, work, 'issue'),
    input: {},
    caller: ctx.actor,
  };
  const input: RunInput = { event, caller: callerOf(ctx) };
  return {
    changes: [],
    body: { effects: [], logs: [], error: null },
    completed: async () => ({ body: await simulated(deps, ctx, install, handler, input) }),
  };
}

async function simulated(
  deps: AttemptDeps,
  ctx: Context,
  install: Install,
  handler: string,
  input: RunInput,
) {
  const { scope } = ctx;
  const id = ctx.ids.next(idPrefixes.run);
  const now = ctx.nowMs();
  const called = uncausedRun(id, install, { kind: 'action', name: handler }, now);
  const run = queuedRow({ ...called, mode: 'simulate', inputJson: JSON.stringify(input) }, now);
  const authorized = await inputNow(ctx.store, scope, run, { install, nowMs: ctx.nowMs() });
  if (authorized && 'refused' in authorized)
    throw new ApiError(
      'forbidden',
      authorized.refused === 'caller_gone' ? undefined : authorized.refused.ownerLost,
    );
  const attempts = createAttempts(deps);
  const { signal } = new AbortController();
  try {
    const { outcome, staged } = await uninterrupted(signal, () =>
      attempts.make(
        { run, event: undefined, input: authorized, signal, item: { scope } },
        { ...install, mode: 'simulate' },
      ),
    );
    const { logs } = usageOf(outcome);
    if (outcome.status !== 'succeeded')
      return { effects: [], logs, error: { code: 'failed', message: outcome.message } };
    const at = { scope, directory: await deps.directoryOf(scope) };
    return { effects: await previewEffects(deps, at, staged.changes, () => 'simulated'), logs, error: null };
  } finally {
    attempts.forget(id);
  }
}
