// An agent as a caller of the API: each of its calls enters by the door for values, under its own rights and limits.
import type { App } from '../http/app.ts';
import type { Principal } from '../http/principal.ts';
import type { Arrival } from '../http/route.ts';
import type { Outcome, Take, ValueCall } from '../http/values.ts';
import { ApiError } from '../lib/errors.ts';
import { createHold } from './hold.ts';

/** What a call takes beside who makes it. */
export type Given = Partial<
  Pick<ValueCall, 'params' | 'query' | 'body' | 'ifMatch' | 'idempotencyKey' | 'traceparent'>
>;

/** An answer as JSON holds it; null for none. */
export interface Answered {
  readonly status: number;
  readonly json: Json;
}
export type Json = Readonly<Record<string, unknown>>;

export interface Agent {
  readonly principal: Principal;
  /** Reads the rights of the token anew. To be called after every wait. @throws ApiError unauthorized where the token has ended */
  refresh(): Promise<void>;
  /** Whether it may call an operation at all. */
  may(operation: string): boolean;
  /** Calls an operation. A write that is guarded answers 202 with the proposal that it became. @throws Refused */
  ask(operation: string, given?: Given): Promise<Answered>;
}

/** A call that was refused, and the request that the log knows it by. */
export class Refused extends Error {
  readonly error: ApiError;
  readonly requestId: string;

  constructor(error: ApiError, requestId: string) {
    super(error.message, { cause: error });
    this.error = error;
    this.requestId = requestId;
  }
}

const asText: Take<string | null> = (body) => {
  const text = body === undefined ? null : JSON.stringify(body);
  return { taken: text, bytes: text?.length ?? 0 };
};

export function createAgents(app: App): (principal: Principal, identify: Arrival['identify']) => Agent {
  const call = app.caller(asText);
  return (first, identify) => {
    let principal = first;
    let hold = createHold(principal);
    return {
      get principal() {
        return principal;
      },
      async refresh() {
        const now = await identify();
        if (!now) throw new ApiError('unauthorized', 'The access token has expired or was revoked.');
        principal = now;
        hold = createHold(principal);
      },
      may(operation) {
        const { scope } = app.route(operation);
        return scope === null || principal.scopes.has(scope) || (principal.narrowed?.has(scope) ?? false);
      },
      async ask(operation, given = {}) {
        const outcome: Outcome<string | null> = await call(app.route(operation), {
          params: {},
          ...given,
          principal,
          isCounted: true,
          hold,
        });
        if (outcome.error) throw new Refused(outcome.error, outcome.requestId);
        const { status, body } = outcome;
        return { status, json: body === null ? {} : (JSON.parse(body) as Json) };
      },
    };
  };
}
