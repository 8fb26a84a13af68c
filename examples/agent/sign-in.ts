// How the agent comes by a token, on the hooks that the client of MCP has for that: a person says in their browser what it may do, and the
// answer comes back to an address of this machine. All of it is in memory: kept in a file, the next start would ask nobody.
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

  /** @param open shows a person the page on which they let the agent in */
  constructor(open: (url: URL) => void) {
    this.#open = open;
    this.#listener = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => {
        const { pathname, searchParams } = new URL(request.url);
        // What was not asked for here is no answer.
        if (pathname !== '/callback' || searchParams.get('state') !== this.#state)
          return new Response('Nothing is waited for here.', { status: 404 });
        this.#answered.resolve(searchParams);
        return new Response('The agent has your answer. You can close this page.');
      },
    });
    this.redirectUrl = `http://127.0.0.1:${this.#listener.port}/callback`;
  }

  /** What the person answered, as their browser brought it. */
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
      // Whatever lies on the device of a person is no secret.
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
  /** Where the tokens were to come from when the person was asked: the code of their answer goes nowhere else. */
  discoveryState = (): OAuthDiscoveryState | undefined => this.#found;
  saveDiscoveryState = (found: OAuthDiscoveryState): void => void (this.#found = found);
  redirectToAuthorization = (url: URL): void => this.#open(url);
}
