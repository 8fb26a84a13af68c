// Routes to start, read and stop the shadow of a plugin.
import { packageFormat } from '../../../../sdk/plugin/manifest.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { Closed } from '../../../platform/lib/schema.ts';
import { pluginRef } from '../installs/ref.ts';
import { pluginVisibility, steering } from '../installs/rights.ts';
import { ShadowCreate, ShadowResponse } from './report.ts';
import { beginShadow, getShadow, stopShadow, type ShadowRules } from './shadows.ts';

const packageBytesMax = 6 * 1024 * 1024;
const path = '/api/v1/plugins/{id}/shadow';
const params = Closed({ id: pluginRef });

export function shadowRoutes(rules: ShadowRules): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path,
      name: 'plugins.begin-shadow',
      summary: 'Run another version of a plugin as a shadow',
      description:
        'The shadow runs on each event that the installed version has run on, with at most the same grant. It writes and sends nothing; its effects are compared with those of the installed version.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      body: ShadowCreate,
      bodyBytesMax: packageBytesMax,
      example: { package: { format: packageFormat } },
      errors: ['conflict'],
      responses: { 201: ShadowResponse },
      write: (ctx, { params, body }) => beginShadow(ctx, params.id, body, rules),
    }),
    defineRoute({
      method: 'GET',
      path,
      name: 'plugins.shadow',
      summary: 'Get the present or last shadow of a plugin',
      scope: 'plugins:read',
      also: pluginVisibility,
      limit: 'read',
      params,
      responses: { 200: ShadowResponse },
      read: (ctx, { params }) => getShadow(ctx, params.id, rules),
    }),
    defineRoute({
      method: 'DELETE',
      path,
      name: 'plugins.stop-shadow',
      summary: 'Stop the shadow of a plugin',
      description: 'The report remains available until another shadow starts.',
      scope: 'plugins:write',
      limit: 'write',
      params,
      errors: ['conflict'],
      responses: { 204: null },
      write: (ctx, { params, ifMatch }) => stopShadow(ctx, params.id, ifMatch, rules),
    }),
  ];
}
