// Health of an automation: its runs, failures and loops, the changes that people overruled, and conflicts with
// others that write the same fields. A paused automation is judged by its backtest.
import { Type, type Static } from 'typebox';
import type { Context } from '../../../kernel/context.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { findEvent, pageOfSubject } from '../../../kernel/events/log/log.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import { short } from '../../../kernel/changes/change.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Automation } from '../../automations/index.ts';
import { dayOf, showSpent, spentResponse } from '../budgets/budget.ts';
import type { Usage } from '../budgets/usage.ts';
import { isRuleId } from '../installs/rules.ts';
import type { Install } from '../installs/model.ts';
import type { RunError } from '../runs/errors.ts';
import { hiddenText, textScope } from '../runs/runs.ts';
import { findBacktest } from '../trial/rows.ts';
import type { BacktestReport } from '../trial/schema.ts';

/** Window of the runs that are read, in days. */
const healthDays = 30;
/** Limits of what one request reads. */
const runsMax = 200;
const writesMax = 100;
const eventsPerIssue = 200;
const examplesMax = 5;
/** Distance in the log within which events of an issue are looked up. */
const sequencesBefore = 10_000;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const issue = Closed({
  id: Type.String({ description: 'Id of the issue.' }),
  identifier: nullable(Type.String({ description: 'Identifier of the issue, such as `ENG-12`.' })),
});
const value = (description: string) => Type.Unknown({ description });
const at = (description: string) => described(time, description);
const party = Closed({
  kind: enumeration('AutomationParty', ['automation', 'plugin', 'system'], 'Type of the other writer.'),
  id: Type.String({ description: 'Id of the other writer.' }),
  name: Type.String({ description: 'Name of the other writer.' }),
});
const write = Closed({ value: value('Value that was written.'), at: at('Time of the write.') });

export const AutomationHealth = namedSchema(
  'AutomationHealth',
  Closed({
    basis: enumeration(
      'HealthBasis',
      ['runs', 'backtest'],
      'Source of the conflicts: runs, or the backtest.',
    ),
    days: count('Number of days that the figures cover.'),
    lastRunAt: nullable(at('Time of the last run; null if it never ran.')),
    lastActedAt: nullable(at('Time of the last run that changed something; null if none did.')),
    runs: Closed(
      {
        total: count('Number of runs.'),
        acted: count('Number of runs that changed something.'),
        proposed: count('Number of runs whose changes wait for approval.'),
        failed: count('Number of failed runs.'),
      },
      { description: 'Outcomes of the runs, of the last 200 at most.' },
    ),
    overruled: Closed(
      {
        changes: count('Number of judged changes: issues that a run changed, and decided proposals.'),
        overruled: count('Number of changes that people reversed, changed or rejected.'),
        share: nullable(Type.Number({ description: 'Overruled share; null without changes.' })),
        examples: Type.Array(
          Closed({
            issue: described(issue, 'Issue of the change.'),
            field: Type.String({ description: 'Name of the field.' }),
            set: value('Value that the automation set.'),
            now: value('Value that the person set.'),
            by: Type.String({ description: 'Name of the person.' }),
            at: at('Time of the change by the person.'),
          }),
          { description: 'Overruled fields, newest first.' },
        ),
      },
      { description: 'Changes that people overruled within the window of `stepDown`.' },
    ),
    failures: Type.Array(
      Closed({
        code: Type.String({ description: 'Error code.' }),
        message: Type.String({ description: 'Message of the last failure with this code.' }),
        count: count('Number of failures.'),
        lastAt: at('Time of the last failure.'),
        runId: idOf(idPrefixes.run, 'Id of the last failed run.'),
      }),
      { description: 'Failures by code.' },
    ),
    loops: Type.Array(
      Closed({
        message: Type.String({ description: 'Chain of automations and plugins that was cut.' }),
        at: at('Time of the cut.'),
        runId: idOf(idPrefixes.run, 'Id of the cut run.'),
      }),
      { description: 'Cut loops, newest first.' },
    ),
    usage: Closed(
      {
        runs: count('Number of runs today, UTC.'),
        cpuMs: Type.Number({ minimum: 0, description: 'CPU time today in milliseconds.' }),
      },
      { description: 'Usage of the daily budget.' },
    ),
    waitsFor: spentResponse('Exhausted daily budget that runs wait for; null if there is none.'),
    conflicts: Type.Array(
      Closed({
        with: described(party, 'Other writer.'),
        field: Type.String({ description: 'Name of the field that both wrote.' }),
        count: count('Number of issues on which both wrote the field within a day.'),
        example: Closed(
          {
            issue: described(issue, 'Issue of the conflict.'),
            ours: described(write, 'Write of the automation.'),
            theirs: described(write, 'Write of the other writer.'),
          },
          { description: 'Example of a conflict.' },
        ),
      }),
      { description: 'Writers of the same field of the same issue within a day.' },
    ),
  }),
);
export type AutomationHealth = Static<typeof AutomationHealth>;

