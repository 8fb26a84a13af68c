// Routes to list, install, update and remove plugins.
import { Type } from 'typebox';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { Closed, described, idOf, nullable, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import { packageFormat } from '../../../../sdk/plugin/manifest.ts';
import {
  installPlugin,
  previewInstall,
  listInstalls,
  getInstall,
  showInstall,
  uninstallPlugin,
  updateInstall,
  type InstallRules,
} from './installs.ts';
import {
  Consent,
  InstallCreate,
  InstallPreviewed,
  InstallResponse,
  InstallStatus,
  InstallUpdate,
} from './schema.ts';
import { plugin } from './contract.ts';
import { pluginRef, updating, upgrading } from './rights.ts';
import { SettingsForm, settingsFormOf } from './settings.ts';

const params = Closed({ id: pluginRef });

export function installRoutes(rules: InstallRules): Route[] {
  return [...routesOfAll(rules), ...routesOfOne(rules)];
}

function routesOfAll(rules: InstallRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins',
      name: 'plugins.list',
      summary: 'List installed plugins',
      scope: 'plugins:read',
      limit: 'read',
      query: Closed(pageQuery),
      responses: { 200: pageOf(InstallStatus) },
      read: (ctx, { query }) => listInstalls(ctx, query, rules),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins',
      name: 'plugins.install',
      summary: 'Install or upgrade a plugin',
      description:
        'The package is the output of `tatami plugins pack`. `grant` lists the granted scopes out of those in the manifest. An upgrade that requests more becomes `pending` until someone consents; the installed version stays active.',
      scope: 'plugins:write',
      also: upgrading,
      limit: 'write',
      body: InstallCreate,
      bodyBytesMax: 6 * 1024 * 1024,
      example: { package: { format: packageFormat }, grant: ['issues:read', 'issues:write'] },
      errors: ['forbidden', 'conflict'],
      responses: { 201: InstallResponse, 200: InstallResponse },
      write: (ctx, { body }) => installPlugin(ctx, body, rules),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/preview',
      name: 'plugins.preview',
      summary: 'Preview the requests and the signature of a package',
      scope: 'plugins:read',
      limit: 'read',
      body: InstallPreviewed,
      bodyBytesMax: 6 * 1024 * 1024,
      example: { package: { format: packageFormat } },
      errors: ['forbidden'],
      responses: {
        200: Closed({
          installed: nullable(
            Closed(
              {
                id: idOf(plugin.id),
                version: Type.String({ description: 'Version of the plugin.' }),
                sha256: Type.String({ description: 'SHA-256 of the code, in hex.' }),
              },
              { description: 'Installed version; null if there is none.' },
            ),
          ),
          asked: described(Consent, 'Requests of the package, compared with the installed version.'),
        }),
      },
      read: (ctx, { body }) => previewInstall(ctx, body, rules),
    }),
  ];
}

function routesOfOne(rules: InstallRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}',
      name: 'plugins.get',
      summary: 'Get an installed plugin',
      scope: 'plugins:read',
      limit: 'read',
      params,
      responses: { 200: InstallStatus },
      read: (ctx, { params }) => showInstall(ctx, params.id, rules),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/settings-form',
      name: 'plugins.settings-form',
      summary: 'Get the settings of a plugin as the fields of a form',
      scope: 'plugins:read',
      limit: 'read',
      params,
      responses: { 200: SettingsForm },
      read: async (ctx, { params }) => settingsFormOf(await getInstall(ctx, params.id)),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/api/v1/plugins/{id}',
      name: 'plugins.update',
      summary: 'Update the settings, grant, mode or state of a plugin',
      scope: 'plugins:write',
      also: updating,
      limit: 'write',
      params,
      body: InstallUpdate,
      example: { mode: 'simulate' },
      errors: ['forbidden'],
      responses: { 200: InstallResponse },
      write: (ctx, { params, body, ifMatch }) => updateInstall(ctx, params.id, body, ifMatch, rules),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/plugins/{id}',
      name: 'plugins.delete',
      summary: 'Uninstall a plugin',
      scope: 'plugins:write',
      limit: 'write',
      params,
      responses: { 204: null },
      write: (ctx, { params, ifMatch }) => uninstallPlugin(ctx, params.id, ifMatch, rules),
    }),
  ];
}
