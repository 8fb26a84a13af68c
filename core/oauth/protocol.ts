// The endpoints of the protocol: what clients and their browsers ask. The library answers; what it does not do is done around it.
import { Type } from 'typebox';
import { defineRoute, type Arrival, type Method, type RawAnswer, type Route } from '../http/route.ts';
import { ApiError } from '../lib/errors.ts';
import { Closed } from '../lib/schema.ts';
import type { GrantType } from './clients/client.ts';
import { createPollPace, pollSeconds } from './device/pace.ts';
import type { Engine } from './engine/engine.ts';
import { paths } from './paths.ts';

/** Answers by RFCs are none of the operations of the API: their documents describe them. */
const contentType = 'application/json; charset=utf-8';

const formBytesMax = 56 * 1024;
const deviceGrantType: GrantType = 'urn:ietf:params:oauth:grant-type:device_code';

type Answer = (arrival: Arrival) => Promise<RawAnswer>;

export function protocolRoutes(options: { engine: () => Promise<Engine>; nowMs: () => number }): Route[] {
  const { engine, nowMs } = options;
  const pace = createPollPace(nowMs);
  const answer: Answer = async (arrival) => (await engine()).answer(arrival);

  /** Devices that ask too soon are told so before anything is looked up. */
  const token: Answer = async (arrival) => {
    const bytes = await arrival.read(formBytesMax);
    const form = new URLSearchParams(new TextDecoder().decode(bytes));
    const code = form.get('grant_type') === deviceGrantType ? form.get('device_code') : null;
    if (code !== null && !pace.admits(code))
      return oauthError(400, 'slow_down', `Ask every ${pollSeconds} seconds, and five more after this.`);
    return answer({ ...arrival, read: async () => bytes });
  };
  const device: Answer = async (arrival) => withInterval(await answer(arrival));

  const endpoint = (method: Method, path: string, name: string, summary: string, work: Answer): Route =>
    defineRoute({
      ...{ method, path, name: `oauth.${name}`, summary, scope: null, limit: 'write', contentType },
      responses: { 200: Type.String() },
      ...(path.includes('{') ? { params: Closed({ token: Type.String({ maxLength: 200 }) }) } : {}),
      inbound: (_, arrival) => work(arrival).catch(oauthErrorOf),
    });
  return [
    endpoint('GET', paths.authorize, 'authorize', 'Ask a person for access (RFC 6749 §3.1)', answer),
    endpoint('GET', `${paths.authorize}/{token}`, 'resume', 'Go on after a person has decided', answer),
    endpoint('POST', paths.token, 'token', 'Get tokens (RFC 6749 §3.2)', token),
    endpoint('POST', paths.revoke, 'revoke', 'End a token (RFC 7009)', answer),
    endpoint('POST', paths.introspect, 'introspect', 'Look a token up (RFC 7662)', answer),
    endpoint('POST', paths.deviceAuthorization, 'device', 'Begin on a device (RFC 8628 §3.1)', device),
  ];
}

function oauthError(status: number, error: string, why: string): RawAnswer {
  return { status, contentType, body: JSON.stringify({ error, error_description: why }) };
}

/** A refusal of ours in the protocol's own form (RFC 6749 §5.2). @throws what is none */
function oauthErrorOf(error: unknown): RawAnswer {
  if (!(error instanceof ApiError) || error.status >= 500) throw error;
  return { ...oauthError(error.status, 'invalid_request', error.message), headers: { ...error.headers } };
}

/** The library leaves out how often to ask. */
function withInterval(answer: RawAnswer): RawAnswer {
  if (answer.status !== 200) return answer;
  const said = JSON.parse(new TextDecoder().decode(answer.body as Uint8Array)) as object;
  return { ...answer, body: JSON.stringify({ ...said, interval: pollSeconds }) };
}
