// Exports for commands that work without a server: small modules that load quickly.

export { attempt } from './attempt.ts';
export { payloadOfEvent, type WebhookMessage } from './payload.ts';
export { isSigningSecret } from './signature.ts';
