// OAuth provider for the MCP client: a person grants access in the browser, and a listener on this machine
// receives the response. All data is in memory; an agent that stores its tokens in a file needs no consent on
// the next start.
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

export class SignIn implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #open: (url: URL) => void;
  readonly #answered = Promise.withResolvers<URLSearchParams>();
  readonly #listener: Bun.Server<undefined>;
  readonly #state = crypto.randomUUID();
  #client?: StoredOAuthClientInformation;
  #tokens?: StoredOAuthTokens;
  #verifier = '';
  #found?: OAuthDiscoveryState;

  /** @param open shows the consent page to a person */
  constructor(open: (url: URL) => void) {
    this.#open = open;
    this.#listener = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => {
        const { pathname, searchParams } = new URL(request.url);
        // Rejects responses that were not requested here.
        if (pathname !== '/callback' || searchParams.get('state') !== this.#state)
          return new Response('No response is expected here.', { status: 404 });
        this.#answered.resolve(searchParams);
        return new Response('The agent received your response. You can close this page.');
      },
    });
    this.redirectUrl = `http://127.0.0.1:${this.#listener.port}/callback`;
  }

  /** Waits for the authorization response from the browser. */
  async answer(): Promise<URLSearchParams> {
    const answer = await this.#answered.promise;
    await this.#listener.stop();
    return answer;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Tidy',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      // A public client, because an app on a person's device cannot protect a secret.
      token_endpoint_auth_method: 'none',
    };
  }

  state = (): string => this.#state;
  clientInformation = (): StoredOAuthClientInformation | undefined => this.#client;
  saveClientInformation = (client: StoredOAuthClientInformation): void => void (this.#client = client);
  tokens = (): StoredOAuthTokens | undefined => this.#tokens;
  saveTokens = (tokens: StoredOAuthTokens): void => void (this.#tokens = tokens);
  codeVerifier = (): string => this.#verifier;
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  /** Authorization server at the time of consent; the code is sent nowhere else. */
  discoveryState = (): OAuthDiscoveryState | undefined => this.#found;
  saveDiscoveryState = (state: OAuthDiscoveryState): void => void (this.#found = state);
  redirectToAuthorization = (url: URL): void => this.#open(url);
}
