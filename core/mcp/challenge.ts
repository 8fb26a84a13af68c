// How a client that may not do something finds out what it needs: where tokens come from, and with which scopes (RFC 6750 §3, RFC 9728
// §5.1).
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

/** For who brings no token, or one that is not good here. */
export function noToken(headers: Headers, baseUrl: string, scopes: Iterable<string>): ApiError {
  const isGiven = headers.has('authorization');
  return new ApiError(
    'unauthorized',
    isGiven
      ? 'The access token is unknown, expired, revoked, or for another resource than the MCP endpoint.'
      : 'Send an access token: Authorization: Bearer ….',
    { headers: challenge(baseUrl, scopes, isGiven ? 'invalid_token' : null) },
  );
}

/**
 * For an app whose grant lacks scopes that a tool needs; null where it has them, for keys, which can ask for no more, and where no app
 * can have one of them: it would be asked for in vain each time.
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
    `This needs the scope ${missing.join(', ')}, which was not granted.`,
    {
      headers: challenge(baseUrl, [...wanted].sort(), 'insufficient_scope'),
    },
  );
}
