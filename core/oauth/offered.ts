// The scopes that apps can ask for: all but those by which they would decide in place of a person.
import { allScopes } from '../rights/scopes.ts';

const never = /^(approvals:write|members:write|api-keys:write|oauth-apps:|grants:)/;

export const offeredScopes: readonly string[] = allScopes.filter((scope) => !never.test(scope));

const usual = [
  ...['issues:write', 'comments:write', 'workflows:read', 'projects:read', 'cycles:read', 'boards:read'],
  ...['labels:read', 'teams:read', 'members:read', 'views:read'],
];

/** What a client asks for that does not say (RFC 6749 §3.3): to read the tracker, and to write issues and comments. */
export const usualScopes: readonly string[] = offeredScopes.filter((scope) => usual.includes(scope));

/** Those of a request that are offered, once each; others are left out (RFC 6749 §3.3). */
export function askedScopes(scope: string | null | undefined): string[] {
  const asked = new Set(scope?.split(' ').filter((word) => word !== ''));
  return asked.size === 0 ? [...usualScopes] : offeredScopes.filter((one) => asked.has(one));
}
