// Shared code of commands that call a server: its address, the key or login, and notices about waits.
import { createCall, type Call } from '../../../../sdk/client/call.ts';
import { ApiCallError } from '../../../../sdk/client/index.ts';
import { readRemote } from '../../config/config.ts';
import { programName } from '../../../platform/lib/process/own-program.ts';
import { printable, quoted } from '../../../platform/lib/text/printable.ts';
import { readLogins, serverName, type Login, isFresh } from '../login/credentials.ts';
import { CommandError, exitCodes, say } from './output.ts';

export interface RemoteOptions {
  server?: string;
  token?: string;
  json?: boolean;
}

/** The access token of a login, renewed a little before it expires. */
interface Access {
  /** The login as it is known here. */
  current(): Login;
  /** Returns an access token that does not expire soon. @throws CommandError if the login has ended */
  token(): Promise<string>;
  /** Replaces a token that the server refused. @throws CommandError if the login has ended */
  renew(): Promise<void>;
}

function createAccess(login: Login): Access {
  let known = login;
  let pending: Promise<Login> | null = null;

  const renew = async (): Promise<void> => {
    pending ??= import('../login/renew.ts').then(({ renewLogin }) => renewLogin(known));
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

export interface Remote {
  readonly server: string;
  /** The key, or a function that returns the current access token of a login. */
  readonly token: string | (() => Promise<string>);
  /** Null if a key was given. */
  readonly access: Access | null;
  /** Source of the server address; null if it was given on the command line. */
  readonly named: string | null;
}

/**
 * A key that is given goes to the server that is named, or to the usual one: never to one that only a login names. Without a key it
 * is the login for the server that is named, or the current one.
 * @throws CommandError if there is neither an API key nor a login
 */
export function remoteOf(options: RemoteOptions): Remote {
  const { server, token, sourceVariable, isExplicit } = readRemote(options);
  if (token !== null) return { server, token, named: sourceVariable, access: null };
  const logins = readLogins();
  const login = isExplicit ? logins.find((one) => one.server === serverName(server)) : logins[0];
  if (!login)
    throw new CommandError(
      `You are not logged in${isExplicit ? ` to ${server}` : ''}. Run \`${programName} login${isExplicit ? ` --server ${quoted(server)}` : ''}\`, or pass an API key with --token or TATAMI_TOKEN.`,
      exitCodes.loginNeeded,
    );
  const access = createAccess(login);
  return {
    server: login.server,
    token: access.token,
    access,
    named: logins.length > 1 ? 'your login' : null,
  };
}

/** Prints the server that gets the key if it is not set on the command line. @throws CommandError if there is neither a key nor a login */
export function connect(options: RemoteOptions, note: (text: string) => void = say): Call {
  return callOf(remoteOf(options), note);
}

/** The same, of what was found before. */
export function callOf({ server, token, access, named }: Remote, note: (text: string) => void = say): Call {
  if (named !== null)
    note(
      `Using the server ${server}${access === null ? '' : ` and the workspace ${access.current().workspace.name}`}, from ${named}.`,
    );
  const call = createCall({
    server,
    token,
    onWait: (waitMs, reason) => note(`${reason.message} Retrying in ${Math.ceil(waitMs / 1000)} s.`),
  });
  return access === null ? call : byLogin(call, access);
}

function byLogin(call: Call, access: Access): Call {
  return async <T>(...asked: Parameters<Call>): Promise<T> => {
    try {
      return await call<T>(...asked).catch(async (error: unknown) => {
        // A token may end before its time, where clocks are set or a server is restored: once, another is asked for.
        if (!(error instanceof ApiCallError && error.status === 401)) throw error;
        await access.renew();
        return call<T>(...asked);
      });
    } catch (error) {
      throw error instanceof ApiCallError && error.code === 'insufficient_scope' ? inLogin(error) : error;
    }
  };
}

/** A login is an app: it holds what the person left ticked, and never what would let it decide in a person's place. */
function inLogin(error: ApiCallError): ApiCallError {
  const hint = 'If you did not allow this at login, log in again. Some scopes need an API key (--token).';
  return reworded(error, `${error.message} ${hint}`);
}

/** Returns the error with another message. */
export function reworded(error: ApiCallError, message: string): ApiCallError {
  const { status, code, requestId, details, page } = error;
  const id = requestId === null ? {} : { requestId };
  return new ApiCallError(status, { code, message, details, page, cause: error, ...id });
}

/** Says that a stream has ended and when it begins again. */
export function tellReconnect(waitMs: number, { message }: ApiCallError): void {
  say(`${printable(message)} Reconnecting in ${Math.max(1, Math.round(waitMs / 1000))} s.`);
}
