// The token that a command sends for a login: renewed a little before it ends, by one command for all that run beside it.
import type { Login } from './credentials.ts';
import { isFresh } from './tokens.ts';

export interface Access {
  /** The login as it is known here. */
  current(): Login;
  /** Returns an access token that does not expire soon. @throws CommandError if the login has ended */
  token(): Promise<string>;
  /** Replaces a token that the server refused. @throws CommandError if the login has ended */
  renew(): Promise<void>;
}

export function createAccess(login: Login): Access {
  let known = login;
  let pending: Promise<Login> | null = null;

  const renew = async (): Promise<void> => {
    pending ??= import('./renew.ts').then(({ renewLogin }) => renewLogin(known));
    try {
      known = await pending;
    } finally {
      pending = null;
    }
  };

  return {
    current: () => known,
    async token() {
      if (!isFresh(known)) await renew();
      return known.accessToken;
    },
    renew,
  };
}
