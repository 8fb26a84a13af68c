// Which events an install hears: those it subscribes to and was granted to read.
import type { EventType } from '../../events/catalogue.ts';
import { expandScopes } from '../../rights/scopes.ts';
import { mayHear, rightsOf, scopeOfEvent, type Rights } from '../../rights/rights.ts';
import type { Install } from './schema.ts';

export function rightsOfInstall({ manifest, grant }: Pick<Install, 'manifest' | 'grant'>): Rights {
  return rightsOf(manifest.scopes, grant);
}

export function subscribedTypes({ manifest }: Pick<Install, 'manifest'>): EventType[] {
  return Object.keys(manifest.on ?? {}) as EventType[];
}

export function heardTypes(install: Pick<Install, 'manifest' | 'grant'>): EventType[] {
  const rights = rightsOfInstall(install);
  return subscribedTypes(install).filter((type) => mayHear(rights, type));
}

/** Why an active install is not sent all it subscribes to, and what would help; null when it is. */
export function unheardReason(install: Pick<Install, 'manifest' | 'grant'>): string | null {
  const heard = heardTypes(install);
  const unheard = subscribedTypes(install).filter((type) => !heard.includes(type));
  if (unheard.length === 0) return null;
  const needs = unheard.map((type) => `${type} needs ${scopeOfEvent(type)}`);
  const asked = expandScopes(Object.keys(install.manifest.scopes ?? {}));
  const fix = unheard.every((type) => asked.has(scopeOfEvent(type)))
    ? 'Grant it.'
    : 'Install a version of the plugin that asks for it.';
  return `Not delivered: ${needs.join(', ')}. ${fix}`;
}
