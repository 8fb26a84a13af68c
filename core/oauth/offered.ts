// The scopes that clients can ask for, and what they get that do not say: what apps may hold at most stands in the table of roles.
import { appScopes } from '../rights/roles.ts';

export const offeredScopes = appScopes;

const usual = new Set([
  ...['issues:read', 'issues:write', 'comments:read', 'comments:write', 'workflows:read', 'projects:read'],
  ...['cycles:read', 'boards:read', 'labels:read', 'teams:read', 'members:read', 'views:read'],
]);

/** What a client asks for that does not say (RFC 6749 §3.3): to read the tracker, and to write issues and comments, which can be taken away. */
const usualScopes: readonly string[] = offeredScopes.filter((scope) => usual.has(scope));

/** Those of a request that are offered, once each; others are left out (RFC 6749 §3.3). */
export function askedScopes(scope: string | null | undefined): string[] {
  const asked = new Set(scope?.split(' ').filter((word) => word !== ''));
  return asked.size === 0 ? [...usualScopes] : offeredScopes.filter((one) => asked.has(one));
}
