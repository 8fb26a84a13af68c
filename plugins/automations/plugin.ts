// automations: runs the rules of a workspace. Each rule is an install of this plugin, and its compiled form
// (rule.ts) the settings; see README.md.
import {
  definePlugin,
  NotFound,
  type Actor,
  type PluginDefinition,
  type PluginEvent,
  type PluginEventType,
  type Progress,
  type RouteAnswer,
  type RouteRequest,
  type ScheduledEvent,
} from '@tatami/sdk/plugin';
import { eventTypes, scopes, type Scopes } from './events.ts';
import { nameOf, type Action, type CompiledRule, type Ctx, type RuleIssue } from './rule.ts';
import { reportLeft, runRule, type Summary, type Trigger } from './run.ts';

const cpuMs = 10_000;

type Definition = PluginDefinition<Scopes, CompiledRule>;

async function onEvent(event: Readonly<PluginEvent>, ctx: Ctx): Promise<void> {
  const { type, data, actor } = event;
  const { issues, actions, matched } = ctx.settings;
  const issue = await issueOf(event, ctx);
  if (!issue && 'issue' in event && !issues && actions.some(needsIssue))
    return ctx.log.info('Skipped the event: its issue was deleted.');
  reportLeft(ctx, await runRule(ctx, { event: { type, data, actor }, issue, matched }));
}

/** Returns the issue of an event. Events of boards and inboxes only refer to it. */
async function issueOf(event: Readonly<PluginEvent>, ctx: Ctx): Promise<RuleIssue | null> {
  if ('issue' in event && event.issue !== undefined) return event.issue;
  const { issue } = (event.data ?? {}) as { readonly issue?: { readonly id?: unknown } | null };
  return typeof issue?.id === 'string' ? findIssue(ctx, issue.id) : null;
}

/** Returns true for actions that change an issue; the others can tell other services about a deleted one. */
function needsIssue(action: Action): boolean {
  if (action.type === 'create') return action.as !== 'issue';
  return action.type !== 'http' && action.type !== 'plugin';
}

async function findIssue(ctx: Ctx, id: string): Promise<RuleIssue | null> {
  try {
    return await ctx.issues.get(id);
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
}

function triggerOf(
  type: string,
  data: unknown,
  { issue = null, actor = null }: Partial<Pick<Trigger, 'issue'> & Pick<Trigger['event'], 'actor'>> = {},
): Trigger {
  return { event: { type, data, actor }, issue, matched: false };
}

/** Issues of a firing that its earlier runs did not reach. */
interface Position {
  readonly at: string;
  readonly ids: readonly string[];
  readonly of: number;
}

const positionKey = 'position';

/** Acts on the selected issues, and continues in another run with those that exceed the limits of one run. */
async function onSchedule({ schedule, scheduledAt }: ScheduledEvent, ctx: Ctx): Promise<Progress | void> {
  const trigger = triggerOf('schedule', { schedule, scheduledAt });
  if (!ctx.settings.issues) return void (await runRule(ctx, trigger));
  const stored = (await ctx.kv.get(positionKey)) as Position | null;
  const position = stored?.at === scheduledAt ? stored : null;
  const { acted, skipped, left } = await runRule(ctx, trigger, position?.ids);
  const of = position?.of ?? acted.length + skipped.length + left.length;
  if (left.length === 0) {
    if (stored) await ctx.kv.delete(positionKey);
    return { done: of, of, unit: 'issues' };
  }
  const ids = left.map(({ id }) => id);
  await ctx.kv.set(positionKey, { at: scheduledAt, ids, of } satisfies Position);
  return { done: of - ids.length, of, unit: 'issues' };
}

/** Runs the rule on an issue that was unchanged for the days of its trigger. */
async function onDue({ data, scheduledAt }: ScheduledEvent, ctx: Ctx): Promise<void> {
  const { issue: id } = data as { readonly issue: string };
  const issue = await findIssue(ctx, id);
  if (!issue) return ctx.log.info(`Skipped ${id}: the issue was deleted.`);
  reportLeft(ctx, await runRule(ctx, triggerOf('unchanged', { scheduledAt }, { issue })));
}

const jsonHeaders = { 'content-type': 'application/json' } as const;

async function onRoute({ body }: Readonly<RouteRequest>, ctx: Ctx): Promise<RouteAnswer> {
  let webhook: unknown;
  try {
    webhook = JSON.parse(body);
  } catch {
    const error = { code: 'malformed_request', message: 'The body is not JSON. Send a JSON value.' };
    return { status: 400, headers: jsonHeaders, body: JSON.stringify({ error }) };
  }
  const summary = await runRule(ctx, { ...triggerOf('webhook', webhook), webhook });
  reportLeft(ctx, summary);
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(answerOf(summary)) };
}

/** Runs the rule by hand, without its trigger. The caller takes the place of the actor of the event. */
async function onAction(issue: RuleIssue | null, actor: Actor, ctx: Ctx) {
  const summary = await runRule(ctx, triggerOf('manual', null, { issue, actor }));
  reportLeft(ctx, summary);
  return answerOf(summary);
}

function answerOf({ acted, skipped, left }: Summary) {
  return { acted, skipped, left: left.map(nameOf) };
}

const on = Object.fromEntries(
  (Object.keys(eventTypes) as PluginEventType[]).map((type) => [type, { handle: onEvent }]),
) as NonNullable<Definition['on']>;

export default definePlugin<Scopes, CompiledRule>({
  id: 'automations',
  version: '1.0.0',
  name: 'Automations',
  description: 'Runs the automation rules of a workspace.',
  engines: { tatami: '*' },
  scopes,
  settings: { type: 'object', additionalProperties: true, description: 'Compiled rule.' },
  limits: { cpuMs: 1_000, memoryMb: 64 },
  on,
  schedules: {
    // The server replaces the expression by that of the rule.
    scheduled: { cron: '0 0 1 1 *', overlap: 'skip', limits: { cpuMs }, handle: onSchedule },
    due: { limits: { cpuMs }, handle: onDue },
  },
  actions: {
    run: {
      target: 'issue',
      title: 'Run the rule on an issue',
      limits: { cpuMs },
      handle: ({ target, caller }, ctx) => onAction(target, caller, ctx),
    },
    start: {
      target: 'none',
      title: 'Run the rule on the issues that it selects',
      limits: { cpuMs },
      handle: ({ caller }, ctx) => onAction(null, caller, ctx),
    },
  },
  routes: {
    hook: { method: 'POST', auth: 'hmac', why: 'starts the rule', handle: onRoute },
  },
});
