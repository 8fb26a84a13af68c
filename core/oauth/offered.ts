// Scopes that clients can request, and the default. The role table limits the scopes of apps.
import { appScopes } from '../rights/roles.ts';

export const offeredScopes = appScopes;

const usual = new Set([
  ...['issues:read', 'issues:write', 'comments:read', 'comments:write', 'workflows:read', 'projects:read'],
  ...['cycles:read', 'boards:read', 'labels:read', 'teams:read', 'members:read', 'views:read'],
]);

/** Default for a request without scopes (RFC 6749 §3.3): read the tracker, and write issues and comments, which the member can deselect. */
const usualScopes: readonly string[] = offeredScopes.filter((scope) => usual.has(scope));

/** Returns the supported scopes of a request without duplicates. Others are ignored (RFC 6749 §3.3). */
export function requestedScopes(scope: string | null | undefined): string[] {
  const requested = new Set(scope?.split(' ').filter((word) => word !== ''));
  return requested.size === 0 ? [...usualScopes] : offeredScopes.filter((one) => requested.has(one));
}
