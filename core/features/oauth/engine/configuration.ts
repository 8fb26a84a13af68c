// Configuration of the protocol library: authorization code with PKCE, device codes, opaque tokens with
// rotation, no OpenID Connect. All features are set explicitly, so that no default of the library applies.
import { generateKeyPairSync } from 'node:crypto';
import type { Configuration, KoaContextWithOIDC, ErrorOut } from 'oidc-provider';
import { InvalidTarget } from 'oidc-provider/lib/helpers/errors.js';
import { Check, Prompt, base } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import { offeredScopes, paths, resourceAt, resourceUrl } from '../metadata.ts';
import type { Sealing } from '../../../platform/lib/secrets/sealing.ts';
import { createAdapter, type Shelves } from './adapter.ts';
import { html, page } from '../../../kernel/html.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Lifetimes in seconds. Each use of a refresh token replaces it with a new one of the full lifetime. */
const lives = {
  AuthorizationCode: minute,
  AccessToken: hour,
  RefreshToken: 60 * day,
  DeviceCode: 10 * minute,
  Interaction: 30 * minute,
} as const;

/**
 * `__Host-` is not possible, because cookie paths separate the requests of several tabs (RFC 6265bis
 * §4.1.3.1).
 */
export const cookieNames = {
  session: '__Secure-tatami-oauth',
  interaction: '__Secure-tatami-consent',
  resume: '__Secure-tatami-resume',
} as const;

/** Signs cookies with a key derived from the master key, in the interface of the package keygrip. */
class CookieSignatures {
  readonly #sealing: Sealing;

  constructor(sealing: Sealing) {
    this.#sealing = sealing;
  }
  sign(text: string): string {
    return this.#sealing.sign(text, 'oauth-cookie');
  }
  verify(text: string, signature: string): boolean {
    return this.#sealing.verify(text, 'oauth-cookie', signature);
  }
  /**
   * Returns the index of the signing key: 0, because there is only one key, or -1 for an invalid signature.
   */
  index(text: string, signature: string): number {
    return this.verify(text, signature) ? 0 : -1;
  }
}

export interface ConfigurationOptions extends Shelves {
  /** Key for the cookies of authorization requests. */
  readonly sealing: Sealing;
  /** Returns true if the cookies of a request belong to a signed-in person. */
  isSignedIn(headers: Headers): Promise<boolean>;
}

/** Shows an error page for an authorization request that cannot be returned to the client safely. */
function showError(ctx: KoaContextWithOIDC, { error, error_description: why }: ErrorOut): void {
  const { body, contentType, headers } = page(
    'Authorization failed',
    html`<div class="card">
      <h1>Authorization failed</h1>
      <p>
        The app that sent you here made an invalid request. It got no access. Go back to the app and try
        again. If that does not help, report this error to its developer:
      </p>
      <p class="notice problem"><code>${error}</code> ${why}</p>
    </div>`,
    { person: null },
  );
  for (const [name, value] of Object.entries(headers ?? {})) ctx.set(name, value as string);
  ctx.set('content-type', contentType);
  ctx.body = body as string;
}

export function configurationOf(options: ConfigurationOptions): Configuration {
  return {
    adapter: createAdapter(options),
    clients: [],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'ES256',
    },
    clockTolerance: 0,
    cookies: {
      names: cookieNames,
      keys: new CookieSignatures(options.sealing),
      long: { httpOnly: true, sameSite: 'lax' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    responseTypes: ['code'],
    scopes: [],
    pkce: { required: () => true },
    // Token requests must repeat the redirect URI even if only one is registered (RFC 6749 §4.1.3).
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    revokeGrantPolicy: ({ oidc }) => !(oidc.route === 'revocation' && oidc.entities.AccessToken),
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    loadExistingGrant: ({ oidc }) => {
      const granted = oidc.result?.consent?.grantId;
      return granted === undefined ? Promise.resolve(undefined) : oidc.provider.Grant.find(granted);
    },
    ttl: { ...lives, Grant: 60 * day, Session: minute },
    // The library requires a key, but signs nothing with it.
    jwks: { keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })] },
    routes: {
      authorization: paths.authorize,
      token: paths.token,
      revocation: paths.revoke,
      introspection: paths.introspect,
      device_authorization: paths.deviceAuthorization,
      code_verification: paths.device,
    },
    interactions: { policy: policyOf(options), url: (_, { uid }) => `${paths.consent}/${uid}` },
    features: featuresOf(options),
    renderError: showError,
  } as Configuration;
}

/** Every authorization requires a consent, even after an earlier one. */
function policyOf({ isSignedIn }: ConfigurationOptions): ReturnType<typeof base> {
  const policy = base();
  policy.clear();
  const isOpen = ({ oidc }: KoaContextWithOIDC): boolean => !oidc.result?.consent;
  policy.add(
    new Prompt(
      { name: 'login', requestable: true },
      new Check(
        'signed_in',
        'nobody is signed in; send the request without prompt=none',
        'login_required',
        async (ctx) => {
          return isOpen(ctx) && !(await isSignedIn(new Headers({ cookie: ctx.get('cookie') })));
        },
      ),
    ),
  );
  policy.add(
    new Prompt(
      { name: 'consent', requestable: true },
      new Check(
        'asked',
        'the member has to consent; send the request without prompt=none',
        'interaction_required',
        isOpen,
      ),
    ),
  );
  policy.add(new Prompt({ name: 'select_account', requestable: true }));
  return policy;
}

function featuresOf({ baseUrl }: ConfigurationOptions): Configuration['features'] {
  const off = { enabled: false };
  return {
    devInteractions: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    rpInitiatedLogout: off,
    userinfo: off,
    revocation: { enabled: true, allowedPolicy: isOwn },
    // Only authenticated clients may introspect, and only their own tokens (RFC 7662 §2.1, §4).
    introspection: {
      enabled: true,
      allowedPolicy: (ctx, client, token) => client.clientAuthMethod !== 'none' && isOwn(ctx, client, token),
    },
    deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****' },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resourceUrl(baseUrl, 'api'),
      useGrantedResource: () => true,
      getResourceServerInfo({ oidc }, url) {
        // Rejects several resources, because a token is valid for exactly one.
        const requested: unknown = oidc.params?.resource;
        if (resourceAt(baseUrl, url) === null || (Array.isArray(requested) && requested.length > 1))
          throw new InvalidTarget(
            `give one of the resources of this server: ${resourceUrl(baseUrl, 'api')} or ${resourceUrl(baseUrl, 'mcp')}`,
          );
        return {
          scope: offeredScopes.join(' '),
          audience: url,
          accessTokenFormat: 'opaque',
          accessTokenTTL: lives.AccessToken,
        };
      },
    },
  };
}

function isOwn(_: unknown, client: { clientId: string }, token: { clientId?: string | undefined }): boolean {
  return token.clientId === client.clientId;
}
