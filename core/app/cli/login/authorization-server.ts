// The authorization server of a Tatami, as its metadata describe it (RFC 8414): where to ask for tokens, and for which scopes.
// Everything must lie at the address that was typed, so that no token goes to another server.
import * as client from 'openid-client';
import { programName } from '../../../platform/lib/process/own-program.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { CommandError, exitCodes } from '../lib/output.ts';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { ApiCallError, unreachable } from '../../../../sdk/client/error.ts';

/** Known to every Tatami: core/features/oauth/clients/clients.ts. */
const clientId = 'tatami-cli';
const answerWithinSeconds = 20;

export interface AuthorizationServer {
  readonly server: string;
  readonly config: client.Configuration;
  /** Resource of the tokens (RFC 8707). */
  readonly resource: string;
  /** Supported scopes. */
  readonly scopes: readonly string[];
}

/** @param server as `serverName` writes it. @throws CommandError */
export async function findAuthorizationServer(server: string): Promise<AuthorizationServer> {
  requirePrivate(server);
  const config = await discover(server);
  const metadata = config.serverMetadata();
  if (metadata.issuer !== server)
    throw new CommandError(
      `The base address of ${server} is ${metadata.issuer}. Run \`${programName} login --server ${quoted(metadata.issuer)}\`, or change the base address with \`serve --base-url\`.`,
    );
  const endpoints = [
    metadata.authorization_endpoint,
    metadata.token_endpoint,
    metadata.revocation_endpoint,
    metadata.device_authorization_endpoint,
  ];
  if (!endpoints.every((endpoint) => endpoint?.startsWith(`${server}/`)))
    throw new CommandError(
      `${server} uses token endpoints on another server. Check that this is the address of Tatami.`,
    );
  return { server, config, resource: `${server}/api/v1`, scopes: metadata.scopes_supported ?? [] };
}

/** Tokens are read by whoever is on the way of a request that is not encrypted. @throws CommandError */
function requirePrivate(server: string): void {
  const { protocol, hostname } = new URL(server);
  if (protocol === 'https:' || isHere(hostname)) return;
  throw new CommandError(
    `${server} is not encrypted, so the login could be intercepted. Use its https address, or an API key (--token).`,
    exitCodes.usage,
  );
}

const isHere = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

async function discover(server: string): Promise<client.Configuration> {
  try {
    // Below the whole base address: a proxy hands on nothing beside it (RFC 8414 §3.1 would have it before a path).
    const document = new URL(`${server}/.well-known/oauth-authorization-server`);
    return await client.discovery(document, clientId, undefined, client.None(), {
      timeout: answerWithinSeconds,
      // Only ever to this machine: requirePrivate.
      execute: server.startsWith('http:') ? [client.allowInsecureRequests] : [],
    });
  } catch (error) {
    throw inWords(server, error);
  }
}

/** Messages by the error codes of RFC 6749 §4.1.2.1 and §5.2, and RFC 8628 §3.5. */
const sentences: Readonly<Record<string, string>> = {
  access_denied: 'The login was denied in the browser. Run `tatami login` again to allow it.',
  expired_token: 'The login was not allowed in time. Run `tatami login` again.',
  invalid_grant: 'The authorization is no longer valid. Run `tatami login` again.',
};

/** Returns true if the server rejects the refresh token. */
export function isEnded(error: unknown): boolean {
  return error instanceof ResponseBodyError && error.error === 'invalid_grant';
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof ClientError && (error.code === undefined || error.code === 'OAUTH_TIMEOUT');
}

/** @returns a CommandError, or an ApiCallError if a retry may succeed, because no server answers or it is busy */
export function inWords(server: string, error: unknown): CommandError | ApiCallError {
  const terms = { cause: error };
  if (error instanceof CommandError || error instanceof ApiCallError) return error;
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    const said =
      sentences[error.error] ??
      `${server} refused the request: ${error.error_description ?? error.error}. Run \`tatami login\` again.`;
    return new CommandError(said, exitCodes.failed, terms);
  }
  if (!(error instanceof ClientError) || isUnreachable(error)) return unreachable(server, error);
  const status = error.cause instanceof Response ? error.cause.status : 0;
  if (status === 429 || status >= 500)
    return new ApiCallError(status, {
      code: 'unavailable',
      message: `${server} answered ${status}. Try again later.`,
      cause: error,
    });
  return new CommandError(
    `${server} did not respond like a Tatami server with login support (${error.message}). Check its address.`,
    exitCodes.failed,
    terms,
  );
}
