/** Why a delivery was not accepted. Answer 401 to every one of them. */
export type WebhookVerificationCode =
  /** The header is not of the form `v1=<hex>,t=<seconds>`. */
  | 'malformed_header'
  /** No `v1` entry matches any secret: another secret, or an altered body or time. */
  | 'signature_mismatch'
  /** Authentic, but older than the tolerance: a replay, or a clock that runs ahead. */
  | 'timestamp_too_old'
  /** Authentic, but from further in the future than the tolerance. */
  | 'timestamp_too_new'
  /** Authentic, but no JSON event. */
  | 'malformed_payload';

export class WebhookVerificationError extends Error {
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}
