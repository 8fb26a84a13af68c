/** `@tatami/sdk` and `@tatami/sdk/client`: every operation of the API as a typed method, and the stream of events. */
import type { Operations } from '../types/operations.ts';
import { createCall, type Call, type ClientOptions } from './call.ts';
import { operationsOf } from './operations.ts';

export type { Page } from '../page.ts';
export type * from '../types/index.ts';
export type { Actor, Cause, Envelope, TatamiEvent } from '../webhooks/event.ts';
export type { Call, ClientOptions, Method } from './call.ts';
export { ApiCallError } from './error.ts';
export type { CallErrorCode, CallErrorDetail } from './error.ts';
export type { List } from './list.ts';
export type { CallOptions, ChangeOptions, Signal, WriteOptions } from './options.ts';
export { streamEvents } from './stream.ts';
export type { StreamedEvent, StreamOptions } from './stream.ts';

export interface Client extends Operations {
  readonly call: Call;
}

/** @throws ApiCallError from its methods, by rejection */
export function createClient(options: ClientOptions): Client {
  const call = createCall(options);
  return { ...operationsOf(call), call };
}
