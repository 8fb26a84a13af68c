// `WWW-Authenticate` challenges with the URL of the metadata and the scopes that a client needs (RFC 6750 §3,
// RFC 9728 §5.1).
import { ApiError } from '../lib/errors.ts';
import type { Principal } from '../http/principal.ts';
import { appScopes } from '../rights/roles.ts';

export const mcpPath = '/api/mcp/streamable-http';

function challenge(baseUrl: string, scopes: Iterable<string>, error: string | null): Record<string, string> {
  const metadata = `${baseUrl}/.well-known/oauth-protected-resource${mcpPath}`;
  const parts = [
    ...(error === null ? [] : [`error="${error}"`]),
    `resource_metadata="${metadata}"`,
    `scope="${[...scopes].join(' ')}"`,
  ];
  return { 'www-authenticate': `Bearer ${parts.join(', ')}` };
}

/** Returns the error for a request without a token that is valid for this endpoint. */
export function noToken(headers: Headers, baseUrl: string, scopes: Iterable<string>): ApiError {
  const hasToken = headers.has('authorization');
  return new ApiError(
    'unauthorized',
    hasToken
      ? 'The access token is unknown, expired, revoked, or not valid for the MCP endpoint. Request a new one.'
      : 'Send an access token: Authorization: Bearer ….',
    { headers: challenge(baseUrl, scopes, hasToken ? 'invalid_token' : null) },
  );
}

/**
 * Returns the error for an app whose grant lacks scopes that a tool needs. Null if nothing is missing; for
 * keys, which cannot request scopes; and if a missing scope is not available to apps, because a challenge
 * would make the client request it in vain.
 */
export function lackOf(
  { grant, scopes, narrowed }: Principal,
  needed: readonly string[],
  baseUrl: string,
): ApiError | null {
  const missing = needed.filter((scope) => !scopes.has(scope) && !narrowed?.has(scope));
  if (!grant || missing.length === 0 || missing.some((scope) => !appScopes.includes(scope))) return null;
  const wanted = new Set([...scopes, ...(narrowed?.keys() ?? []), ...missing]);
  return new ApiError(
    'insufficient_scope',
    `The tool needs the scope ${missing.join(', ')}, which the grant does not have. Ask for a new consent.`,
    {
      headers: challenge(baseUrl, [...wanted].sort(), 'insufficient_scope'),
    },
  );
}
