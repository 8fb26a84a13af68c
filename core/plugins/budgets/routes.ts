// The addresses where the cost of plugins is read: by day, by scope, by issue.
import { Type } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';
import { Closed, date, described, named, nameOf, nullable, time } from '../../lib/schema.ts';
import { issue } from '../../tracker/issues/contract.ts';
import { pluginRef } from '../installs/ref.ts';
import { WholeBudget } from '../installs/contract.ts';
import { showCosts, showScopes, showUsage } from './costs.ts';
import { spentShown } from './schema.ts';
import type { Usage } from './usage.ts';

const params = Closed({ id: pluginRef });
const amounts = {
  runs: Type.Integer({ description: 'Runs that ended, each attempt counted.' }),
  cpuMs: Type.Number({ description: 'Processor time in the sandbox, in milliseconds.' }),
  calls: Type.Integer({ description: 'Host calls.' }),
};

const UsageOfPlugin = named(
  'PluginUsage',
  Closed({
    budget: described(WholeBudget, 'What it may use in a UTC day: what was set, and the caps of the host.'),
    spent: spentShown('Set while its budget is spent.'),
    data: Type.Array(
      Closed({
        day: described(date, 'A day in UTC.'),
        ...amounts,
        egressBytes: Type.Integer({ description: 'Bytes sent to other hosts and received from them.' }),
      }),
      { description: 'The latest day first; a day without runs is left out.' },
    ),
  }),
);

const ScopesOfPlugin = named(
  'PluginScopes',
  Closed({
    data: Type.Array(
      Closed({
        scope: Type.String({ description: 'Such as `issues:write`.' }),
        sentence: Type.String({ description: 'What it lets the plugin do.' }),
        granted: Type.Boolean({ description: 'Whether it was granted.' }),
        usedAt: nullable(described(time, 'When a run last used it, to a few seconds.')),
        calls: Type.Integer({ description: 'How often runs used it: calls, and events that it was sent.' }),
      }),
      { description: 'Those of its manifest.' },
    ),
    suggestion: nullable(
      Closed(
        {
          reason: Type.String({ description: 'What is not used.' }),
          grant: Type.Array(Type.String(), { description: 'For `PATCH /plugins/{id}`.' }),
        },
        { description: 'A smaller grant, under which it would have done the same.' },
      ),
    ),
    judged: Closed(
      {
        from: described(time, 'From then on a scope that was not used for 30 days is called unused,'),
        orAfterRuns: Type.Integer({ description: 'or, where it was never used, after so many runs,' }),
        runs: Type.Integer({ description: 'of which there were so many.' }),
      },
      { description: 'From when on there are suggestions: before, little is known of what it needs.' },
    ),
  }),
);

const CostsOfIssue = named(
  'IssueCosts',
  Closed({
    data: Type.Array(
      Closed({
        install: Type.String({ description: 'The install.' }),
        pluginId: Type.String({ description: "The manifest's id." }),
        ...amounts,
      }),
      { description: 'By install.' },
    ),
    isComplete: Type.Boolean({ description: 'False where only its latest events were looked at.' }),
  }),
);

export function budgetRoutes(usage: Usage): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/usage',
      name: 'plugins.usage',
      summary: 'What a plugin may use in a day, and what it used',
      scope: 'plugins:read',
      limit: 'read',
      params,
      query: Closed({
        since: Type.Optional(described(date, 'The first day; by default 30 days are shown.')),
      }),
      responses: { 200: UsageOfPlugin },
      read: (ctx, { params, query }) => showUsage(ctx, params.id, query.since, usage),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/scopes',
      name: 'plugins.scopes',
      summary: 'Which of its scopes a plugin uses, and a smaller grant where it uses fewer',
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
      summary: 'What the runs that events of an issue caused have cost, by plugin',
      scope: 'plugins:read',
      also: { words: 'the right to read issues', scopes: () => Promise.resolve(['issues:read']) },
      limit: 'read',
      params: Closed({ id: nameOf(issue) }),
      responses: { 200: CostsOfIssue },
      read: (ctx, { params }) => showCosts(ctx, params.id),
    }),
  ];
}
