// Routes for the cost of plugins: of an install by day and by scope, and of all installs on one issue.
import { dayMs } from '../../../platform/lib/time/time.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { notFound } from '../../../platform/lib/errors/errors.ts';
import { derivedId, idPrefixes } from '../../../platform/lib/ids.ts';
import { sentenceOf } from '../../../kernel/rights/table.ts';
import { readScopeOf } from '../../../kernel/rights/rights.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { getRunner } from '../installs/installs.ts';
import type { Install } from '../installs/model.ts';
import { hostBudget, WholeBudget } from '../installs/contract.ts';
import { pluginScopeUseTable, pluginTable, pluginUsageTable } from '../tables.ts';
import { dayOf, quantities, startOfDay, showSpent, spentResponse } from './budget.ts';
import type { Usage } from './usage.ts';
import { Type } from 'typebox';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import {
  Closed,
  date,
  described,
  namedSchema,
  nameOf,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';
import { issue } from '../../issues/contract.ts';
import { pluginRef } from '../installs/rights.ts';

const dayColumns = ['day', 'runs', 'cpu_ms', 'calls', 'egress_bytes'] as const;
const byDay = tenantStatement<Pick<RowOf<typeof pluginUsageTable>, (typeof dayColumns)[number]>>(
  'plugin_usage.by_day',
  `SELECT ${pluginUsageTable.names(...dayColumns)} FROM plugin_usage
   WHERE workspace_id = :ws AND install_id = :install_id AND day >= :since ORDER BY day DESC LIMIT 400`,
);
const byScope = pluginScopeUseTable.select('of_install', ['scope', 'used_at', 'calls'], ['install_id']);
const allInstalls = pluginTable.select('all_ids', ['id', 'plugin_id'], [], 'ORDER BY id DESC LIMIT 100');
const runsUntilNow = tenantStatement<{ runs: number | null }>(
  'plugin_usage.runs',
  'SELECT sum(runs) AS runs FROM plugin_usage WHERE workspace_id = :ws AND install_id = :install_id',
);
const findIssue = tenantStatement<{ team_id: string }>(
  'issues.team_of',
  'SELECT team_id FROM issues WHERE workspace_id = :ws AND id = :id',
);
const eventsOfIssue = tenantStatement<{ id: string }>(
  'events.ids_of_issue',
  `SELECT id FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id = :id
   ORDER BY sequence DESC LIMIT :limit`,
);
/**
 * The unary plus keeps SQLite from scanning an index on installs to group the rows; the runs are looked up by
 * id instead.
 */
const costsOfRuns = tenantStatement<{ install_id: string; runs: number; cpu_ms: number; calls: number }>(
  'runs.costs',
  `SELECT install_id, count(*) AS runs, coalesce(sum(cpu_ms), 0) AS cpu_ms, coalesce(sum(json_array_length(calls_json)), 0) AS calls
   FROM runs WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))
   GROUP BY +install_id`,
);

/** Limit of run lookups per issue: one for each pair of event and install. */
const lookUpsMax = 5_000;
const usedWithinMs = 30 * dayMs;
/** Number of runs after which a scope that was never used counts as unused. */
const unusedAfterRuns = 1_000;
const daysDefault = 30;

/** @param since first day, such as 2026-11-20; default 29 days ago */
async function showUsage(ctx: Context, ref: string, since: string | undefined, usage: Usage) {
  const install = await getRunner(ctx, ref);
  await usage.written();
  const today = dayOf(ctx.nowMs());
  const from = since === undefined ? today - daysDefault + 1 : dayOf(Date.parse(since));
  const rows = await ctx.store.read(ctx.scope, byDay, { install_id: install.id, since: from });
  const spent = await usage.spent(ctx.scope, install);
  const { whenSpent } = install.budget;
  return {
    budget: {
      ...Object.fromEntries(quantities.map((name) => [name, install.budget[name] ?? hostBudget[name]])),
      whenSpent,
    },
    spent: showSpent(spent),
    data: rows.map((row) => ({
      day: new Date(startOfDay(row.day)).toISOString().slice(0, 10),
      runs: row.runs,
      cpuMs: Math.round(row.cpu_ms * 100) / 100,
      calls: row.calls,
      egressBytes: row.egress_bytes,
    })),
  };
}

/** Returns the use of each scope, and a suggested smaller grant if some granted scopes are unused. */
async function showScopes(ctx: Context, ref: string, usage: Usage) {
  const install = await getRunner(ctx, ref);
  await usage.written();
  const at = { install_id: install.id };
  const rows = await byScope.all(ctx.store, ctx.scope, at);
  const { runs = 0 } = (await ctx.store.readOne(ctx.scope, runsUntilNow, at)) ?? {};
  const used = new Map(rows.map((row) => [row.scope, row]));
  const data = Object.entries(install.manifest.scopes ?? {}).map(([scope, request]) => {
    // Uses of a read scope that was not granted count for the granted write scope, which includes it.
    const read = readScopeOf(scope);
    const ofRead = scope !== read && !install.grant.includes(read) ? used.get(read) : undefined;
    const times = [used.get(scope), ofRead].flatMap((use) => (use ? [use] : []));
    return {
      scope,
      sentence: sentenceOf(scope, request),
      granted: install.grant.includes(scope),
      usedAt: times.length === 0 ? null : isoTime(Math.max(...times.map((use) => use.used_at))),
      calls: times.reduce((sum, use) => sum + use.calls, 0),
    };
  });
  return {
    data,
    suggestion: suggestionOf(ctx, install, data, runs ?? 0),
    judged: {
      from: isoTime(install.createdAt + usedWithinMs),
      orAfterRuns: unusedAfterRuns,
      runs: runs ?? 0,
    },
  };
}

interface ScopeUse {
  readonly scope: string;
  readonly granted: boolean;
  readonly usedAt: string | null;
}

function suggestionOf(ctx: Context, install: Install, uses: readonly ScopeUse[], runs: number) {
  const old = ctx.nowMs() - usedWithinMs;
  const isUnused = ({ usedAt }: ScopeUse): boolean =>
    usedAt === null ? install.createdAt <= old || runs >= unusedAfterRuns : Date.parse(usedAt) <= old;
  const unused = uses.filter((use) => use.granted && isUnused(use)).map(({ scope }) => scope);
  if (unused.length === 0) return null;
  return {
    reason: `Not used in 30 days or in ${runs} runs: ${unused.join(', ')}.`,
    grant: install.grant.filter((scope) => !unused.includes(scope)),
  };
}

/** Returns the costs of the runs that events of an issue triggered. */
async function showCosts(ctx: Context, ref: string) {
  const id = await issueIdOf(ctx, ref);
  const installs = await allInstalls.all(ctx.store, ctx.scope, {});
  const limit = Math.floor(lookUpsMax / Math.max(installs.length, 1));
  const events = await ctx.store.read(ctx.scope, eventsOfIssue, { id, limit });
  const ids = events.flatMap((event) =>
    installs.map((install) => derivedId(idPrefixes.run, event.id, install.id)),
  );
  const rows = await ctx.store.read(ctx.scope, costsOfRuns, { ids: JSON.stringify(ids) });
  const names = new Map(installs.map((install) => [install.id, install.plugin_id]));
  const data = rows.map((row) => ({
    install: row.install_id,
    pluginId: names.get(row.install_id) ?? row.install_id,
    runs: row.runs,
    cpuMs: Math.round(row.cpu_ms * 100) / 100,
    calls: row.calls,
  }));
  return { data, isComplete: events.length < limit };
}

const findByNumber = tenantStatement<{ id: string; team_id: string }>(
  'issues.id_by_number',
  'SELECT id, team_id FROM issues WHERE workspace_id = :ws AND team_id = :teamId AND number = :number',
);

/** Accepts `iss_…` or an identifier such as `ENG-12`. @throws ApiError not_found */
async function issueIdOf(ctx: Context, ref: string): Promise<string> {
  const [, key, number] = /^([A-Za-z][A-Za-z0-9]*)-(\d{1,9})$/.exec(ref) ?? [];
  if (key === undefined) {
    const issueRow = await ctx.store.readOne(ctx.scope, findIssue, { id: ref });
    if (!issueRow || !isVisible(ctx, issueRow.team_id)) throw notFound();
    return ref;
  }
  const team = [...ctx.directory.teams.values()].find((one) => one.key === key.toUpperCase());
  const at = { teamId: team?.id ?? '', number: Number(number) };
  const issueRow = await ctx.store.readOne(ctx.scope, findByNumber, at);
  if (!issueRow || !isVisible(ctx, issueRow.team_id)) throw notFound();
  return issueRow.id;
}

function isVisible({ visibleTeams }: Context, teamId: string): boolean {
  return visibleTeams === null || visibleTeams.has(teamId);
}

const params = Closed({ id: pluginRef });
const amounts = {
  runs: Type.Integer({ description: 'Number of ended attempts of runs.' }),
  cpuMs: Type.Number({ description: 'CPU time in the sandbox, in milliseconds.' }),
  calls: Type.Integer({ description: 'Number of host calls.' }),
};

const UsageOfPlugin = namedSchema(
  'PluginUsage',
  Closed({
    budget: described(
      WholeBudget,
      'Daily budget per UTC day: the configured values, else the limits of the host.',
    ),
    spent: spentResponse('Exhausted quantity of the budget; null if none is exhausted.'),
    data: Type.Array(
      Closed({
        day: described(date, 'Day in UTC.'),
        ...amounts,
        egressBytes: Type.Integer({ description: 'Bytes sent to and received from other hosts.' }),
      }),
      { description: 'Usage by day, latest first; days without runs are omitted.' },
    ),
  }),
);

const ScopesOfPlugin = namedSchema(
  'PluginScopes',
  Closed({
    data: Type.Array(
      Closed({
        scope: Type.String({ description: 'Name of the scope, such as `issues:write`.' }),
        sentence: Type.String({ description: 'Description of what the scope allows.' }),
        granted: Type.Boolean({ description: 'True if the scope is granted.' }),
        usedAt: nullable(
          described(time, 'Time of the last use by a run, accurate to a few seconds; null if never used.'),
        ),
        calls: Type.Integer({ description: 'Number of uses by runs: host calls and received events.' }),
      }),
      { description: 'Scopes of the manifest.' },
    ),
    suggestion: nullable(
      Closed(
        {
          reason: Type.String({ description: 'Reason for the suggestion, with the unused scopes.' }),
          grant: Type.Array(Type.String(), {
            description: 'Suggested value of `grant` for `PATCH /plugins/{id}`.',
          }),
        },
        { description: 'Smaller grant that would have allowed the same runs; null if there is none.' },
      ),
    ),
    judged: Closed(
      {
        from: described(time, 'Time from which a scope without use for 30 days counts as unused.'),
        orAfterRuns: Type.Integer({
          description: 'Number of runs after which a scope that was never used counts as unused.',
        }),
        runs: Type.Integer({ description: 'Number of runs so far.' }),
      },
      { description: 'Conditions for a suggestion.' },
    ),
  }),
);

const CostsOfIssue = namedSchema(
  'IssueCosts',
  Closed({
    data: Type.Array(
      Closed({
        install: Type.String({ description: 'Id of the install.' }),
        pluginId: Type.String({ description: 'Id of the plugin in its manifest.' }),
        ...amounts,
      }),
      { description: 'Costs by install.' },
    ),
    isComplete: Type.Boolean({ description: 'False if only the latest events of the issue were counted.' }),
  }),
);

export function budgetRoutes(usage: Usage): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/usage',
      name: 'plugins.usage',
      summary: 'Get the budget and usage of a plugin',
      scope: 'plugins:read',
      limit: 'read',
      params,
      query: Closed({
        since: Type.Optional(described(date, 'First day; default 29 days ago.')),
      }),
      responses: { 200: UsageOfPlugin },
      read: (ctx, { params, query }) => showUsage(ctx, params.id, query.since, usage),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/scopes',
      name: 'plugins.scopes',
      summary: 'Get the scope usage of a plugin and a suggested smaller grant',
      scope: 'plugins:read',
      limit: 'read',
      params,
      responses: { 200: ScopesOfPlugin },
      read: (ctx, { params }) => showScopes(ctx, params.id, usage),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/issues/{id}/costs',
      name: 'plugins.costs-of-issue',
      summary: 'Get the cost of the plugin runs that events of an issue triggered',
      scope: 'plugins:read',
      also: { words: '`issues:read`', scopes: () => Promise.resolve(['issues:read']) },
      limit: 'read',
      params: Closed({ id: nameOf(issue) }),
      responses: { 200: CostsOfIssue },
      read: (ctx, { params }) => showCosts(ctx, params.id),
    }),
  ];
}
