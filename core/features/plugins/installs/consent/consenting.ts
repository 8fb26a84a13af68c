// Accepts or refuses a pending version, and rolls back to an earlier version.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../../../kernel/changes/change.ts';
import { requireVersion, updated } from '../../../../kernel/changes/operations.ts';
import type { Context } from '../../../../kernel/context.ts';
import { ApiError } from '../../../../platform/lib/errors/errors.ts';
import { unhandledOneTimeJobs } from '../../one-time-jobs/handled.ts';
import { checkGrant, checkManifest } from '../versions/check.ts';
import { consentOf } from './consent.ts';
import { getInstall, switched, type InstallRules } from '../installs.ts';
import { requireReviewed } from './reviewed.ts';
import { installModel, type ConsentInput, type Install } from '../schema.ts';
import { checkSettings } from '../settings/settings.ts';
import { requireTrusted } from './trust.ts';
import { findStoredVersion } from '../versions/versions.ts';

/** Returns the requests of the installed and of the pending version. */
export async function showConsent(ctx: Context, ref: string) {
  const install = await getInstall(ctx, ref);
  const consentFor = async (version: Parameters<typeof consentOf>[0]) =>
    consentOf(version, install, await unhandledOneTimeJobs(ctx, install.id, version.manifest));
  return {
    installed: await consentFor(install),
    pending: install.pending && (await consentFor(install.pending)),
  };
}

/** Switches to the pending version under the given grant. */
export async function giveConsent(
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
export async function refuseConsent(ctx: Context, ref: string, ifMatch: number | null): Promise<ChangeSet> {
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
export async function rollBack(
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
