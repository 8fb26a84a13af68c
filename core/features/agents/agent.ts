// Calls API operations in process for an agent, with the rights and rate limits of its token.
import type { App } from '../../kernel/http/app.ts';
import type { Principal } from '../../kernel/http/principal.ts';
import type { RawRequest } from '../../kernel/http/route.ts';
import type { Outcome, Take, ValueCall } from '../../kernel/http/values.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { createApprovalCheck } from './approval-check.ts';

export type CallInput = Partial<
  Pick<ValueCall, 'params' | 'query' | 'body' | 'ifMatch' | 'idempotencyKey' | 'traceparent'>
>;

/** Response of a call; `json` is an empty object if there is no body. */
export interface Answered {
  readonly status: number;
  readonly json: Json;
}
export type Json = Readonly<Record<string, unknown>>;

export interface Agent {
  readonly principal: Principal;
  /**
   * Looks up the current rights of the token. Must be called after every wait.
   * @throws ApiError unauthorized if the token has ended
   */
  refresh(): Promise<void>;
  /** Returns true if the agent has the scope of an operation, in full or narrowed. */
  may(operation: string): boolean;
  /**
   * Calls an operation. The response of a guarded write has status 202 and the proposal.
   * @throws Refused
   */
  ask(operation: string, input?: CallInput): Promise<Answered>;
}

/** API error of a call. `requestId` identifies the call in the log. */
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

export function createAgents(app: App): (principal: Principal, identify: RawRequest['identify']) => Agent {
  const call = app.caller(asText);
  return (first, identify) => {
    let principal = first;
    let hold = createApprovalCheck(principal);
    return {
      get principal() {
        return principal;
      },
      async refresh() {
        const now = await identify();
        if (!now)
          throw new ApiError(
            'unauthorized',
            'The access token has expired or was revoked. Request a new one.',
          );
        principal = now;
        hold = createApprovalCheck(principal);
      },
      may(operation) {
        const { scope } = app.route(operation);
        return scope === null || principal.scopes.has(scope) || (principal.narrowed?.has(scope) ?? false);
      },
      async ask(operation, input = {}) {
        const outcome: Outcome<string | null> = await call(app.route(operation), {
          params: {},
          ...input,
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
