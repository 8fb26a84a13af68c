// Routes for the cost of plugins: by day, by scope, by issue.
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
import { pluginRef } from '../installs/ref.ts';
import { WholeBudget } from '../installs/contract.ts';
import { showCosts, showScopes, showUsage } from './costs.ts';
import { spentResponse } from './schema.ts';
import type { Usage } from './usage.ts';

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
