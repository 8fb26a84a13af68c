// Protocol endpoints for clients and their browsers, answered by the protocol library with small additions.
import { Type } from 'typebox';
import {
  defineRoute,
  type RawRequest,
  type Method,
  type RawAnswer,
  type Route,
} from '../../kernel/http/route.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { Closed } from '../../platform/lib/schema.ts';
import type { GrantType } from './clients/client.ts';
import type { OAuthEngine } from './engine/engine.ts';
import { paths } from './metadata.ts';
import { createLru } from '../../platform/lib/lru.ts';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';

/** The `charset` excludes the routes from the API documents, because RFCs define their responses. */
const contentType = 'application/json; charset=utf-8';

const formBytesMax = 56 * 1024;
const deviceGrantType: GrantType = 'urn:ietf:params:oauth:grant-type:device_code';

type Answer = (request: RawRequest) => Promise<RawAnswer>;

/** Polling interval of devices (RFC 8628 §3.5), and its extension for each early poll. */
const pollSeconds = 5;

interface Pace {
  readonly everyMs: number;
  readonly polledAt: number;
}

/** Returns a function that records a poll, and returns false if the poll is too early. */
function createPollPace(nowMs: () => number): (deviceCode: string) => boolean {
  const known = createLru<string, Pace>(10_000);
  return (deviceCode) => {
    const key = tokenHash(deviceCode);
    const now = nowMs();
    const { everyMs, polledAt } = known.get(key) ?? { everyMs: pollSeconds * 1000, polledAt: -Infinity };
    const isSoon = now - polledAt < everyMs;
    known.set(key, { everyMs: isSoon ? everyMs + pollSeconds * 1000 : everyMs, polledAt: now });
    return !isSoon;
  };
}

export function protocolRoutes(engine: () => Promise<OAuthEngine>, nowMs: () => number): Route[] {
  const admitsPoll = createPollPace(nowMs);
  const answer: Answer = async (request) => (await engine()).answer(request);

  /** Rejects too frequent polls of devices before any look-up. */
  const token: Answer = async (request) => {
    const bytes = await request.read(formBytesMax);
    const form = new URLSearchParams(new TextDecoder().decode(bytes));
    const code = form.get('grant_type') === deviceGrantType ? form.get('device_code') : null;
    if (code !== null && !admitsPoll(code))
      return oauthError(
        400,
        'slow_down',
        `Poll at most every ${pollSeconds} seconds, and add five seconds after this error.`,
      );
    return answer({ ...request, read: async () => bytes });
  };
  const device: Answer = async (request) => withInterval(await answer(request));

  const endpoint = (method: Method, path: string, name: string, summary: string, work: Answer): Route =>
    defineRoute({
      method,
      path,
      name: `oauth.${name}`,
      summary,
      scope: null,
      limit: 'write',
      contentType,
      responses: { 200: Type.String() },
      ...(path.includes('{') ? { params: Closed({ token: Type.String({ maxLength: 200 }) }) } : {}),
      inbound: (_, request) => work(request).catch(oauthErrorOf),
    });
  return [
    endpoint('GET', paths.authorize, 'authorize', 'Start an authorization (RFC 6749 §3.1)', answer),
    endpoint(
      'GET',
      `${paths.authorize}/{token}`,
      'resume',
      'Resume an authorization after the decision',
      answer,
    ),
    endpoint('POST', paths.token, 'token', 'Get tokens (RFC 6749 §3.2)', token),
    endpoint('POST', paths.revoke, 'revoke', 'Revoke a token (RFC 7009)', answer),
    endpoint('POST', paths.introspect, 'introspect', 'Introspect a token (RFC 7662)', answer),
    endpoint(
      'POST',
      paths.deviceAuthorization,
      'device',
      'Start a device authorization (RFC 8628 §3.1)',
      device,
    ),
  ];
}

function oauthError(status: number, error: string, why: string): RawAnswer {
  return { status, contentType, body: JSON.stringify({ error, error_description: why }) };
}

/**
 * Converts an `ApiError` to an OAuth error (RFC 6749 §5.2).
 * @throws other errors, and those with status 500 or above
 */
function oauthErrorOf(error: unknown): RawAnswer {
  if (!(error instanceof ApiError) || error.status >= 500) throw error;
  return { ...oauthError(error.status, 'invalid_request', error.message), headers: { ...error.headers } };
}

/** Adds the polling interval, which the library omits. */
function withInterval(answer: RawAnswer): RawAnswer {
  if (answer.status !== 200) return answer;
  const said = JSON.parse(new TextDecoder().decode(answer.body as Uint8Array)) as object;
  return { ...answer, body: JSON.stringify({ ...said, interval: pollSeconds }) };
}
