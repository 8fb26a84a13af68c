// A real OpenID provider for tests, which signs in the configured person at once.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

interface Outsider {
  readonly sub: string;
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
}

export interface OutsideProvider {
  readonly issuer: string;
  /** The person who signs in there. */
  person: Outsider;
  /** Awaited before the response to a request. */
  before(requested: string): Promise<unknown>;
  /** The requested paths. */
  readonly requested: string[];
  /**
   * Registers the server under test. Registering again rotates the signing key.
   * @param redirectUri redirect URI of the server
   */
  register(client: OutsideClient): void;
  /**
   * Visits an address as a browser does.
   * @returns the redirect back from the provider
   * @param cookies cookies of the browser at the provider, which keep it signed in there; by default none
   */
  visit(address: string, cookies?: Map<string, string>): Promise<URL>;
  stop(): Promise<void>;
}

interface OutsideClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
  /** True puts the claims into the ID token; otherwise the userinfo endpoint returns them. */
  readonly claimsInIdToken?: boolean;
}

export async function startOutsideProvider(): Promise<OutsideProvider> {
  let answer: (request: IncomingMessage, response: ServerResponse) => unknown = (_, response) =>
    response.writeHead(503).end();
  const server = createServer((request, response) => {
    const requested = `${request.method} ${request.url?.split('?')[0]}`;
    outside.requested.push(requested);
    void outside.before(requested).then(() => answer(request, response));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let isRegistered = false;
  const outside: OutsideProvider = {
    issuer,
    person: { sub: 'ana' },
    requested: [],
    before: () => Promise.resolve(),
    register(client) {
      const provider = providerOf(issuer, client, isRegistered, () => outside.person);
      isRegistered = true;
      const callback = provider.callback();
      answer = (request, response) =>
        request.url?.startsWith('/interaction/')
          ? finish(provider, request, response, outside.person.sub)
          : callback(request, response);
    },
    visit: (address, cookies = new Map()) => follow(issuer, address, cookies),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return outside;
}

function providerOf(
  issuer: string,
  { id, secret, redirectUri, claimsInIdToken = false }: OutsideClient,
  isRotated: boolean,
  person: () => Outsider,
): Provider {
  return new Provider(issuer, {
    clients: [
      {
        ...{ client_id: id, client_secret: secret, redirect_uris: [redirectUri] },
        ...{ grant_types: ['authorization_code'], response_types: ['code'] },
      },
    ],
    ...(isRotated ? { jwks: { keys: [newKey()] } } : {}),
    conformIdTokenClaims: !claimsInIdToken,
    cookies: { keys: ['outside'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...person(), sub }) }),
  });
}

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' } as const;
}

/** Signs the person in and consents without prompts. */
async function finish(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  accountId: string,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId, clientId: String(params.client_id) });
  grant.addOIDCScope('openid profile email');
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { login: { accountId }, consent: { grantId } });
}

async function follow(issuer: string, address: string, cookies: Map<string, string>): Promise<URL> {
  let next = new URL(address);
  for (let step = 0; step < 10; step++) {
    if (next.origin !== issuer) return next;
    const answer = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const to = answer.headers.get('location');
    if (to === null) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`);
    next = new URL(to, next);
  }
  throw new Error('The response of the provider has no redirect.');
}
