import { type AlsoNeeded, defineRoute, type Route } from '../../../kernel/http/route.ts';
import { packageFormat } from '../../../../sdk/plugin/manifest.ts';
import { Type } from 'typebox';
import { Closed, idOf, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { expandScopes } from '../../../kernel/rights/table.ts';
import { pluginRef, pluginVisibility } from '../installs/rights.ts';
import {
  backtestPackage,
  backtestPlugin,
  cancelBacktest,
  gatePlugin,
  getBacktest,
  grantOf,
  listBacktests,
  type BacktestRules,
} from './backtests.ts';
import { BacktestCreate, BacktestListed, BacktestResponse, GateCreate, PluginBacktest } from './schema.ts';

const packageBytesMax = 6 * 1024 * 1024;
const ofPlugin = Closed({ id: pluginRef });
const params = Closed({ id: idOf(idPrefixes.backtest) });
const tried =
  'Each event runs against the state of its time, and nothing is written or sent. The response returns at once; poll the backtest until it has ended.';

/** The report contains data that the backtest read. */
const backtestVisibility: AlsoNeeded = {
  words: 'all read scopes granted to the backtest',
  scopes: async (ctx, { params }) =>
    [...expandScopes(await grantOf(ctx, (params as { id: string }).id))].filter((scope) =>
      scope.endsWith(':read'),
    ),
};

/** The installed version was consented to; another package requires the scope to install plugins. */
const visibilityOrInstall: AlsoNeeded = {
  words: `${pluginVisibility.words}, and \`plugins:write\` to test another package`,
  async scopes(ctx, input) {
    const { package: brought } = (input.body ?? {}) as { package?: unknown };
    return [
      ...(await pluginVisibility.scopes(ctx, input)),
      ...(brought === undefined ? [] : ['plugins:write']),
    ];
  },
};

export function backtestRoutes(rules: BacktestRules): Route[] {
  return [...routesOfPlugin(rules), ...routesOfAll(rules), ...routesOfOne(rules)];
}

function routesOfPlugin(rules: BacktestRules): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/backtests',
      name: 'plugins.backtest',
      summary: 'Backtest a version of an installed plugin on recorded events',
      description: tried,
      scope: 'backtests:write',
      also: visibilityOrInstall,
      limit: 'write',
      params: ofPlugin,
      body: PluginBacktest,
      bodyBytesMax: packageBytesMax,
      example: { since: '2026-10-20T00:00:00Z' },
      errors: ['conflict'],
      responses: { 202: BacktestResponse },
      write: (ctx, { params, body }) => backtestPlugin(ctx, params.id, body, rules),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/gate',
      name: 'plugins.gate',
      summary: 'Compare another version of a plugin with the installed one',
      description: `Both versions run on the events of the last runs, and the report lists their differences. ${tried}`,
      scope: 'plugins:write',
      also: pluginVisibility,
      limit: 'write',
      params: ofPlugin,
      body: GateCreate,
      bodyBytesMax: packageBytesMax,
      example: { package: { format: packageFormat }, runs: 20 },
      errors: ['conflict'],
      responses: { 202: BacktestResponse },
      write: (ctx, { params, body }) => gatePlugin(ctx, params.id, body, rules),
    }),
  ];
}

function routesOfAll(rules: BacktestRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/backtests',
      name: 'backtests.list',
      summary: 'List backtests and gates, newest first, without their reports',
      scope: 'plugins:read',
      limit: 'read',
      query: Closed({
        ...pageQuery,
        plugin: Type.Optional(
          Type.String({
            maxLength: 200,
            description: 'Id of a plugin in its manifest: returns only its backtests.',
          }),
        ),
      }),
      responses: { 200: pageOf(BacktestListed) },
      errors: ['invalid_cursor'],
      read: (ctx, { query }) => listBacktests(ctx, query, rules),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/backtests',
      name: 'backtests.create',
      summary: 'Backtest a package on recorded events before installing it',
      description: tried,
      scope: 'plugins:write',
      limit: 'write',
      body: BacktestCreate,
      bodyBytesMax: packageBytesMax,
      example: { package: { format: packageFormat }, since: '2026-10-20T00:00:00Z' },
      errors: ['conflict'],
      responses: { 202: BacktestResponse },
      write: (ctx, { body }) => backtestPackage(ctx, body, rules),
    }),
  ];
}

function routesOfOne(rules: BacktestRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/backtests/{id}',
      name: 'backtests.get',
      summary: 'Get a backtest with its progress and its report',
      scope: 'plugins:read',
      also: backtestVisibility,
      limit: 'read',
      params,
      responses: { 200: BacktestResponse },
      read: (ctx, { params }) => getBacktest(ctx, params.id, rules),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/backtests/{id}/cancel',
      name: 'backtests.cancel',
      summary: 'Cancel a backtest that has not ended',
      description: 'The run in progress is aborted, and there is no report.',
      scope: 'plugins:write',
      limit: 'write',
      params,
      errors: ['conflict'],
      responses: { 200: BacktestResponse },
      write: (ctx, { params }) => cancelBacktest(ctx, params.id, rules),
    }),
  ];
}
