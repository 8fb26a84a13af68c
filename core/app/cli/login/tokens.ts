// The tokens of a login, as the token endpoint answers them (RFC 6749 §5.1).
import type { TokenEndpointResponse } from 'openid-client';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { CommandError } from '../lib/output.ts';
import type { Login } from './credentials.ts';

export type LoginTokens = Pick<Login, 'accessToken' | 'refreshToken' | 'expiresAt' | 'scopes'>;

/** Shorter than any life of a token, longer than a request is on its way. */
const renewBeforeMs = 60_000;

/** Returns true if the access token does not expire soon. */
export function isFresh({ expiresAt }: Pick<LoginTokens, 'expiresAt'>): boolean {
  return Date.parse(expiresAt) - systemClock.nowMs() > renewBeforeMs;
}

/** @param before what holds on where the answer does not say it anew. @throws CommandError */
export function tokensOf(
  answer: TokenEndpointResponse,
  before: Partial<Pick<Login, 'refreshToken' | 'scopes'>> = {},
): LoginTokens {
  const {
    access_token: accessToken,
    refresh_token: refreshToken = before.refreshToken,
    expires_in,
    scope,
  } = answer;
  if (refreshToken === undefined || expires_in === undefined)
    throw new CommandError(
      'The server issued a token that cannot be renewed. Check that it runs a supported version of Tatami.',
    );
  return {
    accessToken,
    refreshToken,
    expiresAt: new Date(systemClock.nowMs() + expires_in * 1000).toISOString(),
    scopes: scope?.split(' ') ?? before.scopes ?? [],
  };
}
