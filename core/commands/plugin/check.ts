// What installing checks of a manifest, without a server: all but the names that only a workspace knows.
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { checkRequests } from '../../plugins/installs/check.ts';
import { addedFieldsOf, filterFieldsOf, resourceRoutes } from '../../resources.ts';
import { unheldNarrowing } from '../../rights/table.ts';

/** @throws ApiError validation_failed, as the server would answer */
export function checkOffline(manifest: PluginManifest): void {
  checkRequests(manifest, {
    filterFields: filterFieldsOf,
    addedFields: addedFieldsOf,
    unheldNarrowing: (requests) => unheldNarrowing(resourceRoutes, knownHere(requests)),
  });
}

/** Routes of webhooks and plugins are made by a running server, which looks at their scopes. */
function knownHere<R>(requests: Readonly<Record<string, R>>): Record<string, R> {
  const scopes = new Set(resourceRoutes.map(({ scope }) => scope));
  return Object.fromEntries(Object.entries(requests).filter(([scope]) => scopes.has(scope)));
}
