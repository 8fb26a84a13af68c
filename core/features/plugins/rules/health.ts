// Health of an automation: its runs, failures and loops, the changes that people overruled, and conflicts with
// others that write the same fields. The conflicts of an automation that has not written yet are those of its backtest.
import { Type, type Static } from 'typebox';
import type { Context } from '../../../kernel/context.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
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
import type { Install } from '../installs/model.ts';
import type { RunError } from '../runs/errors.ts';
import { hiddenText, textScope } from '../runs/runs.ts';
import { lookAround, type Judged } from './surroundings.ts';

/** Window of the runs that are read, in days. */
const healthDays = 30;
/** Limit of the runs that one request reads. */
const runsMax = 200;

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
    lastActedAt: nullable(
      at('Time of the last run or approved proposal that changed something; null if none did.'),
    ),
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
        changes: count(
          'Number of judged changes: issues that a run or an approved proposal changed, and rejected proposals.',
        ),
        overruled: count('Number of changes that people undid, set otherwise or rejected.'),
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

export async function healthOf(
  ctx: Context,
  automation: Automation,
  { usage, install }: { readonly usage: Usage; readonly install: Install },
): Promise<AutomationHealth> {
  const { id } = automation;
  const sinceMs = ctx.nowMs() - healthDays * dayMs;
  const runs = await ctx.store.read(ctx.scope, newestRuns, { id, since: sinceMs });
  const seen = await lookAround(ctx, automation, { runs, sinceMs, backtest: automation.backtest });
  const { changes, overruled } = seen.judged;
  const spent = automation.state === 'active' ? await usage.spent(ctx.scope, install) : null;
  return {
    basis: seen.basis,
    days: healthDays,
    lastRunAt: isoTime(runs[0]?.created_at ?? null),
    lastActedAt: isoTime(Math.max(runs.find(hasActed)?.created_at ?? 0, seen.approvedAt) || null),
    runs: countsOf(runs),
    overruled: { changes, overruled, share: shareOf(seen.judged), examples: seen.reversed },
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

/** Returns the overruled share, rounded to a tenth of a percent; null without changes. */
const shareOf = ({ changes, overruled }: Judged): number | null =>
  changes === 0 ? null : Math.round((overruled / changes) * 1000) / 1000;

/**
 * Returns the judged changes of an automation if people overruled more of them than it permits, else null. One that
 * proposes is judged by its proposals alone: what it applied earlier has already cost it that mode.
 */
export async function overruledTooOften(
  ctx: Context,
  automation: Automation,
  applies: boolean,
): Promise<Judged | null> {
  const { id, stepDown } = automation;
  const sinceMs = ctx.nowMs() - healthDays * dayMs;
  const runs = applies ? await ctx.store.read(ctx.scope, newestRuns, { id, since: sinceMs }) : [];
  const { judged } = await lookAround(ctx, automation, { runs, sinceMs });
  return judged.overruled >= stepDown.least && (shareOf(judged) ?? 0) >= stepDown.share ? judged : null;
}
