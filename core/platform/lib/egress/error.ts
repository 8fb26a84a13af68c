/**
 * Errors of outgoing requests, with stable codes. Messages address the person who registered the URL or runs the server; they never
 * quote a response.
 */

export type EgressErrorCode =
  /** The URL is invalid or ambiguous. */
  | 'bad_url'
  /** A header or the body of the request cannot be sent. */
  | 'bad_request'
  /** An address of the host is neither public nor on the allow-list, or the port is the server's own. */
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  /** The request body exceeds the cap; a response that is too large is truncated instead. */
  | 'too_large'
  /** The peer sent something other than a complete HTTP/1.1 response. */
  | 'protocol'
  | 'aborted';

export class EgressError extends Error {
  readonly code: EgressErrorCode;
  /** True if bytes of the request may have reached the peer, so that a retry may duplicate the request. */
  readonly sent: boolean;

  constructor(code: EgressErrorCode, message: string, options: { sent?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EgressError';
    this.code = code;
    this.sent = options.sent ?? false;
  }
}
