// Routes for the versions of an install: consent to or refuse a pending one, list them, and roll back.
import { type Static, Type } from 'typebox';
import type { ChangeSet } from '../../../../kernel/changes/change.ts';
import { requireVersion, updated } from '../../../../kernel/changes/operations.ts';
import type { Context } from '../../../../kernel/context.ts';
import { ApiError } from '../../../../platform/lib/errors/errors.ts';
import { unhandledOneTimeJobs } from '../../schedules/one-time-jobs.ts';
import { checkGrant, checkManifest, requireTrusted } from './check.ts';
import { consentOf } from './consent.ts';
import { getInstall, switched, type InstallRules } from '../installs.ts';
import { requireReviewed } from './signature.ts';
import { installModel, type Install } from '../model.ts';
import { checkSettings } from '../settings.ts';
import { findStoredVersion, listVersions, VersionResponse } from './versions.ts';
import { defineRoute, type Route } from '../../../../kernel/http/route.ts';
import { Closed, described, nullable } from '../../../../platform/lib/schema.ts';
import { Consent, ConsentInput, InstallResponse } from '../schema.ts';
import { pluginRef, steering } from '../rights.ts';

/** Returns the requests of the installed and of the pending version. */
async function showConsent(ctx: Context, ref: string) {
  const install = await getInstall(ctx, ref);
  const consentFor = async (version: Parameters<typeof consentOf>[0]) =>
    consentOf(version, install, await unhandledOneTimeJobs(ctx, install.id, version.manifest));
  return {
    installed: await consentFor(install),
    pending: install.pending && (await consentFor(install.pending)),
  };
}

/** Switches to the pending version under the given grant. */
async function giveConsent(
  ctx: Context,
  ref: string,
  { grant, ...reviewed }: Static<typeof ConsentInput>,
  ifMatch: number | null,
  rules: InstallRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, ref);
  requireVersion(install, ifMatch);
  const pending = pendingOf(install);
  requireReviewed({ pending, offered: install.offered }, reviewed);
  const { manifest, publisher } = pending;
  requireTrusted(rules.trust, pending);
  const settings = pending.settings ?? install.settings;
  checkManifest(manifest, rules);
  checkGrant(ctx, manifest, grant);
  checkSettings(manifest, settings);
  const version = { pluginVersion: manifest.version, sha256: pending.sha256, publisher, manifest };
  const facts = {
    ...version,
    grant,
    settings,
    mode: pending.mode ?? install.mode,
    modes: pending.modes ?? install.modes,
  };
  return switched(ctx, install, facts, rules);
}

/** Drops the pending version; the installed one stays. */
async function refuseConsent(ctx: Context, ref: string, ifMatch: number | null): Promise<ChangeSet> {
  const install = await getInstall(ctx, ref);
  pendingOf(install);
  return updated(ctx, installModel, install, { pending: null }, ifMatch);
}

function pendingOf({ pending, pluginId }: Install): NonNullable<Install['pending']> {
  if (!pending)
    throw new ApiError(
      'conflict',
      `${pluginId} has no version pending consent. Upload a version that requests more first.`,
    );
  return pending;
}

/** @param version such as 1.4.2; default the previous one */
async function rollBack(
  ctx: Context,
  ref: string,
  version: string | undefined,
  ifMatch: number | null,
  rules: InstallRules,
): Promise<ChangeSet> {
  const install = await getInstall(ctx, ref);
  requireVersion(install, ifMatch);
  const storedVersion = await findStoredVersion(ctx, install, version);
  requireTrusted(rules.trust, storedVersion);
  checkManifest(storedVersion.manifest, rules);
  checkGrant(ctx, storedVersion.manifest, storedVersion.grant);
  checkSettings(storedVersion.manifest, storedVersion.settings);
  return switched(ctx, install, storedVersion, rules);
}

const params = Closed({ id: pluginRef });

export function versionRoutes(rules: InstallRules): Route[] {
  return [...routesOfConsent(rules), ...routesOfVersions(rules)];
}

function routesOfConsent(rules: InstallRules): Route[] {
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

function routesOfVersions(rules: InstallRules): Route[] {
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
