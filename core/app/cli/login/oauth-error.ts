// Error messages for failures of an authorization server, with the solution.
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { ApiCallError, unreachable } from '../../../../sdk/client/error.ts';
import { CommandError, exitCodes } from '../lib/output.ts';

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

/** @returns a CommandError, or an ApiCallError where it may pass: no server answers, or it is busy. What it is made of is its cause */
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
      ...{ code: 'unavailable', message: `${server} answered ${status}. Try again later.` },
      ...terms,
    });
  return new CommandError(
    `${server} did not respond like a Tatami server with login support (${error.message}). Check its address.`,
    exitCodes.failed,
    terms,
  );
}
