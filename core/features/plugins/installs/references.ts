// Checks at installation that the references of a package exist: scopes, event types, and the teams, labels
// and people in filters and narrowings. References that the previous version already had are not checked
// again, because their targets may have been deleted since.
import { isRunEvent } from '../../../../sdk/plugin/event-types.ts';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import { sameValue } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import { eventTypes, unsentType } from '../../../kernel/events/catalogue.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { allScopes } from '../../../kernel/rights/table.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import type { CheckFilter } from '../../../kernel/resource/filter/filtering.ts';
import { namesSeen } from '../../../kernel/resource/names/names.ts';
import { team } from '../../teams/contract.ts';

/**
 * Requires known scopes and event types; the message suggests the nearest name.
 * @param document an unchecked package. @throws ApiError validation_failed
 */
export function requireKnown(document: object): void {
  const manifest = partOf(document, 'manifest');
  requireScopes(partOf(manifest, 'scopes'));
  requireSentTypes(partOf(manifest, 'on'));
}

function requireScopes(scopes: object | null): void {
  const unknown = Object.keys(scopes ?? {}).find((scope) => !allScopes.includes(scope));
  if (unknown !== undefined)
    throw invalidField(`package.manifest.scopes.${unknown}`, 'invalid_enum', {
      why: `The scope ${unknown} does not exist.`,
      fix: `Use a scope listed at /docs/scopes.${didYouMean(unknown, allScopes)}`,
    });
}

function requireSentTypes(on: object | null): void {
  const ofRun = Object.keys(on ?? {}).find(isRunEvent);
  if (ofRun !== undefined)
    throw invalidField(`package.manifest.on.${ofRun}`, 'invalid_enum', {
      why: `Plugins cannot subscribe to ${ofRun}, because each run would trigger another.`,
      fix: 'Subscribe to the events of changes, such as issue.updated, or use a webhook.',
    });
  const unsent = Object.keys(on ?? {}).find((type) => !eventTypes.some((sent) => sent === type));
  if (unsent !== undefined)
    throw invalidField(`package.manifest.on.${unsent}`, 'invalid_enum', unsentType(unsent));
}

function partOf(value: object | null, name: string): object | null {
  const part: unknown = value !== null && name in value ? value[name as keyof typeof value] : null;
  return typeof part === 'object' ? part : null;
}

/** @param known the installed version. @throws ApiError validation_failed */
export async function requireReferenced(
  ctx: Context,
  manifest: PluginManifest,
  known: { readonly manifest: PluginManifest } | undefined,
  checkFilter: CheckFilter,
): Promise<void> {
  const { scopes = {}, on = {} }: Partial<PluginManifest> = known?.manifest ?? {};
  requireTeams(ctx, manifest.scopes ?? {}, scopes);
  for (const [type, { filter }] of Object.entries(manifest.on ?? {}))
    if (filter && !sameValue(filter, on[type]?.filter))
      await checkFilter(ctx, type, filter, `package.manifest.on.${type}.filter`);
}

type Scopes = NonNullable<PluginManifest['scopes']>;

function requireTeams(ctx: Context, scopes: Scopes, before: Scopes): void {
  const { directory, visibleTeams } = ctx;
  const isThere = (key: string): boolean => {
    const match = [...directory.teams.values()].find((one) => one.key === key.toUpperCase());
    return match !== undefined && (visibleTeams === null || visibleTeams.has(match.id));
  };
  for (const [scope, { where }] of Object.entries(scopes)) {
    if (sameValue(where, before[scope]?.where)) continue;
    const teams = where?.team ?? [];
    const index = teams.findIndex((key) => !isThere(key));
    const key = teams[index];
    if (key !== undefined)
      throw invalidField(`package.manifest.scopes.${scope}.where.team.${index}`, 'not_found', {
        why: `The team ${key} does not exist.`,
        fix: `Use an existing team.${didYouMean(key, namesSeen(ctx, team, 'key'))}`,
      });
  }
}
