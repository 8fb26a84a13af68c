// The addresses of the versions of an install: one that waits is consented to or refused, one from before is gone back to.
import { Type } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';
import { Closed, described, nullable } from '../../lib/schema.ts';
import { Consent } from './consent-schema.ts';
import { giveConsent, refuseConsent, rollBack, showConsent } from './consenting.ts';
import { getInstall, type InstallRules } from './installs.ts';
import { pluginRef } from './ref.ts';
import { steering } from './rights.ts';
import { ConsentGiven, InstallShown } from './schema.ts';
import { listVersions, VersionShown } from './versions.ts';

const params = Closed({ id: pluginRef });

export function consentRoutes(rules: InstallRules): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/plugins/{id}/consent',
      name: 'plugins.consent.get',
      summary: 'See in sentences what a plugin asks for, and what a version of it that waits does',
      scope: 'plugins:read',
      limit: 'read',
      params,
      responses: {
        200: Closed({
          installed: described(Consent, 'What the installed version asks for and does.'),
          pending: nullable(described(Consent, 'The same of the version that waits.')),
        }),
      },
      read: (ctx, { params }) => showConsent(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/consent',
      name: 'plugins.consent.give',
      summary: 'Switch to the version that waits, with this grant',
      description:
        '`digest` names the manifest and code that were reviewed, so that no version that was uploaded since is switched to.',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      body: ConsentGiven,
      example: {
        grant: ['issues:read', 'issues:write'],
        sha256: '6b0f1c2d3e4a5b6c7d8e9f00112233445566778899aabbccddeeff0011223344',
      },
      errors: ['forbidden', 'conflict'],
      responses: { 200: InstallShown },
      write: (ctx, { params, body, ifMatch }) => giveConsent(ctx, params.id, body, ifMatch, rules),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/v1/plugins/{id}/consent',
      name: 'plugins.consent.refuse',
      summary: 'Refuse the version that waits; the installed one stays',
      scope: 'plugins:write',
      limit: 'write',
      params,
      errors: ['conflict'],
      responses: { 200: InstallShown },
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
      summary: 'List the versions of a plugin that were installed, the latest first',
      scope: 'plugins:read',
      limit: 'read',
      params,
      responses: { 200: Closed({ data: Type.Array(VersionShown, { description: 'The latest first.' }) }) },
      read: async (ctx, { params }) => listVersions(ctx, await getInstall(ctx, params.id)),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/plugins/{id}/rollback',
      name: 'plugins.rollback',
      summary: 'Go back to a version that was installed before, with its grant and its settings',
      scope: 'plugins:write',
      also: steering,
      limit: 'write',
      params,
      body: Closed({
        version: Type.Optional(
          Type.String({ maxLength: 60, description: 'Such as 1.4.2; by default the one before.' }),
        ),
      }),
      example: { version: '1.4.2' },
      errors: ['forbidden', 'conflict'],
      responses: { 200: InstallShown },
      write: (ctx, { params, body, ifMatch }) => rollBack(ctx, params.id, body.version, ifMatch, rules),
    }),
  ];
}
