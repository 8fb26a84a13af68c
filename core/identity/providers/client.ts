// This server as a client of an outside OpenID provider: what it sends people there with, and what it makes of their return (OpenID
// Connect Core 1.0 §3.1; RFC 9700 §2.1). Every exchange has a state, a nonce and a code verifier of its own, which follow from the
// ceremony of the browser; each provider has a redirect address of its own, so that the answer of one is never taken to another.
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { addressKey } from '../../lib/address.ts';
import type { Egress } from '../../lib/egress/egress.ts';
import type { Ceremony } from '../ceremonies/ceremonies.ts';
import { proofMs } from '../pages.ts';
import type { ProviderSettings } from './provider.ts';

const connectTimeoutMs = 5_000;
const totalTimeoutMs = 10_000;
const responseBytesMax = 262_144;
/** What is discovered of a provider holds so long. */
const discoveredForMs = 3_600_000;
const proofSeconds = proofMs / 1000;

/** Who came back, by what the provider says and signed. */
export interface OutsidePerson {
  readonly issuer: string;
  readonly subject: string;
  /** Null where the provider tells none. */
  readonly name: string | null;
  /** Null where the provider tells none, or has not verified it. */
  readonly verifiedEmail: string | null;
  /** What its owner knows the account by. */
  readonly shownAs: string;
}

export interface OutsideClient {
  /**
   * Where the browser is to go.
   * @param isAnew asks the provider to have the person sign in there anew
   * @throws Error where the provider cannot be reached
   */
  addressFor(ceremony: Ceremony<unknown>, isAnew: boolean): Promise<string>;
  /**
   * @param query with which the browser came back
   * @param isAnew refuses a person who has not signed in at the provider within the age of a proof
   * @throws Error for what is no answer of the provider to this browser
   */
  personOf(ceremony: Ceremony<unknown>, query: URLSearchParams, isAnew: boolean): Promise<OutsidePerson>;
}

/** @param redirectUri of this provider alone */
export function createOutsideClient(options: {
  settings: ProviderSettings;
  redirectUri: string;
  egress: Pick<Egress, 'send'>;
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
    async addressFor(ceremony, isAnew) {
      const configuration = await configurationOf();
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
      return buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        state: ceremony.secret('state'),
        nonce: ceremony.secret('nonce'),
        code_challenge: await calculatePKCECodeChallenge(ceremony.secret('verifier')),
        code_challenge_method: 'S256',
        ...(isAnew ? { prompt: 'login', max_age: String(proofSeconds) } : {}),
      }).href;
    },
    async personOf(ceremony, query, isAnew) {
      const configuration = await configurationOf();
      const { authorizationCodeGrant } = await import('openid-client');
      const tokens = await authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
        expectedState: ceremony.secret('state'),
        expectedNonce: ceremony.secret('nonce'),
        pkceCodeVerifier: ceremony.secret('verifier'),
        idTokenExpected: true,
        ...(isAnew && tellsSignInTime(configuration) ? { maxAge: proofSeconds } : {}),
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('The provider sent no ID token.');
      return personIn(claims, await furtherClaims(configuration, tokens.access_token, claims));
    },
  };
}

/** The browser can drop `prompt` from the address, so `auth_time` decides where the provider supports it. Google, for one, does not. */
function tellsSignInTime(configuration: Configuration): boolean {
  return configuration.serverMetadata().claims_supported?.includes('auth_time') ?? false;
}

async function discover(settings: ProviderSettings, egress: Pick<Egress, 'send'>): Promise<Configuration> {
  const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks } =
    await import('openid-client');
  const { issuer, clientId, clientSecret } = settings;
  const configuration = await discovery(new URL(issuer), clientId, {}, await authOf(clientSecret), {
    [customFetch]: fetchBy(egress),
    timeout: totalTimeoutMs / 1000,
    // The signature of an ID token is checked although it comes over TLS from the provider itself. Plain http is left to the guard of
    // outgoing requests, which takes it to networks that the operator has opened, and nowhere else.
    execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
  });
  return configuration;
}

/** In the header where the provider takes it there, which is the usual way (OpenID Connect Core 1.0 §9). */
async function authOf(secret: string | null): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost, None } = await import('openid-client');
  if (secret === null) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** `fetch` as the library asks for it, through the guarded door. */
function fetchBy(egress: Pick<Egress, 'send'>): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const {
      status,
      headers: answered,
      body: bytes,
      truncated,
    } = await egress.send({
      ...{ url, headers, connectTimeoutMs, totalTimeoutMs, responseBytesMax },
      method: method === 'POST' ? 'POST' : 'GET',
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(signal ? { signal } : {}),
    });
    if (truncated)
      throw new Error(`The answer of ${new URL(url).host} is longer than ${responseBytesMax} bytes.`);
    return new Response(new Uint8Array(bytes), { status, headers: answered });
  };
}

/** Some put the address into the ID token, others tell it where claims are asked for (OpenID Connect Core 1.0 §5.3, §5.4). */
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

/** OpenID Connect Core 1.0 §2. */
const subjectMax = 255;

/**
 * @param further claims of the userinfo endpoint, whose answer is not signed
 * @throws Error for no subject
 */
function personIn(
  signed: Claims & { readonly iss: string; readonly sub: string },
  further: Claims,
): OutsidePerson {
  const { iss: issuer, sub: subject } = signed;
  if (subject.trim() === '' || subject.length > subjectMax) throw new Error('The provider names no subject.');
  const claims: Claims = { ...further, ...signed };
  const textOf = (name: string): string | null => {
    const value = claims[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 254) : null;
  };
  return {
    ...{ issuer, subject },
    name: textOf('name')?.slice(0, 80) ?? null,
    verifiedEmail: verifiedEmailIn(signed, further),
    shownAs: textOf('email') ?? textOf('preferred_username') ?? textOf('name') ?? subject.slice(0, 100),
  };
}

/** Only `true`, from where the address comes, says that it was verified; where both sources say something, the stricter one counts. */
function verifiedEmailIn(signed: Claims, further: Claims): string | null {
  const { email, email_verified: isVerified } = signed.email === undefined ? further : signed;
  const isDenied = [signed, further].some(({ email_verified: said = true }) => said !== true);
  if (typeof email !== 'string' || isVerified !== true || isDenied) return null;
  return addressKey(email) === null ? null : email.trim();
}
