// `tatami login`: a person allows the command line at a server, in a browser of this machine or of another, for one workspace. Commands
// then act for that person.
import * as client from 'openid-client';
import { createCall } from '../../../../sdk/client/call.ts';
import { readRemote } from '../../config/config.ts';
import { openBrowser } from '../lib/browser.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { usage } from '../lib/flags.ts';
import { printResult, say, CommandError } from '../lib/output.ts';
import { fewOf } from '../lib/table.ts';
import {
  findAuthorizationServer,
  type AuthorizationServer,
  inWords,
  isUnreachable,
} from './authorization-server.ts';
import {
  isSameWorkspace,
  readLogins,
  serverName,
  writeLogins,
  type Login,
  type LoginTokens,
  tokensOf,
} from './credentials.ts';
import { withLogins } from './lock.ts';
import { toLoginSummary } from './use.ts';

export interface LoginOptions {
  server?: string;
  device?: boolean;
  scopes?: string;
  json?: boolean;
}

export async function login({ device = false, scopes, json, ...flags }: LoginOptions): Promise<void> {
  const { server, isExplicit, token } = readRemote(flags);
  // First, because a login that cannot be stored must not be requested.
  const [current] = readLogins();
  const from = await findAuthorizationServer(serverName(isExplicit ? server : (current?.server ?? server)));
  const asked = scopes === undefined ? from.scopes : scopesOf(scopes, from.scopes);
  const tokens = await (device ? askByCode : askInBrowser)(from, asked);
  const made = await describe(from, tokens);
  await keep(from, made);
  if (token !== null) say('TATAMI_TOKEN is set and takes precedence over this login.');
  printResult(toLoginSummary(made), { json }, linesOf);
}

function linesOf({ server, workspace, member, scopes }: ReturnType<typeof toLoginSummary>): string {
  return `Logged in to ${server} as ${member.name}, in the workspace ${workspace.name}.\nScopes: ${fewOf(scopes)}`;
}

/** @throws CommandError */
function scopesOf(list: string, supported: readonly string[]): string[] {
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !supported.includes(scope));
  if (unknown !== undefined)
    throw usage(
      `A login cannot have the scope "${unknown}".${didYouMean(unknown, supported)} Use ${supported.join(', ')}.`,
    );
  return [...new Set(scopes)];
}

/** The caller, as far as a login stores it. */
interface Me {
  workspace: { id: string; name: string };
  member: { id: string; name: string };
}

async function describe({ server }: AuthorizationServer, tokens: LoginTokens): Promise<Login> {
  const call = createCall({ server, token: tokens.accessToken });
  const { workspace, member } = await call<Me>('GET', '/me');
  return {
    server,
    workspace: { id: workspace.id, name: workspace.name },
    member: { id: member.id, name: member.name },
    ...tokens,
  };
}

/** Stores a login as the current one, and revokes the login that it replaces. */
async function keep({ config }: AuthorizationServer, made: Login): Promise<void> {
  const replaced = await withLogins(async () => {
    const logins = readLogins();
    await writeLogins([made, ...logins.filter((login) => !isSameWorkspace(login, made))]);
    return logins.find((login) => isSameWorkspace(login, made));
  });
  // If the revocation fails, the grant expires after a period without use.
  if (replaced) await client.tokenRevocation(config, replaced.refreshToken).catch(() => undefined);
}

const waitMsMax = 15 * 60_000;

const path = '/callback';

/** Loopback redirect URI (RFC 8252 §7.3): a local port that is open until the browser delivers the code. */
interface Loopback {
  readonly redirectUri: string;
  /** The address that the browser came with; its parameters are to be checked. */
  readonly answer: Promise<URL>;
  /** Once the browser has its page. */
  close(): Promise<void>;
}

/** @param state of the request, which no other page of the browser knows (RFC 6749 §10.12) */
function listen(state: string): Loopback {
  const { promise: answer, resolve } = Promise.withResolvers<URL>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const url = new URL(request.url);
      // A host name other than the address indicates DNS rebinding by another site.
      const isOurs =
        request.method === 'GET' && url.pathname === path && url.host === `127.0.0.1:${server.port}`;
      if (!isOurs) return page(404, 'Page not found. Return to the command line.');
      if (url.searchParams.get('state') !== state)
        return page(
          400,
          'This login does not match the one that the command line started. Run tatami login again.',
        );
      resolve(url);
      return page(
        200,
        url.searchParams.has('code')
          ? 'Login allowed. You can close this page and return to the command line.'
          : 'Login denied. You can close this page.',
      );
    },
  });
  return {
    redirectUri: `http://127.0.0.1:${server.port}${path}`,
    answer,
    close: () => server.stop(),
  };
}

function page(status: number, text: string): Response {
  return new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tatami</title><p>${text}</p></html>`,
    {
      status,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        // The port closes once this is read.
        connection: 'close',
      },
    },
  );
}

/** Authorization code with PKCE, by a redirect to this machine (RFC 7636, RFC 8252). @throws CommandError */
async function askInBrowser(from: AuthorizationServer, scopes: readonly string[]): Promise<LoginTokens> {
  const { server, config, resource } = from;
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const loopback = listen(state);
  try {
    const { href } = client.buildAuthorizationUrl(config, {
      redirect_uri: loopback.redirectUri,
      scope: scopes.join(' '),
      resource,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    const isOpened = openBrowser(href);
    say(isOpened ? 'Allow the login in your browser. If it does not open, open this address:' : noBrowser);
    say(`\n  ${href}\n`);
    const arrived = await Promise.race([loopback.answer, tooLate()]);
    // Checks `state` and `iss` as well (RFC 9207).
    const answer = await client.authorizationCodeGrant(
      config,
      arrived,
      { pkceCodeVerifier: verifier, expectedState: state },
      { resource },
    );
    return tokensOf(answer);
  } catch (error) {
    throw inWords(server, error);
  } finally {
    await loopback.close();
  }
}

const noBrowser =
  'No browser could be opened. Open this address in a browser on this machine, or run the command again with --device to use another machine:';

async function tooLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, waitMsMax).unref());
  throw new CommandError('The login was not allowed within 15 minutes. Run the command again.');
}

/** Logs in with a device code that the user enters in any browser (RFC 8628). @throws CommandError */
async function askByCode(from: AuthorizationServer, scopes: readonly string[]): Promise<LoginTokens> {
  const { server, config, resource } = from;
  try {
    const asked = await client.initiateDeviceAuthorization(config, { scope: scopes.join(' '), resource });
    const { verification_uri: address, user_code: code, expires_in: seconds } = asked;
    if (!address.startsWith(`${server}/`))
      throw new CommandError(
        `${server} uses a login page on another server, ${address}. Check the address of the server.`,
      );
    say(
      `In any browser, open\n\n  ${address}\n\nand enter the code  ${code}  within ${Math.floor(seconds / 60)} minutes.`,
    );
    return tokensOf(await pollFor(config, asked, resource));
  } catch (error) {
    throw inWords(server, error);
  }
}

/** Continues while the server is unreachable, until the code expires. */
async function pollFor(
  config: client.Configuration,
  asked: client.DeviceAuthorizationResponse,
  resource: string,
): Promise<client.TokenEndpointResponse> {
  const signal = AbortSignal.timeout(asked.expires_in * 1000);
  for (;;) {
    try {
      return await client.pollDeviceAuthorizationGrant(config, asked, { resource }, { signal });
    } catch (error) {
      if (signal.aborted)
        throw new CommandError('The login was not allowed in time. Run the command again.', undefined, {
          cause: error,
        });
      if (!isUnreachable(error)) throw error;
    }
  }
}
