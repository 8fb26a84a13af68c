/**
 * What can go wrong on the way out, as one class with a stable code. Messages are written for the person who registered
 * the URL or runs the server, and name the fix where there is one; they never quote a response.
 */

export type EgressErrorCode =
  /** The URL is not one we can read in exactly one way. */
  | 'bad_url'
  /** A header or the body of our own request cannot be sent as asked. */
  | 'bad_request'
  /** An address of the host is not public and not on the allow-list, or is our own listening port. */
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  /** Our own body is over the cap; a response that is too large is cut instead. */
  | 'too_large'
  /** The peer answered with something that is not a whole HTTP/1.1 response. */
  | 'protocol'
  | 'aborted';

export class EgressError extends Error {
  readonly code: EgressErrorCode;
  /** True when bytes of the request may have reached the peer: a repeat may then be seen twice. */
  readonly sent: boolean;

  constructor(code: EgressErrorCode, message: string, options: { sent?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EgressError';
    this.code = code;
    this.sent = options.sent ?? false;
  }
}
