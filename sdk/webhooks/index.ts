/** `@tatami/sdk/webhooks`: verify a delivery and get a typed event. No dependency; Node, Bun, Deno and workers. */
export { WebhookVerificationError, type WebhookVerificationCode } from './error.ts';
export { EVENT_TYPES, type EventType } from './event-types.ts';
export type { Actor, Cause, Envelope, IssueData, IssueEventType, ObjectData, WebhookEvent } from './event.ts';
export { verify, type VerifyOptions } from './verify.ts';
