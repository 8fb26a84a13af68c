// One run of a rule: tests the conditions, selects the issues, and performs the actions on each, within the
// limits of a run (docs/plugins/limits.md).
import { Drop, type Actor } from '@tatami/sdk/plugin';
import { costOf, perform, type Target } from './actions.ts';
import { unmetCondition } from './conditions.ts';
import { failing } from './failure.ts';
import { relativesOf, selectIssues } from './select.ts';
import { nameOf, type Action, type Ctx, type Relative, type RuleIssue } from './rule.ts';
import { mentions, type TemplateScope } from './template.ts';

const callsMax = 100;
const fetchesMax = 10;
/** Calls of a schedule that store and remove its position. */
const callsReserved = 2;
/** Calls that test the conditions on one issue: three for its parent, two for its sub-issues, three for relations. */
const testCallsMax = 8;

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
  const { issue, matched } = trigger;
  if ((issue || !issues) && needsTest(run, matched)) {
    const unmet = await failing('conditions', () => unmetCondition(run, issue, matched));
    if (unmet !== null) return { acted: [], skipped: [skip(run, issue, unmet)], left: [] };
  }
  if (!issues) {
    await actOn(run, await planOf(run, issue));
    return { acted: issue ? [nameOf(issue)] : [], skipped: [], left: [] };
  }
  return actOnEach(run, await selectIssues(run, () => scopeOf(run, issue, null), only));
}

/** @param matched true if `conditions.issue` holds already */
function needsTest({ ctx }: RuleRun, matched: boolean): boolean {
  const { issue, parent, subIssues, relations } = ctx.settings.conditions;
  return ((matched ? undefined : issue) ?? parent ?? subIssues ?? relations) !== undefined;
}

/** Logs an unmet condition. */
function skip({ ctx }: RuleRun, issue: RuleIssue | null, unmet: string): string {
  const line = `${issue ? nameOf(issue) : ctx.settings.rule.name}: ${unmet}`;
  ctx.log.info(`Skipped ${line}`);
  return line;
}

async function actOnEach(run: RuleRun, issues: readonly RuleIssue[]): Promise<Summary> {
  const acted: string[] = [];
  const skipped: string[] = [];
  // Conditions hold for the issue of the trigger; without one, they are tested on each issue. The filter of the
  // selection contains `conditions.issue`.
  const tests = !run.trigger.issue && needsTest(run, true);
  const readCalls = (tests ? testCallsMax : 0) + planCallsOf(run);
  for (const [index, issue] of issues.entries()) {
    const left = (): Summary => ({ acted, skipped, left: issues.slice(index) });
    if (index > 0 && run.calls + readCalls > callsMax - callsReserved) return left();
    const unmet = tests ? await failing('conditions', () => unmetCondition(run, issue, true)) : null;
    if (unmet !== null) {
      skipped.push(skip(run, issue, unmet));
      continue;
    }
    const target = await planOf(run, issue);
    if (index > 0 && !fits(run, target)) return left();
    await actOn(run, target);
    acted.push(nameOf(issue));
  }
  return { acted, skipped, left: [] };
}

/** Returns the largest number of calls of `planOf` for one issue. */
function planCallsOf({ ctx }: RuleRun): number {
  const { actions } = ctx.settings;
  const kinds = new Set(actions.map(({ on = 'issue' }) => on));
  kinds.delete('issue');
  return 2 * kinds.size + (mentions(actions, 'parent') ? 1 : 0);
}

const noRelatives: Target['relatives'] = new Map();

/** Reads the issues that the actions of one target act on. */
function planOf(run: RuleRun, issue: RuleIssue | null): Target | Promise<Target> {
  const { actions } = run.ctx.settings;
  const isAlone = actions.every(({ on = 'issue' }) => on === 'issue');
  if (isAlone && (!issue?.parent || !mentions(actions, 'parent')))
    return { issue, relatives: noRelatives, scope: () => scopeOf(run, issue, null) };
  return failing('on', () => readRelatives(run, issue));
}

async function readRelatives(run: RuleRun, issue: RuleIssue | null): Promise<Target> {
  const { actions } = run.ctx.settings;
  const relatives = new Map<Relative, readonly RuleIssue[]>();
  for (const { on = 'issue' } of actions)
    if (on !== 'issue' && !relatives.has(on)) relatives.set(on, await relativesOf(run, issue, on));
  const [known] = relatives.get('parent') ?? [];
  const parent =
    known ??
    (issue?.parent && mentions(actions, 'parent') ? await callOf(run).issues.get(issue.parent.id) : null);
  return { issue, relatives, scope: () => scopeOf(run, issue, parent) };
}

/** Returns the names that templates can use. */
function scopeOf(
  { ctx, trigger }: RuleRun,
  issue: RuleIssue | null,
  parent: RuleIssue | null,
): TemplateScope {
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
      const isOver =
        run.calls + costOf(action) > callsMax - callsReserved ||
        (action.type === 'http' && run.fetches >= fetchesMax);
      if (isOver) {
        leaveOut(run, label, issues.length - at);
        break;
      }
      await perform(run, { action, index, label, target, issue: issues[at] ?? null });
    }
  }
}

function leaveOut({ ctx }: RuleRun, label: string, count: number): void {
  ctx.log.warn(
    `${label} was not performed ${count === 1 ? 'once' : `${count} times`}, because a run makes at most ${callsMax} calls and ${fetchesMax} requests.`,
  );
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
    `${label}: The trigger has no issue. Add \`issues\` to the rule, or use an action that needs none, such as create.`,
  );
}
