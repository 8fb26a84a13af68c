// One run of a rule: tests the conditions, selects the issues, and performs the actions on each, within the
// limits of a run (docs/plugins/limits.md).
import { Drop, type Actor } from '@tatami/sdk/plugin';
import { costOf, perform, type Target } from './actions.ts';
import { unmetCondition } from './conditions.ts';
import { relativesOf, selectIssues } from './select.ts';
import { nameOf, type Action, type Ctx, type Relative, type RuleIssue } from './rule.ts';
import { mentions, type TemplateScope } from './template.ts';

const callsMax = 100;
const fetchesMax = 10;
/** Calls of a schedule that store and remove its position. */
const callsReserved = 2;
/** Calls that read the issues of one target: its parent, and two for each kind of relative. */
const planCallsMax = 6;

/** Cause of a run. */
export interface Trigger {
  readonly event: { readonly type: string; readonly data: unknown; readonly actor: Actor | null };
  /** Issue of the trigger; null if it has none, or the issue was deleted. */
  readonly issue: RuleIssue | null;
  readonly webhook?: unknown;
  /** True if `conditions.issue` holds for the issue of the trigger. */
  readonly matched: boolean;
}

export interface RuleRun {
  readonly ctx: Ctx;
  readonly trigger: Trigger;
  calls: number;
  fetches: number;
  /** Results of calls that several actions use, by a key of the caller. */
  readonly found: Map<string, unknown>;
}

/** Result of a run. */
export interface Summary {
  /** Identifiers of the issues that the rule acted on. */
  readonly acted: readonly string[];
  readonly skipped: readonly string[];
  /** Issues that the limits of a run leave for the next one. */
  readonly left: readonly RuleIssue[];
}

/** Returns `ctx`, and counts one call. */
export function callOf(run: RuleRun): Ctx {
  run.calls++;
  return run.ctx;
}

/** @param only ids that an earlier run of the same firing selected */
export async function runRule(ctx: Ctx, trigger: Trigger, only?: readonly string[]): Promise<Summary> {
  const run: RuleRun = { ctx, trigger, calls: 0, fetches: 0, found: new Map() };
  const { issues } = ctx.settings;
  if (trigger.issue || !issues) {
    const unmet = await unmetCondition(run, trigger.issue, trigger.matched);
    if (unmet !== null) return { acted: [], skipped: [skip(run, trigger.issue, unmet)], left: [] };
  }
  if (!issues) return actOnEach(run, [trigger.issue], false);
  return actOnEach(run, await selectIssues(run, scopeOf(run, trigger.issue, null), only), !trigger.issue);
}

/** Logs an unmet condition. */
function skip({ ctx }: RuleRun, issue: RuleIssue | null, unmet: string): string {
  const line = `${issue ? nameOf(issue) : ctx.settings.rule.name}: ${unmet}`;
  ctx.log.info(`Skipped ${line}`);
  return line;
}

/** @param tests true to test the conditions on each issue */
async function actOnEach(
  run: RuleRun,
  issues: readonly (RuleIssue | null)[],
  tests: boolean,
): Promise<Summary> {
  const acted: string[] = [];
  const skipped: string[] = [];
  for (const [index, issue] of issues.entries()) {
    const isFirst = acted.length === 0;
    const left = (): Summary => ({ acted, skipped, left: issues.slice(index).filter((one) => one !== null) });
    if (!isFirst && run.calls + planCallsMax > callsMax - callsReserved) return left();
    // The filter of the selection contains `conditions.issue`.
    const unmet = tests ? await unmetCondition(run, issue, true) : null;
    if (unmet !== null) {
      skipped.push(skip(run, issue, unmet));
      continue;
    }
    const target = await planOf(run, issue);
    if (!isFirst && !fits(run, target)) return left();
    await actOn(run, target);
    if (issue) acted.push(nameOf(issue));
  }
  return { acted, skipped, left: [] };
}

/** Reads the issues that the actions of one target act on. */
async function planOf(run: RuleRun, issue: RuleIssue | null): Promise<Target> {
  const { settings } = run.ctx;
  const relatives = new Map<Relative, readonly RuleIssue[]>();
  for (const { on = 'issue' } of settings.actions)
    if (on !== 'issue' && !relatives.has(on)) relatives.set(on, await relativesOf(run, issue, on));
  const parentId = issue?.parent?.id;
  let parent: RuleIssue | null = relatives.get('parent')?.[0] ?? null;
  if (parentId !== undefined && !parent && mentions(settings.actions, 'parent'))
    parent = await callOf(run).issues.get(parentId);
  return { issue, relatives, scope: scopeOf(run, issue, parent) };
}

/** Returns the names that templates can use. */
function scopeOf({ ctx, trigger }: RuleRun, issue: RuleIssue | null, parent: RuleIssue | null): TemplateScope {
  const { event, webhook = null } = trigger;
  const { previous = null } = (event.data ?? {}) as { readonly previous?: unknown };
  const { id, name } = ctx.settings.rule;
  const now = new Date(ctx.now()).toISOString();
  return { issue, event, previous, parent, webhook, rule: { id, name }, now };
}

function issuesOf({ issue, relatives }: Target, { on = 'issue' }: Action): readonly (RuleIssue | null)[] {
  return on === 'issue' ? [issue] : (relatives.get(on) ?? []);
}

/** Returns true if the run has calls left for all actions of a target. */
function fits(run: RuleRun, target: Target): boolean {
  let calls = run.calls;
  let fetches = run.fetches;
  for (const action of run.ctx.settings.actions) {
    const { length } = issuesOf(target, action);
    calls += costOf(action) * length;
    if (action.type === 'http') fetches += length;
  }
  return calls <= callsMax - callsReserved && fetches <= fetchesMax;
}

async function actOn(run: RuleRun, target: Target): Promise<void> {
  const { actions } = run.ctx.settings;
  for (let index = 0; index < actions.length; index++) {
    const action = actions[index] as Action;
    const label = `Action ${index + 1} (${action.type})`;
    const issues = issuesOf(target, action);
    for (let at = 0; at < issues.length; at++) {
      const isOver = run.calls + costOf(action) > callsMax || run.fetches >= fetchesMax;
      if (isOver) {
        leaveOut(run, label, issues.length - at);
        break;
      }
      await perform(run, { action, index, label, target, issue: issues[at] ?? null });
    }
  }
}

function leaveOut({ ctx }: RuleRun, label: string, count: number): void {
  ctx.log.warn(`${label} left out ${count} issues, because a run makes at most ${callsMax} calls.`);
}

/** Logs the issues that no later run continues with. */
export function reportLeft({ log }: Ctx, { left }: Summary): void {
  if (left.length > 0)
    log.warn(
      `Left out ${left.length} issues, because a run makes at most ${callsMax} calls: ${left.map(nameOf).join(', ')}.`,
    );
}

/** @throws Drop */
export function requireIssue(issue: RuleIssue | null, label: string): RuleIssue {
  if (issue) return issue;
  throw new Drop(
    `${label}: the trigger has no issue. Add \`issues\` to the rule, or use an action that needs none, such as create.`,
  );
}
