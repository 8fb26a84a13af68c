// The authorization server of a Tatami, as its metadata describe it (RFC 8414, RFC 9728): where to ask for tokens, and for which scopes.
// Everything must lie at the address that was typed, so that no token goes to another server.
import * as client from 'openid-client';
import { CommandError, exitCodes } from '../output.ts';
import { inWords } from './oauth-error.ts';

/** Known to every Tatami: core/oauth/clients/builtin.ts. */
const clientId = 'tatami-cli';
const answerWithinSeconds = 20;

export interface AuthorizationServer {
  readonly server: string;
  readonly config: client.Configuration;
  /** What the tokens are for (RFC 8707). */
  readonly resource: string;
  /** All that can be asked for. */
  readonly scopes: readonly string[];
}

/** @param server as `serverName` writes it. @throws CommandError */
export async function findAuthorizationServer(server: string): Promise<AuthorizationServer> {
  requirePrivate(server);
  const config = await discover(server);
  const metadata = config.serverMetadata();
  const endpoints = [
    metadata.authorization_endpoint,
    metadata.token_endpoint,
    metadata.revocation_endpoint,
    metadata.device_authorization_endpoint,
  ];
  if (!endpoints.every((endpoint) => endpoint?.startsWith(`${server}/`)))
    throw new CommandError(`${server} sends tokens elsewhere than to itself. Is this the address of Tatami?`);
  return { server, config, ...(await readResource(server)) };
}

/** Tokens are read by whoever is on the way of a request that is not encrypted. @throws CommandError */
function requirePrivate(server: string): void {
  const { protocol, hostname } = new URL(server);
  if (protocol === 'https:' || isHere(hostname)) return;
  throw new CommandError(
    `${server} is not encrypted, and anybody on the way could read the login. Give its https address, or use a key (--token).`,
    exitCodes.usage,
  );
}

const isHere = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

async function discover(server: string): Promise<client.Configuration> {
  try {
    return await client.discovery(new URL(server), clientId, undefined, client.None(), {
      algorithm: 'oauth2',
      timeout: answerWithinSeconds,
      // Only ever to this machine: requirePrivate.
      execute: server.startsWith('http:') ? [client.allowInsecureRequests] : [],
    });
  } catch (error) {
    throw inWords(server, error);
  }
}

async function readResource(server: string): Promise<Pick<AuthorizationServer, 'resource' | 'scopes'>> {
  const { origin, pathname } = new URL(server);
  const resource = `${server}/api/v1`;
  const path = pathname === '/' ? '' : pathname;
  const address = `${origin}/.well-known/oauth-protected-resource${path}/api/v1`;
  const response = await fetch(address, {
    redirect: 'manual',
    signal: AbortSignal.timeout(answerWithinSeconds * 1000),
  }).catch((error: unknown) => {
    throw inWords(server, error);
  });
  const found = (await response.json().catch(() => ({}))) as {
    resource?: unknown;
    scopes_supported?: unknown;
  };
  const { scopes_supported: scopes } = found;
  if (found.resource !== resource || !Array.isArray(scopes))
    throw new CommandError(`${address} does not describe ${resource}. Is this the address of Tatami?`);
  return { resource, scopes: scopes.map(String) };
}
