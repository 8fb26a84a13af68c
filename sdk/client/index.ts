/** `@tatami/sdk` and `@tatami/sdk/client`: every operation of the API as a typed method, and the event stream. */
import type { EventPattern } from '../generated/events.ts';
import type { IssueCreated } from '../generated/issues.ts';
import type { Operations } from '../generated/operations.ts';
import { createCall, type Call, type ClientOptions } from './call.ts';
import { operationsOf } from './operations.ts';
import type { WriteOptions } from './options.ts';
import { worded, type NewIssue } from './priority.ts';
import { streamEvents, type StreamedEvent, type StreamOptions } from './stream.ts';

export type { Page } from '../page.ts';
export type * from '../generated/index.ts';
export type { Actor, Cause, Envelope, TatamiEvent } from '../webhooks/event.ts';
export type { Call, ClientOptions, Method } from './call.ts';
export { ApiCallError } from './error.ts';
export type { CallErrorCode, CallErrorDetail } from './error.ts';
export type { List } from './list.ts';
export type { NewIssue } from './priority.ts';
export type { CallOptions, ChangeOptions, Signal, WriteOptions } from './options.ts';
export type { StreamedEvent, StreamOptions } from './stream.ts';
export type { Token } from './token.ts';
export { streamEvents };

/** `streamEvents` with the server and the token of the client. */
export interface ListenOptions extends Omit<StreamOptions, 'server' | 'token' | 'types'> {
  readonly types?: readonly EventPattern[] | undefined;
}

export interface Client extends Omit<Operations, 'issues'> {
  readonly issues: Omit<Operations['issues'], 'create'> & {
    /** Create an issue. */
    create(body: NewIssue, options?: WriteOptions): Promise<IssueCreated>;
  };
  readonly call: Call;
  /** Streams new events, across restarts of the server and broken connections. @throws ApiCallError */
  stream(options?: ListenOptions): AsyncIterable<StreamedEvent>;
}

/** @throws ApiCallError as rejection of its methods */
export function createClient(options: ClientOptions): Client {
  const { server, token } = options;
  const call = createCall(options);
  const operations = operationsOf(call);
  const { create } = operations.issues;
  return {
    ...operations,
    issues: { ...operations.issues, create: (body, how) => create(worded(body), how) },
    call,
    stream: (how) => streamEvents({ ...how, server, token }),
  };
}
