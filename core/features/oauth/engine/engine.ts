// Wraps the protocol library, which only this folder imports. The library is loaded by the first request that
// needs it.
import type { default as Library } from 'oidc-provider';
import { wordOf, type GrantRef } from '../grant-requests.ts';
import { Provider } from 'oidc-provider/lib/provider.js';
import type { RawRequest, RawAnswer } from '../../../kernel/http/route.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { requestedScopes, paths, resourceAt, type ProtectedResource } from '../metadata.ts';
import { mintText } from '../tokens.ts';
import { configurationOf, cookieNames, type ConfigurationOptions } from './configuration.ts';
import { toFetchResponse, toReqRes, type ReqRes } from 'fetch-to-node';
import type { Clients } from '../clients/clients.ts';

interface AuthorizationRequest {
  readonly clientId: string;
  readonly resource: ProtectedResource;
  /** Requested scopes that are supported; can be empty. */
  readonly scopes: readonly string[];
}

/** Authorization request of a client that waits for the decision of a person. */
export interface Asking extends AuthorizationRequest {
  /** Secret key of the stored request. */
  readonly ticket: string;
  /** Redirect URI; null for the device flow. */
  readonly redirectUri: string | null;
}

/** Decision on a request: a grant, or an error for the client. */
export type Decision =
  | { readonly grant: GrantRef; readonly memberId: string; readonly scopes: readonly string[] }
  | { readonly error: 'access_denied' | 'invalid_scope'; readonly why: string };

export interface OAuthEngine extends Devices {
  /** Answers a protocol request of a client or a browser. */
  answer(request: RawRequest): Promise<RawAnswer>;
  /**
   * Returns the request of a consent page.
   * @returns null if another browser started the request, or it has ended
   */
  asking(request: RawRequest, uid: string): Promise<Asking | null>;
  /** Records the decision and redirects the browser to the client. */
  settle(request: RawRequest, uid: string, decision: Decision): Promise<RawAnswer>;
}

const bodyBytesMax = 56 * 1024;

/** Excludes `Origin`, because the HTTP layer handles CORS for all routes. */
const isForwarded = (name: string): boolean => name !== 'origin' && name !== 'host';

/**
 * Converts a request to Node's HTTP objects for the protocol library. The library gets the host of the base
 * URL instead of the Host header, so that a client cannot change the URLs in responses.
 * @throws ApiError payload_too_large
 */
async function exchangeOf(
  rawRequest: RawRequest,
  baseUrl: string,
  query: URLSearchParams = rawRequest.query,
): Promise<ReqRes> {
  const { method, path, peer } = rawRequest;
  const { host, protocol } = new URL(baseUrl);
  const headers = new Headers([...rawRequest.headers].filter(([name]) => isForwarded(name)));
  headers.set('host', host);
  const hasBody = method === 'POST' || method === 'PUT';
  const body = hasBody ? await rawRequest.read(bodyBytesMax) : null;
  if (body) headers.set('content-length', String(body.length));
  const search = query.size > 0 ? `?${query}` : '';
  const request = new Request(baseUrl + path + search, {
    method,
    headers,
    ...(body ? { body: new Uint8Array(body) } : {}),
  });
  const { req, res } = toReqRes(request);
  // There is no real socket; the library reads only these two properties.
  const socket = { encrypted: protocol === 'https:', remoteAddress: peer };
  Object.defineProperty(req, 'socket', { value: socket });
  return { req, res };
}

/**
 * Converts the response of the library.
 * @param hidden names of cookies to remove
 */
async function answerOf(res: ReqRes['res'], hidden: readonly string[]): Promise<RawAnswer> {
  const response = await toFetchResponse(res);
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of response.headers) if (!isOurs(name)) headers[name] = value;
  const cookies = response.headers
    .getSetCookie()
    .filter((line) => !hidden.some((name) => line.startsWith(`${name}=`) || line.startsWith(`${name}.sig=`)))
    // Browsers accept `Secure` cookies from loopback addresses, but the library sets the attribute only for
    // https.
    .map((line) => (/; *secure/i.test(line) ? line : `${line}; secure`));
  if (cookies.length > 0) headers['set-cookie'] = cookies;
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? 'text/plain; charset=utf-8',
    headers,
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

function isOurs(name: string): boolean {
  return (
    ['set-cookie', 'content-type', 'content-length', 'transfer-encoding', 'connection'].includes(name) ||
    name.startsWith('access-control-')
  );
}

