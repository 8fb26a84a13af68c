import { type AlsoNeeded, defineRoute, type Route } from '../../../kernel/http/route.ts';
import { packageFormat } from '../../../../sdk/plugin/manifest.ts';
import { Type } from 'typebox';
import { Closed, idOf, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { expandScopes } from '../../../kernel/rights/table.ts';
import { pluginRef, pluginVisibility, steering } from '../installs/rights.ts';
import {
  backtestPackage,
  backtestPlugin,
  cancelBacktest,
  gatePlugin,
  getBacktest,
  grantOf,
  listBacktests,
  type TrialRules,
  beginShadow,
  getShadow,
  stopShadow,
} from './operations.ts';
import {
  BacktestCreate,
  BacktestListed,
  BacktestResponse,
  GateCreate,
  PluginBacktest,
  ShadowCreate,
  ShadowResponse,
} from './schema.ts';

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

export function trialRoutes(rules: TrialRules): Route[] {
  return [...routesOfPlugin(rules), ...routesOfAll(rules), ...routesOfOne(rules), ...shadowRoutes(rules)];
}

function routesOfPlugin(rules: TrialRules): Route[] {
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

function routesOfAll(rules: TrialRules): Route[] {
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

function routesOfOne(rules: TrialRules): Route[] {
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

const shadowPath = '/api/v1/plugins/{id}/shadow';

function shadowRoutes(rules: TrialRules): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: shadowPath,
      name: 'plugins.begin-shadow',
      summary: 'Run another version of a plugin as a shadow',
      description:
        'The shadow runs on each event that the installed version has run on, with at most the same grant. It writes and sends nothing; its effects are compared with those of the installed version.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params: ofPlugin,
      body: ShadowCreate,
      bodyBytesMax: packageBytesMax,
      example: { package: { format: packageFormat } },
      errors: ['conflict'],
      responses: { 201: ShadowResponse },
      write: (ctx, { params, body }) => beginShadow(ctx, params.id, body, rules),
    }),
    defineRoute({
      method: 'GET',
      path: shadowPath,
      name: 'plugins.shadow',
      summary: 'Get the present or last shadow of a plugin',
      scope: 'plugins:read',
      also: pluginVisibility,
      limit: 'read',
      params: ofPlugin,
      responses: { 200: ShadowResponse },
      read: (ctx, { params }) => getShadow(ctx, params.id, rules),
    }),
    defineRoute({
      method: 'DELETE',
      path: shadowPath,
      name: 'plugins.stop-shadow',
      summary: 'Stop the shadow of a plugin',
      description: 'The report remains available until another shadow starts.',
      scope: 'plugins:write',
      limit: 'write',
      params: ofPlugin,
      errors: ['conflict'],
      responses: { 204: null },
      write: (ctx, { params, ifMatch }) => stopShadow(ctx, params.id, ifMatch, rules),
    }),
  ];
}
