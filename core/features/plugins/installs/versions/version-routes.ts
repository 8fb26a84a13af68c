// Routes for the versions of an install: consent to or refuse a pending one, list them, and roll back.
import { Type } from 'typebox';
import { defineRoute, type Route } from '../../../../kernel/http/route.ts';
import { Closed, described, nullable } from '../../../../platform/lib/schema.ts';
import { Consent } from '../consent/consent-schema.ts';
import { giveConsent, refuseConsent, rollBack, showConsent } from '../consent/consenting.ts';
import { getInstall, type InstallRules } from '../installs.ts';
import { pluginRef } from '../ref.ts';
import { steering } from '../rights.ts';
import { ConsentInput, InstallResponse } from '../schema.ts';
import { listVersions, VersionResponse } from './versions.ts';

const params = Closed({ id: pluginRef });

export function consentRoutes(rules: InstallRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/consent',
      name: 'plugins.consent.get',
      summary: 'Get the requests of the installed and the pending version of a plugin',
      scope: 'plugins:read',
      limit: 'read',
      params,
      responses: {
        200: Closed({
          installed: described(Consent, 'Requests of the installed version.'),
          pending: nullable(described(Consent, 'Requests of the pending version; null if there is none.')),
        }),
      },
      read: (ctx, { params }) => showConsent(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/consent',
      name: 'plugins.consent.give',
      summary: 'Consent to the pending version of a plugin',
      description:
        'The plugin switches to the pending version with the given `grant`. `digest` names the reviewed manifest and code, so that a version uploaded since is not installed by mistake.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      body: ConsentInput,
      example: {
        grant: ['issues:read', 'issues:write'],
        sha256: '6b0f1c2d3e4a5b6c7d8e9f00112233445566778899aabbccddeeff0011223344',
      },
      errors: ['forbidden', 'conflict'],
      responses: { 200: InstallResponse },
      write: (ctx, { params, body, ifMatch }) => giveConsent(ctx, params.id, body, ifMatch, rules),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/plugins/{id}/consent',
      name: 'plugins.consent.refuse',
      summary: 'Refuse the pending version of a plugin',
      scope: 'plugins:write',
      limit: 'write',
      params,
      errors: ['conflict'],
      responses: { 200: InstallResponse },
      write: (ctx, { params, ifMatch }) => refuseConsent(ctx, params.id, ifMatch),
    }),
  ];
}

export function versionRoutes(rules: InstallRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/versions',
      name: 'plugins.versions',
      summary: 'List the installed versions of a plugin, latest first',
      scope: 'plugins:read',
      limit: 'read',
      params,
      responses: {
        200: Closed({ data: Type.Array(VersionResponse, { description: 'Versions, latest first.' }) }),
      },
      read: async (ctx, { params }) => listVersions(ctx, await getInstall(ctx, params.id)),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/rollback',
      name: 'plugins.rollback',
      summary: 'Roll back a plugin to an earlier version, with its grant and settings',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      body: Closed({
        version: Type.Optional(
          Type.String({
            maxLength: 60,
            description: 'Version to roll back to, such as 1.4.2; default the previous one.',
          }),
        ),
      }),
      example: { version: '1.4.2' },
      errors: ['forbidden', 'conflict'],
      responses: { 200: InstallResponse },
      write: (ctx, { params, body, ifMatch }) => rollBack(ctx, params.id, body.version, ifMatch, rules),
    }),
  ];
}
