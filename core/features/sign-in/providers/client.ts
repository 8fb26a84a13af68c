// OpenID Connect client for an external provider (OpenID Connect Core 1.0 §3.1; RFC 9700 §2.1). Each exchange
// has its own state, nonce and code verifier, derived from the challenge of the browser. Each provider has
// its own redirect URI, which prevents mix-up attacks.
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { addressKey } from '../../../platform/lib/address.ts';
import type { RequestSender } from '../../../platform/lib/egress/egress.ts';
import type { Challenge } from '../challenges.ts';
import { proofMs } from '../page-parts.ts';
import type { ProviderSettings } from '../settings.ts';

const connectTimeoutMs = 5_000;
const totalTimeoutMs = 10_000;
const responseBytesMax = 262_144;
/** Cache time of the provider metadata. */
const discoveredForMs = 3_600_000;
const proofSeconds = proofMs / 1000;

export interface OutsidePerson {
  readonly issuer: string;
  readonly subject: string;
  /** Display name; null for none. */
  readonly name: string | null;
  /** Null if the provider sent no address, or has not verified the address. */
  readonly verifiedEmail: string | null;
  /** Label of the external account, shown to its owner. */
  readonly displayName: string;
}

export interface OutsideClient {
  /**
   * Returns the authorization URL.
   * @param isAnew true to request a new authentication at the provider
   * @throws Error if the provider cannot be reached
   */
  addressFor(challenge: Challenge<unknown>, isAnew: boolean): Promise<string>;
  /**
   * @param query query of the redirect from the provider
   * @param isAnew true to require an authentication within `proofMs`, if the provider reports the time
   * @throws Error for an invalid response, or a response to another browser
   */
  personOf(challenge: Challenge<unknown>, query: URLSearchParams, isAnew: boolean): Promise<OutsidePerson>;
}

/** @param redirectUri URI for this provider only */
export function createOutsideClient(options: {
  settings: ProviderSettings;
  redirectUri: string;
  egress: RequestSender;
  monotonicMs: () => number;
}): OutsideClient {
  const { settings, redirectUri, egress, monotonicMs } = options;
  let discovered: { readonly configuration: Promise<Configuration>; readonly atMs: number } | null = null;
  const configurationOf = async (): Promise<Configuration> => {
    const now = monotonicMs();
    if (!discovered || now - discovered.atMs > discoveredForMs)
      discovered = { configuration: discover(settings, egress), atMs: now };
    const mine = discovered;
    return mine.configuration.catch((error: unknown) => {
      if (discovered === mine) discovered = null;
      throw error;
    });
  };
  return {
    async addressFor(challenge, isAnew) {
      const configuration = await configurationOf();
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
      return buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        state: challenge.secret('state'),
        nonce: challenge.secret('nonce'),
        code_challenge: await calculatePKCECodeChallenge(challenge.secret('verifier')),
        code_challenge_method: 'S256',
        ...(isAnew ? { prompt: 'login', max_age: String(proofSeconds) } : {}),
      }).href;
    },
    async personOf(challenge, query, isAnew) {
      const configuration = await configurationOf();
      const { authorizationCodeGrant } = await import('openid-client');
      const tokens = await authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
        expectedState: challenge.secret('state'),
        expectedNonce: challenge.secret('nonce'),
        pkceCodeVerifier: challenge.secret('verifier'),
        idTokenExpected: true,
        ...(isAnew && reportsSignInTime(configuration) ? { maxAge: proofSeconds } : {}),
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('The provider sent no ID token.');
      return personIn(claims, await furtherClaims(configuration, tokens.access_token, claims));
    },
  };
}

/**
 * A person can remove `prompt` from the URL in the browser, so `auth_time` is checked if the provider
 * supports it. Google does not.
 */
function reportsSignInTime(configuration: Configuration): boolean {
  return configuration.serverMetadata().claims_supported?.includes('auth_time') ?? false;
}

async function discover(settings: ProviderSettings, egress: RequestSender): Promise<Configuration> {
  const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks } =
    await import('openid-client');
  const { issuer, clientId, clientSecret } = settings;
  const configuration = await discovery(new URL(issuer), clientId, {}, await authOf(clientSecret), {
    [customFetch]: fetchBy(egress),
    timeout: totalTimeoutMs / 1000,
    // Signatures of ID tokens are checked even if TLS already authenticates the provider. The egress guard
    // allows plain http only to networks that the operator allows.
    execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
  });
  return configuration;
}

/**
 * Sends the secret in the header if the provider supports it, otherwise in the body. The header is the
 * default (OpenID Connect Core 1.0 §9).
 */
async function authOf(secret: string | null): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost, None } = await import('openid-client');
  if (secret === null) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

function fetchBy(egress: RequestSender): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const {
      status,
      headers: answered,
      body: bytes,
      truncated,
    } = await egress.send({
      url,
      headers,
      connectTimeoutMs,
      totalTimeoutMs,
      responseBytesMax,
      method: method === 'POST' ? 'POST' : 'GET',
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(signal ? { signal } : {}),
    });
    if (truncated)
      throw new Error(`The response of ${new URL(url).host} is longer than ${responseBytesMax} bytes.`);
    return new Response(new Uint8Array(bytes), { status, headers: answered });
  };
}

/**
 * Returns the claims of the userinfo endpoint if the ID token has no address (OpenID Connect Core 1.0 §5.3,
 * §5.4).
 */
async function furtherClaims(
  configuration: Configuration,
  accessToken: string,
  { sub, email }: { readonly sub: string; readonly email?: unknown },
): Promise<Claims> {
  if (email !== undefined || configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  const { fetchUserInfo } = await import('openid-client');
  return fetchUserInfo(configuration, accessToken, sub);
}

type Claims = Readonly<Record<string, unknown>>;

/** Maximum length in characters (OpenID Connect Core 1.0 §2). */
const subjectMax = 255;

/**
 * @param further claims of the userinfo endpoint, which are not signed
 * @throws Error for an invalid subject
 */
function personIn(
  signed: Claims & { readonly iss: string; readonly sub: string },
  further: Claims,
): OutsidePerson {
  const { iss: issuer, sub: subject } = signed;
  if (subject.trim() === '' || subject.length > subjectMax)
    throw new Error('The provider sent no valid subject.');
  const claims: Claims = { ...further, ...signed };
  const textOf = (name: string): string | null => {
    const value = claims[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 254) : null;
  };
  return {
    issuer,
    subject,
    name: textOf('name')?.slice(0, 80) ?? null,
    verifiedEmail: verifiedEmailIn(signed, further),
    displayName: textOf('email') ?? textOf('preferred_username') ?? textOf('name') ?? subject.slice(0, 100),
  };
}

/**
 * Returns the address only if its own source has `email_verified: true` and the other source does not
 * contradict it; otherwise null.
 */
function verifiedEmailIn(signed: Claims, further: Claims): string | null {
  const { email, email_verified: isVerified } = signed.email === undefined ? further : signed;
  const isDenied = [signed, further].some(({ email_verified: said = true }) => said !== true);
  if (typeof email !== 'string' || isVerified !== true || isDenied) return null;
  return addressKey(email) === null ? null : email.trim();
}
