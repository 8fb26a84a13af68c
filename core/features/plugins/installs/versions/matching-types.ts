// Determines the events that an install receives: subscribed to, and readable under its grant.
import type { EventType } from '../../../../kernel/events/catalogue.ts';
import { expandScopes } from '../../../../kernel/rights/table.ts';
import { mayHear, rightsOf, scopeOfEvent, type Rights } from '../../../../kernel/rights/rights.ts';
import type { PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import type { Install } from '../schema.ts';

/** Parts of an install that decide which events it receives. */
type Subscriber = Pick<Install, 'manifest' | 'grant'>;

export function rightsOfInstall({ manifest, grant }: Subscriber): Rights {
  return rightsOf(manifest.scopes, grant);
}

export function subscribedTypes(manifest: PluginManifest): EventType[] {
  return Object.keys(manifest.on ?? {}) as EventType[];
}

export function matchingTypes(install: Subscriber): EventType[] {
  const rights = rightsOfInstall(install);
  return subscribedTypes(install.manifest).filter((type) => mayHear(rights, type));
}

/** Returns why an active install does not receive all subscribed events, and what to do; null if it does. */
export function unmatchedReason(install: Subscriber): string | null {
  const matching = matchingTypes(install);
  const unmatched = subscribedTypes(install.manifest).filter((type) => !matching.includes(type));
  if (unmatched.length === 0) return null;
  const needs = unmatched.map((type) => `${type} needs ${scopeOfEvent(type)}`);
  const requestedScopes = expandScopes(Object.keys(install.manifest.scopes ?? {}));
  const fix = unmatched.every((type) => requestedScopes.has(scopeOfEvent(type)))
    ? 'Grant the scope.'
    : 'Install a version of the plugin that requests the scope.';
  return `Not delivered: ${needs.join(', ')}. ${fix}`;
}
