// Exchanges the session cookie for a bearer of five minutes, which stays in memory. All requests of the app use it,
// because the API accepts no cookies.
import { ApiCallError } from '@tatami/sdk/client';

/** Answer of `POST /session/token`. */
export interface Exchanged {
  readonly token: string;
  readonly expiresInSeconds: number;
  /** Time in which sensitive changes are allowed; 0 if they need a new sign-in. */
  readonly recentSignInSeconds: number;
  /** Scopes that the role of the member allows. */
  readonly scopes: readonly string[];
  readonly workspace: { readonly id: string; readonly name: string };
  readonly member: {
    readonly id: string;
    readonly name: string;
    readonly role: string;
    readonly email: string | null;
  };
  readonly workspaces: readonly { readonly id: string; readonly name: string }[];
}

export interface SessionSource {
  readonly formToken: string;
  /** Null for the first workspace of the person. */
  readonly workspace: string | null;
}

/** A bearer is renewed this long before it expires, so that no request meets an expired one. */
const renewBeforeMs = 60_000;

/** Requests bearers for one workspace. A worker and each tab have their own. */
export class SessionTokens {
  readonly #source: SessionSource;
  #pending: Promise<Exchanged> | null = null;
  #current: { readonly exchanged: Exchanged; readonly renewAt: number } | null = null;

  constructor(source: SessionSource) {
    this.#source = source;
  }

  /** Returns a valid bearer. @param rejected bearer that the server no longer accepts */
  async token(rejected?: string): Promise<string> {
    const current = this.#current;
    const isUsable = current && current.exchanged.token !== rejected && performance.now() < current.renewAt;
    return isUsable ? current.exchanged.token : (await this.exchange()).token;
  }

  /** @throws ApiCallError `unauthorized` if the session has ended, `not_found` for a workspace of others */
  exchange(): Promise<Exchanged> {
    this.#pending ??= request(this.#source)
      .then((exchanged) => {
        const renewAt = performance.now() + exchanged.expiresInSeconds * 1_000 - renewBeforeMs;
        this.#current = { exchanged, renewAt };
        return exchanged;
      })
      .finally(() => (this.#pending = null));
    return this.#pending;
  }
}

async function request(source: SessionSource): Promise<Exchanged> {
  let response: Response;
  try {
    response = await fetch('/session/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(source),
    });
  } catch (cause) {
    throw new ApiCallError(0, { code: 'unreachable', message: 'No server answers.', cause });
  }
  if (response.ok) return (await response.json()) as Exchanged;
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { code?: string; message?: string };
  };
  throw new ApiCallError(response.status, error ?? {});
}
