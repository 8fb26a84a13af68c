// An authorization server with behavior that Tatami never shows: it claims another issuer, refuses, delays, and counts
// requests. login.test.ts covers the real one.
import { createHash } from 'node:crypto';

export interface StandIn {
  readonly url: string;
  /** Received refresh tokens, in order. */
  readonly refreshed: string[];
  readonly revoked: string[];
  /** Tokens presented to `/api/v1/me`. */
  readonly presentedTokens: string[];
  /** Set by tests. */
  readonly behaviour: Behaviour;
  /** Issues a new token family, as a consent does. */
  grant(): { access_token: string; refresh_token: string };
  [Symbol.dispose](): void;
}

interface Behaviour {
  /** Overrides of the server metadata. */
  metadata: Record<string, unknown>;
  /** Overrides of the redirect parameters; null omits one. */
  redirect: Record<string, string | null>;
  /** Errors of the device flow, one per poll; afterwards it returns tokens. */
  device: string[];
  /** Status of every response of the token endpoint; 0 for regular behavior. */
  status: number;
  /** Delays the response to a refresh. */
  dawdle: Promise<void> | null;
  workspace: string;
}

/** Behavior at the start of each test. */
export const asUsual = { metadata: {}, redirect: {}, device: [], status: 0, dawdle: null };

export function startAuthorizationServer(): StandIn {
  const codes = new Map<string, string>();
  /** Token families by refresh token; used tokens are marked false. */
  const families = new Map<string, { family: string; isGood: boolean }>();
  const [refreshed, revoked, presentedTokens]: [string[], string[], string[]] = [[], [], []];
  const behaviour: Behaviour = { ...asUsual, workspace: 'Acme' };
  let count = 0;

  const give = (family: string) => {
    const tokens = { access_token: `access-${++count}`, refresh_token: `refresh-${count}` };
    families.set(tokens.refresh_token, { family, isGood: true });
    return tokens;
  };
  const grant = () => give(`family-${++count}`);
  const answer = (tokens: object) =>
    Response.json({ ...tokens, token_type: 'Bearer', expires_in: 3600, scope: 'issues:read issues:write' });
  const refuse = (error: string) => Response.json({ error }, { status: 400 });

  const refresh = async (token: string): Promise<Response> => {
    refreshed.push(token);
    const tokenState = families.get(token);
    await behaviour.dawdle;
    if (!tokenState) return refuse('invalid_grant');
    if (!tokenState.isGood) {
      for (const [other, { family }] of families) if (family === tokenState.family) families.delete(other);
      return refuse('invalid_grant');
    }
    tokenState.isGood = false;
    return answer(give(tokenState.family));
  };

  const byCode = (form: URLSearchParams): Response => {
    const challenge = codes.get(form.get('code') ?? '');
    const hash = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return challenge === hash ? answer(grant()) : refuse('invalid_grant');
  };

  const token = async (form: URLSearchParams): Promise<Response> => {
    if (form.get('client_id') !== 'tatami-cli' || form.get('resource') !== `${url}/api/v1`)
      return refuse('invalid_request');
    if (behaviour.status > 0) return new Response('Not now.', { status: behaviour.status });
    const grantType = form.get('grant_type') ?? '';
    if (grantType === 'refresh_token') return refresh(form.get('refresh_token') ?? '');
    if (grantType === 'authorization_code') return byCode(form);
    const error = behaviour.device.shift();
    return error === undefined ? answer(grant()) : refuse(error);
  };

  /** Grants consent immediately. */
  const authorize = (query: URLSearchParams): Response => {
    const to = new URL(query.get('redirect_uri') ?? '');
    const code = `code-${++count}`;
    if (query.get('code_challenge_method') === 'S256') codes.set(code, query.get('code_challenge') ?? '');
    const back = { code, state: query.get('state'), iss: url, ...behaviour.redirect };
    for (const [name, value] of Object.entries(back)) if (value !== null) to.searchParams.set(name, value);
    return Response.redirect(to.href, 303);
  };

  const metadata = () => ({
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    revocation_endpoint: `${url}/oauth/revoke`,
    device_authorization_endpoint: `${url}/oauth/device`,
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ['issues:read', 'issues:write'],
    ...behaviour.metadata,
  });

  const pages: Record<string, (request: Request) => Response | Promise<Response>> = {
    '/.well-known/oauth-authorization-server': () => Response.json(metadata()),
    '/oauth/authorize': (request) => authorize(new URL(request.url).searchParams),
    '/oauth/token': async (request) => token(new URLSearchParams(await request.text())),
    '/oauth/revoke': async (request) => {
      const gone = new URLSearchParams(await request.text()).get('token') ?? '';
      revoked.push(gone);
      families.delete(gone);
      return new Response();
    },
    '/oauth/device': () =>
      Response.json({
        device_code: 'device',
        user_code: 'WDJB-MJHT',
        verification_uri: `${url}/device`,
        expires_in: 600,
        // RFC 8628 allows whole seconds only; a fraction speeds up the tests.
        interval: 0.01,
      }),
    '/api/v1/me': (request) => {
      presentedTokens.push(request.headers.get('authorization')?.replace('Bearer ', '') ?? '');
      return Response.json({
        member: { id: 'usr_ana', name: 'Ana', role: 'owner', email: null },
        workspace: { id: `id of ${behaviour.workspace}`, name: behaviour.workspace },
        scopes: ['issues:read', 'issues:write'],
        key: null,
      });
    },
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) =>
      pages[new URL(request.url).pathname]?.(request) ?? new Response('nothing here', { status: 404 }),
  });
  const url = server.url.origin;
  return {
    ...{ url, refreshed, revoked, presentedTokens, behaviour, grant },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
