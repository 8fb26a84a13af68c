// Scopes that clients can request, limited to those of apps in the role table.
import { appScopes } from '../../kernel/rights/roles.ts';

export const offeredScopes = appScopes;

const usual = new Set([
  ...['issues:read', 'issues:write', 'comments:read', 'comments:write', 'workflows:read', 'projects:read'],
  ...['cycles:read', 'boards:read', 'labels:read', 'teams:read', 'members:read', 'views:read'],
]);

/**
 * Default scopes of a request (RFC 6749 §3.3): reads of the tracker, and writes of issues and comments, which
 * the member can deselect.
 */
const usualScopes: readonly string[] = offeredScopes.filter((scope) => usual.has(scope));

/** Returns the supported ones of the requested scopes. Others are ignored (RFC 6749 §3.3). */
export function requestedScopes(scope: string | null | undefined): string[] {
  const requested = new Set(scope?.split(' ').filter((word) => word !== ''));
  return requested.size === 0 ? [...usualScopes] : offeredScopes.filter((one) => requested.has(one));
}
