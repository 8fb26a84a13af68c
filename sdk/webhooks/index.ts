/**
 * `@tatami/sdk/webhooks`: verifies a delivery and returns a typed event. No dependencies; runs in Node, Bun, Deno and
 * workers.
 */
export { WebhookVerificationError, type WebhookVerificationCode } from './error.ts';
export { EVENT_TYPES } from '../generated/events.ts';
export type * from '../generated/index.ts';
export type {
  Actor,
  Cause,
  Delivered,
  Envelope,
  IssueData,
  IssueEventType,
  ObjectData,
  TruncatedData,
  WebhookEvent,
} from './event.ts';
export { verify, type VerifyOptions } from './verify.ts';
