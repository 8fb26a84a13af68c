// What commands use of this feature without a server: small modules that a command loads quickly.
export { attempt } from './attempt.ts';
export { payloadOfEvent, type WebhookMessage } from './payload.ts';
export { isSigningSecret } from './signature.ts';
