// Timers of automations. One fires a rule with the trigger `unchanged` at the due time of an issue, which follows
// from the index of its last change. The other steps a rule down that people overrule.
import { timerOp, type DueTimer } from '../../../kernel/event-reactions/due-timers.ts';
import type { Reaction } from '../../../kernel/event-reactions/reaction.ts';
import { nothing } from '../../../kernel/event-reactions/reaction.ts';
import type { Change, PlannedWrites } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { dayMs, minuteMs } from '../../../platform/lib/time/time.ts';
import { composedStatement, tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import { automationModel, ruleOf, type Automation } from '../../automations/index.ts';
import { itemsFor } from '../../inbox/index.ts';
import { issueFiltering } from '../../issues/index.ts';
import { recipientsOf } from '../installs/disable.ts';
import { effectiveMode } from '../installs/mode.ts';
import { isRuleId } from '../../automations/contract.ts';
import { changeOfInstall, findInstall, targetOf } from '../installs/rules.ts';
import type { Install } from '../installs/model.ts';
import type { RunInput } from '../runs/job.ts';
import { uncausedRun } from '../runs/rows.ts';
import { queueRunOps } from '../runs/state.ts';
import { overruledTooOften } from './health.ts';
import type { Judged } from './surroundings.ts';

const dueName = 'automation-due';
const watchName = 'automation-watch';
/** Schedule of the plugin that runs a rule on an unchanged issue. */
const dueSchedule = 'due';
/** Issues for which one firing queues runs. */
const issuesPerFiring = 50;
const watchEveryMs = dayMs;

/** Returns the ops that set the timers of an automation to its state. */
export function ruleTimerOps(
  scope: Scope,
  { id, state, deletedAt, ...parts }: Automation,
  nowMs: number,
): Op[] {
  const isActive = state === 'active' && deletedAt === null;
  const isDue = isActive && ruleOf(parts).trigger.type === 'unchanged';
  return [
    timerOp(scope, dueName, id, isDue ? nowMs : null),
    timerOp(scope, watchName, id, isActive ? nowMs + watchEveryMs : null),
  ];
}

const isSetBy = ({ kind }: Change): boolean => kind === automationModel.name;

const storePosition = tenantStatement(
  'automations.due_position',
  'UPDATE automations SET due_json = :position WHERE workspace_id = :ws AND id = :id',
);
const nextChange = tenantStatement<{ updated_at: number | null }>(
  'issues.next_unchanged',
  `SELECT min(updated_at) AS updated_at FROM issues INDEXED BY issues_updated
   WHERE workspace_id = :ws AND deleted_at IS NULL AND updated_at > :after`,
);

type ActiveRule =
  | { readonly install: Install; readonly rule: Automation }
  | { readonly install?: undefined; readonly rule?: undefined };

async function activeRule(ctx: Context, id: string): Promise<ActiveRule> {
  const install = await findInstall(ctx, id);
  if (!install?.rule || install.state !== 'active' || install.deletedAt !== null) return {};
  return { install, rule: install.rule };
}

/** Fires rules with the trigger `unchanged`. @param runs queue of the runs of installs */
export function createDueTimer(runs: () => WorkQueue): DueTimer {
  return {
    name: dueName,
    isSetBy,
    async fire(ctx, id) {
      const { install, rule } = await activeRule(ctx, id);
      const { trigger, conditions } = rule ? ruleOf(rule) : { trigger: null, conditions: {} };
      if (!rule || trigger?.type !== 'unchanged') return nothing;
      const untilMs = ctx.nowMs() - trigger.days * dayMs;
      const due = await dueIssues(ctx, rule, conditions.issue, untilMs);
      const isMore = due.length === issuesPerFiring;
      const last = due.at(-1);
      const position = isMore && last ? { at: last.updated_at, id: last.id } : { at: untilMs, id: '~' };
      const [next] = await ctx.store.read(ctx.scope, nextChange, { after: position.at });
      const nextMs = isMore ? ctx.nowMs() : (next?.updated_at ?? ctx.nowMs()) + trigger.days * dayMs;
      return {
        changes: [],
        ops: [
          ...due.flatMap((issue) => runOps(ctx, runs(), install, issue.id)),
          tenantOp(ctx.scope, storePosition, { id, position: JSON.stringify(position) }),
          timerOp(ctx.scope, dueName, id, Math.max(nextMs, ctx.nowMs() + (isMore ? 0 : minuteMs))),
        ],
      };
    },
  };
}

/** Returns the next issues that match a rule and were last changed up to a time, in the order of their due times. */
async function dueIssues(
  ctx: Context,
  { due }: Automation,
  filter: object | undefined,
  untilMs: number,
): Promise<readonly { readonly id: string; readonly updated_at: number }[]> {
  const conditions = filter
    ? await issueFiltering.conditions(ctx, [{ tree: filter, at: 'conditions.issue', wasTaken: true }])
    : [];
  const where = conditions.map(({ sql }) => ` AND (${sql})`).join('');
  const statement = composedStatement<SqlRow & { id: string; updated_at: number }>(
    `SELECT id, updated_at FROM issues INDEXED BY issues_updated WHERE workspace_id = :ws AND deleted_at IS NULL
       AND (updated_at, id) > (:at, :after) AND updated_at <= :until${where} ORDER BY updated_at, id LIMIT ${issuesPerFiring}`,
  );
  const params = Object.assign({}, ...conditions.map((condition) => condition.params ?? {})) as object;
  return ctx.store.read(ctx.scope, statement, {
    ...params,
    at: due?.at ?? -1,
    after: due?.id ?? '',
    until: untilMs,
  });
}

function runOps(ctx: Context, runs: WorkQueue, install: Install, issueId: string): readonly Op[] {
  const now = ctx.nowMs();
  const id = ctx.ids.next(idPrefixes.run);
  const input: RunInput = {
    event: {
      schedule: dueSchedule,
      scheduledAt: new Date(now).toISOString(),
      name: dueSchedule,
      data: { issue: issueId },
    },
  };
  const run = {
    ...uncausedRun(id, install, { kind: 'schedule', name: dueSchedule }, now),
    inputJson: JSON.stringify(input),
  };
  return queueRunOps(runs, ctx.scope, run, now);
}

/** Steps rules down whose changes people overrule: daily, and after a rejection or an undo. */
export function createWatchTimer(): DueTimer {
  return {
    name: watchName,
    isSetBy,
    async fire(ctx, id) {
      const { install, rule } = await activeRule(ctx, id);
      if (!rule) return nothing;
      const again = timerOp(ctx.scope, watchName, id, ctx.nowMs() + watchEveryMs);
      const judged = await overruledTooOften(ctx, rule, effectiveMode(install) === 'apply');
      return judged ? steppedDown(ctx, install, judged, again) : { changes: [], ops: [again] };
    },
  };
}

/** A rule that applies its changes proposes them, and one that proposes them only simulates. */
function steppedDown(
  ctx: Context,
  install: Install,
  { overruled, changes }: Judged,
  again: Op,
): PlannedWrites {
  const isApplying = effectiveMode(install) === 'apply';
  const mode = isApplying ? 'propose' : 'simulate';
  const changed = changeOfInstall(install, { mode }, ctx.nowMs());
  if (!changed || install.mode === 'simulate') return { changes: [], ops: [again] };
  const note = {
    kind: 'automation_stepped_down' as const,
    reason: 'plugin' as const,
    title: `The automation ${install.manifest.name ?? install.id} now ${isApplying ? 'proposes its changes' : 'only simulates'}`,
    body: `People overruled ${overruled} of its last ${changes} changes. Check its health and change the rule, then set its mode again.`,
    target: targetOf(install),
  };
  const items = itemsFor(recipientsOf(install, ctx.directory), note, { ids: ctx.ids, nowMs: ctx.nowMs() });
  return { changes: [changed.change, ...items], ops: [again] };
}

/** Looks at a rule at once after a person rejected or undid its changes. */
export const watchReaction: Reaction = {
  name: 'automations',
  subscribesTo: (type) => type === 'automation.rejected' || type === 'automation.undone',
  async react(ctx, { data }) {
    const { installId, plugin } = data as { installId?: string | null; plugin?: { id: string } | null };
    const id = installId ?? plugin?.id ?? '';
    if (!isRuleId(id)) return nothing;
    const rule = await automationModel.find(ctx, id);
    if (rule?.state !== 'active') return nothing;
    return { changes: [], ops: [timerOp(ctx.scope, watchName, id, ctx.nowMs())] };
  },
};