interface HealthRun {
  readonly id: string;
  readonly status: string;
  readonly events_json: string;
  readonly error_json: string | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

const newestRuns = tenantStatement<HealthRun>(
  'runs.of_health',
  `SELECT id, status, events_json, error_json, created_at, finished_at FROM runs INDEXED BY runs_install
   WHERE workspace_id = :ws AND install_id = :id AND created_at > :since ORDER BY created_at DESC, id DESC LIMIT ${runsMax}`,
);
const usageToday = tenantStatement<{ runs: number; cpu_ms: number }>(
  'plugin_usage.of_health',
  'SELECT runs, cpu_ms FROM plugin_usage WHERE workspace_id = :ws AND install_id = :id AND day = :day',
);
const decided = tenantStatement<{ status: string; count: number }>(
  'proposals.of_health',
  `SELECT status, count(*) AS count FROM proposals WHERE workspace_id = :ws AND install_id = :id
     AND decided_at > :since GROUP BY status`,
);

/** A field of an issue that the automation wrote, or would have written. */
interface Write {
  /** Identifies the run and the issue, which count as one change. */
  readonly change: string;
  readonly issue: Static<typeof issue>;
  readonly field: string;
  readonly value: unknown;
  readonly atMs: number;
  readonly sequence: number;
}

export async function healthOf(
  ctx: Context,
  automation: Automation,
  { usage, install }: { readonly usage: Usage; readonly install: Install },
): Promise<AutomationHealth> {
  const { id } = automation;
  const now = ctx.nowMs();
  const runs = await ctx.store.read(ctx.scope, newestRuns, { id, since: now - healthDays * dayMs });
  const writes = await writesOfRuns(ctx, runs, id);
  const foreseen = writes.length === 0 ? await writesOfBacktest(ctx, automation) : null;
  const seen = await lookAround(ctx, automation, foreseen ?? writes);
  const spent = automation.state === 'active' ? await usage.spent(ctx.scope, install) : null;
  return {
    basis: foreseen ? 'backtest' : 'runs',
    days: healthDays,
    lastRunAt: isoTime(runs[0]?.created_at ?? null),
    lastActedAt: isoTime(runs.find(hasActed)?.created_at ?? null),
    runs: countsOf(runs),
    overruled: await overruledOf(ctx, automation, foreseen ? [] : writes, seen),
    failures: failuresOf(runs, mayReadTexts(ctx, automation)),
    loops: loopsOf(runs),
    usage: await usageOf(ctx, id),
    waitsFor: showSpent(spent),
    conflicts: seen.conflicts,
  };
}

function countsOf(runs: readonly HealthRun[]): AutomationHealth['runs'] {
  const ofStatus = (status: string): number => runs.filter((run) => run.status === status).length;
  return {
    total: runs.length,
    acted: runs.filter(hasActed).length,
    proposed: ofStatus('proposed'),
    failed: ofStatus('dead'),
  };
}

const loopsOf = (runs: readonly HealthRun[]): AutomationHealth['loops'] =>
  runs.flatMap((run) => {
    const error = errorOf(run);
    if (!error?.code.startsWith('loop_')) return [];
    return [{ message: error.message, at: isoTime(run.created_at), runId: run.id }];
  });

async function usageOf(ctx: Context, id: string): Promise<AutomationHealth['usage']> {
  const [today] = await ctx.store.read(ctx.scope, usageToday, { id, day: dayOf(ctx.nowMs()) });
  return { runs: today?.runs ?? 0, cpuMs: today?.cpu_ms ?? 0 };
}

const eventsOf = ({ events_json: text }: HealthRun) => JSON.parse(text) as { id: string; type: string }[];
const hasActed = (run: HealthRun): boolean => run.status === 'succeeded' && run.events_json !== '[]';
const errorOf = ({ error_json: text }: HealthRun): RunError | null =>
  text === null ? null : (JSON.parse(text) as RunError);

/** Texts of runs may contain data from other servers. The owner of a rule reads them, to correct it. */
const mayReadTexts = ({ scopes, authority }: Context, { ownerId }: Automation): boolean =>
  scopes.has(textScope) || (ownerId !== null && authority.actor.memberId === ownerId);

function failuresOf(runs: readonly HealthRun[], showsTexts: boolean): AutomationHealth['failures'] {
  const failed = runs.filter(({ status }) => status === 'dead').map((run) => ({ run, error: errorOf(run) }));
  return [...Map.groupBy(failed, ({ error }) => error?.code ?? 'error')].map(([code, list]) => {
    const { run, error } = list[0]!;
    return {
      code,
      message: showsTexts ? (error?.message ?? 'The run failed.') : hiddenText,
      count: list.length,
      lastAt: isoTime(run.finished_at ?? run.created_at),
      runId: run.id,
    };
  });
}

async function writesOfRuns(ctx: Context, runs: readonly HealthRun[], id: string): Promise<Write[]> {
  // Several events of a run name the same field.
  const writes = new Map<string, Write>();
  for (const run of runs)
    for (const one of eventsOf(run)) {
      if (writes.size >= writesMax) break;
      const event = one.type.startsWith('issue.') ? await findEvent(ctx.store, ctx.scope, one.id) : undefined;
      if (event?.actor.id !== id) continue;
      for (const write of writesIn(event, run.id)) writes.set(`${write.change} ${write.field}`, write);
    }
  return [...writes.values()];
}

function writesIn({ data, createdAt, sequence, entityId }: EventRow, runId: string): Write[] {
  const { identifier = null, previous } = data as { identifier?: string | null; previous?: object };
  return Object.keys(previous ?? {}).map((field) => ({
    change: `${runId} ${entityId}`,
    issue: { id: entityId, identifier },
    field,
    value: data[field],
    atMs: createdAt,
    sequence,
  }));
}

async function writesOfBacktest(ctx: Context, { backtest }: Automation): Promise<Write[] | null> {
  const row = backtest && (await ctx.store.readOne(ctx.scope, findBacktest, { id: backtest.id }));
  if (!row?.report_json) return null;
  const { effects } = JSON.parse(row.report_json) as BacktestReport;
  return effects.slice(0, writesMax).map(({ issueId, field, wouldBe, at: time, sequence }) => ({
    change: `${sequence} ${issueId}`,
    issue: { id: issueId, identifier: null },
    field,
    value: wouldBe,
    atMs: Date.parse(time),
    sequence,
  }));
}

interface Reversal {
  readonly write: Write;
  readonly example: AutomationHealth['overruled']['examples'][number];
}

interface Surroundings {
  readonly conflicts: AutomationHealth['conflicts'];
  readonly reversed: AutomationHealth['overruled']['examples'];
  readonly reversedCount: number;
}

/** Reads the events around the writes of an automation, once per issue. */
async function lookAround(
  ctx: Context,
  automation: Automation,
  writes: readonly Write[],
): Promise<Surroundings> {
  const conflicts = new Map<string, AutomationHealth['conflicts'][number] & { issues: Set<string> }>();
  const reversed: Reversal[] = [];
  for (const [issueId, own] of Map.groupBy(writes, (one) => one.issue.id)) {
    const first = Math.min(...own.map(({ sequence }) => sequence));
    const page = await pageOfSubject(ctx.store, ctx.scope, issueId, Math.max(0, first - sequencesBefore), {
      limit: eventsPerIssue,
      matches: ({ entityType, actor }) => entityType === 'issue' && actor.id !== automation.id,
    });
    for (const event of page.events)
      for (const one of own) {
        if (!(one.field in ((event.data.previous ?? {}) as object))) continue;
        noteConflict(conflicts, one, event);
        noteReversal(reversed, one, event, automation);
      }
  }
  return {
    conflicts: [...conflicts.values()].map(({ issues, ...conflict }) => ({
      ...conflict,
      count: issues.size,
    })),
    reversed: reversed.slice(0, examplesMax).map(({ example }) => example),
    reversedCount: new Set(reversed.map(({ write }) => write.change)).size,
  };
}

function noteConflict(
  conflicts: Map<string, AutomationHealth['conflicts'][number] & { issues: Set<string> }>,
  one: Write,
  { actor, data, createdAt }: EventRow,
): void {
  if (actor.kind !== 'plugin' && actor.kind !== 'system') return;
  if (Math.abs(createdAt - one.atMs) > dayMs) return;
  const kind = actor.kind === 'system' ? 'system' : isRuleId(actor.id) ? 'automation' : 'plugin';
  const key = `${actor.id} ${one.field}`;
  const known = conflicts.get(key);
  const { identifier = null } = data as { identifier?: string | null };
  if (known) return void known.issues.add(one.issue.id);
  conflicts.set(key, {
    with: { kind, id: actor.id, name: actor.name },
    field: one.field,
    count: 1,
    example: {
      issue: { ...one.issue, identifier: one.issue.identifier ?? identifier },
      ours: { value: short(one.value), at: isoTime(one.atMs) },
      theirs: { value: short(data[one.field]), at: isoTime(createdAt) },
    },
    issues: new Set([one.issue.id]),
  });
}

/** A person who sets another value within the window overrules the automation. */
function noteReversal(reversed: Reversal[], one: Write, event: EventRow, { stepDown }: Automation): void {
  const { actor, data, createdAt, sequence } = event;
  const isPerson = actor.kind === 'user' || actor.kind === 'api_key';
  if (!isPerson || sequence <= one.sequence || createdAt > one.atMs + stepDown.days * dayMs) return;
  if (reversed.some(({ write }) => write === one)) return;
  if (JSON.stringify(data[one.field]) === JSON.stringify(one.value)) return;
  const [set, now] = [short(one.value), short(data[one.field])];
  const example = { issue: one.issue, field: one.field, set, now, by: actor.name, at: isoTime(createdAt) };
  reversed.push({ write: one, example });
}

async function overruledOf(
  ctx: Context,
  { id, stepDown }: Automation,
  writes: readonly Write[],
  { reversed, reversedCount }: Surroundings,
): Promise<AutomationHealth['overruled']> {
  const since = ctx.nowMs() - stepDown.days * dayMs;
  const rows = await ctx.store.read(ctx.scope, decided, { id, since });
  const ofStatus = (...statuses: readonly string[]): number =>
    rows.filter(({ status }) => statuses.includes(status)).reduce((sum, row) => sum + row.count, 0);
  const changes =
    new Set(writes.map(({ change }) => change)).size + ofStatus('approved', 'partly_approved', 'rejected');
  const overruled = reversedCount + ofStatus('rejected');
  return {
    changes,
    overruled,
    share: changes === 0 ? null : Math.round((overruled / changes) * 1000) / 1000,
    examples: reversed,
  };
}
