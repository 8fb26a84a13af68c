// Has a person allow the command line, in a browser of this machine or of another, and comes back with tokens.
import * as client from 'openid-client';
import { CommandError, say } from '../output.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { openBrowser } from './browser.ts';
import { listen } from './loopback.ts';
import { inWords, isUnreachable } from './oauth-error.ts';
import { tokensOf, type LoginTokens } from './tokens.ts';

const waitMsMax = 15 * 60_000;

/** Authorization code with PKCE, by a redirect to this machine (RFC 7636, RFC 8252). @throws CommandError */
export async function askInBrowser(
  from: AuthorizationServer,
  scopes: readonly string[],
): Promise<LoginTokens> {
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

/** By a code that is typed into any browser (RFC 8628). @throws CommandError */
export async function askByCode(from: AuthorizationServer, scopes: readonly string[]): Promise<LoginTokens> {
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

/** Goes on while a server is away, as long as the code is good. */
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
