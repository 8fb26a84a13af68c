/** Reasons for rejecting a delivery. Respond to each with 401. */
export type WebhookVerificationCode =
  /** The header does not have the form `v1=<hex>,t=<seconds>`. */
  | 'malformed_header'
  /** No `v1` entry matches any secret: wrong secret, or altered body or time. */
  | 'signature_mismatch'
  /** Authentic, but older than the tolerance: a replay, or a receiver clock that runs ahead. */
  | 'timestamp_too_old'
  /** Authentic, but further in the future than the tolerance. */
  | 'timestamp_too_new'
  /** Authentic, but not a JSON event. */
  | 'malformed_payload';

export class WebhookVerificationError extends Error {
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}