export function createEngine(options: ConfigurationOptions & { log: Log }): OAuthEngine {
  const { baseUrl, log } = options;
  const provider = new Provider(baseUrl, configurationOf(options));
  const respond = provider.callback();
  preserveNames(provider);
  issueOurTexts(provider);
  askForSecrets(provider.Client, options.clients);
  // The detail of an invalid grant helps to fix the client, and is not secret to a client that has the grant.
  provider.on('grant.error', (ctx, { error, error_description: why, error_detail: detail }) => {
    if (error === 'invalid_grant' && detail) ctx.body = { error, error_description: `${why}: ${detail}` };
  });
  provider.on('server_error', (_, error) => log('error', 'authorization server error', { error }));
  // Prevents the library from printing errors to the console that the response contains anyway.
  provider.silent = true;

  const interactionOf = async (request: RawRequest, uid: string) => {
    const { req, res } = await exchangeOf({ ...request, method: 'GET' }, baseUrl);
    const interaction = await provider.interactionDetails(req, res).catch(() => null);
    return interaction?.uid === uid ? { interaction, req, res } : null;
  };
  return {
    async answer(request) {
      const { req, res } = await exchangeOf(asWeTakeIt(request), baseUrl);
      await respond(req, res);
      return answerOf(res, [cookieNames.session]);
    },
    async asking(request, uid) {
      const pending = await interactionOf(request, uid);
      if (!pending) return null;
      const { params } = pending.interaction;
      return { ...askingOf(baseUrl, params), ticket: uid, redirectUri: String(params.redirect_uri) };
    },
    async settle(request, uid, decision) {
      const pending = await interactionOf(request, uid);
      if (!pending) throw new Error(`There is no authorization request ${uid}.`);
      const { req, res } = pending;
      const result =
        'error' in decision
          ? { error: decision.error, error_description: decision.why }
          : {
              login: { accountId: decision.memberId, remember: false },
              consent: { grantId: wordOf(decision.grant) },
            };
      const next = await provider.interactionResult(req, res, result, { mergeWithLastSubmission: false });
      return { status: 303, contentType: 'text/plain', headers: { location: next }, body: '' };
    },
    ...devicesOf(provider, (params) => askingOf(baseUrl, params)),
  };
}

function askingOf(baseUrl: string, params: Readonly<Record<string, unknown>>): AuthorizationRequest {
  return {
    clientId: String(params.client_id),
    resource: resourceAt(baseUrl, String(params.resource)) ?? 'api',
    scopes: requestedScopes(textOf(params.scope)),
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/**
 * Adapts an authorization request to the library: adds the default scopes to a request without scopes (RFC
 * 6749 §3.3), and replaces response modes other than `query` with an unknown one, so that the library reports
 * the error in the query.
 */
function asWeTakeIt(request: RawRequest): RawRequest {
  if (request.path !== paths.authorize) return request;
  const query = new URLSearchParams(request.query);
  if ((query.get('scope') ?? '') === '') query.set('scope', requestedScopes(null).join(' '));
  if ((query.get('response_mode') ?? 'query') !== 'query') query.set('response_mode', 'none');
  return { ...request, query };
}

const models = [
  ...(['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'] as const),
  ...(['Grant', 'Interaction', 'Session'] as const),
] as const;

/** Restores class names that a bundler may drop, because the library uses them in stored data. */
function preserveNames(provider: Library): void {
  for (const name of models) Object.defineProperty(provider[name], 'name', { value: name });
}

function issueOurTexts(provider: Library): void {
  for (const tokenType of ['AccessToken', 'RefreshToken'] as const)
    Object.defineProperty(provider[tokenType].prototype, 'generateTokenId', {
      value(this: { format?: string }) {
        // The replaced method of the library also sets the format.
        this.format = 'opaque';
        return mintText(tokenType);
      },
    });
}

/**
 * Replaces the secret comparison of the protocol library, which compares plain texts, with one for several stored hashes, as a
 * rotation needs.
 */
function askForSecrets({ prototype }: Library['Client'], clients: Clients): void {
  Object.defineProperty(prototype, 'compareClientSecret', {
    value(this: { clientId: string }, text: string): Promise<boolean> {
      return clients.proves(this.clientId, text);
    },
  });
}

interface Devices {
  /**
   * Returns the request of a user code. Ignores case and separators.
   * @returns null for an unknown, expired or decided code
   */
  deviceAsking(userCode: string): Promise<Asking | null>;
  /** @returns false if the request was decided already or has expired */
  settleDevice(userCode: string, decision: Decision): Promise<boolean>;
}

/** Finds and decides requests of the device flow (RFC 8628) in the storage of the protocol library. */
function devicesOf(
  provider: Library,
  requestOf: (params: Readonly<Record<string, unknown>>) => AuthorizationRequest,
): Devices {
  const openDevice = async (userCode: string) => {
    const code = await provider.DeviceCode.findByUserCode(userCode.toUpperCase().replaceAll(/[^A-Z]/g, ''));
    return code && code.isValid && code.accountId === undefined && code.error === undefined ? code : null;
  };

  return {
    async deviceAsking(userCode) {
      const code = await openDevice(userCode);
      if (!code) return null;
      const { clientId = '', params = {}, jti } = code;
      return { ...requestOf({ ...params, client_id: clientId }), ticket: jti, redirectUri: null };
    },
    async settleDevice(userCode, decision) {
      const code = await openDevice(userCode);
      if (!code) return false;
      const decided =
        'error' in decision
          ? { error: decision.error, errorDescription: decision.why }
          : {
              accountId: decision.memberId,
              grantId: wordOf(decision.grant),
              scope: decision.scopes.join(' '),
              resource: String(code.params?.resource),
            };
      await Object.assign(code, decided).save();
      return true;
    },
  };
}
