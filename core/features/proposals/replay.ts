// Replays the writes of a proposal into a new staging, with the ids of the first run and with current
// permissions.
import {
  Staging,
  stagedCharsMax,
  type RequestedWrite,
  type StagedWrite,
} from '../../kernel/changes/staging.ts';
import type { Change } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import type { App, Caller } from '../../kernel/http/app.ts';
import type { Principal } from '../../kernel/http/principal.ts';
import type { ValueCall } from '../../kernel/http/values.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { FairQuota } from '../../platform/lib/fairness/fair-quota.ts';
import type { Op } from '../../platform/store/store.ts';
import type { Proposal } from './model.ts';

/** Result of a replay. A refusal discards all staged writes. */
export type ReplayOutcome =
  | {
      readonly refusal: null;
      readonly writes: readonly StagedWrite[];
      /** Resulting changes, one per object. */
      readonly changes: readonly Change[];
      readonly ops: readonly Op[];
    }
  | { readonly refusal: ApiError };

/** Replays the writes of one source of proposals: API requests or plugin runs. */
export interface Source {
  ask(ctx: Context, proposal: Proposal, writes: readonly RequestedWrite[]): Promise<ReplayOutcome>;
  /** Recalculates the writes against the current state. */
  anew(ctx: Context, proposal: Proposal, writes: readonly RequestedWrite[]): Promise<ReplayOutcome>;
  /** Returns further changes for the commit that approves all effects of a proposal. */
  approved?(ctx: Context, proposal: Proposal): Promise<readonly Change[]>;
}

/**
 * Executes one write.
 * @returns the refusal; null if the write is staged
 */
type Ask = (write: RequestedWrite, staged: Staging) => Promise<ApiError | null>;

const quota = new FairQuota(stagedCharsMax);

/** @param owner account charged for the staged data: a plugin install or a token */
export async function askAll(
  workspaceId: string,
  owner: string,
  writes: readonly RequestedWrite[],
  ask: Ask,
): Promise<ReplayOutcome> {
  const staged = new Staging(quota, workspaceId, owner, { takesOps: true });
  try {
    for (const write of writes) {
      const refusal = await ask(write, staged);
      if (refusal) return { refusal };
    }
    const { changes, writes: stagedWrites } = staged;
    return { refusal: null, writes: stagedWrites, changes, ops: stagedWrites.flatMap(({ ops }) => ops) };
  } finally {
    staged.release();
  }
}

/** Input of an API write, as recorded in the proposal. */
type RecordedInput = Partial<
  Readonly<Record<'params' | 'query', Readonly<Record<string, string>>>> & {
    body: unknown;
    ifMatch: number | null;
  }
>;

/** Permissions, cause and staging of a replayed write. */
type ReplayContext = Pick<ValueCall, 'principal' | 'cause' | 'staged'>;

/** Returns a function that executes recorded API writes through the in-process route caller. */
export function createWriteReplay(app: () => App) {
  let call: Caller<null> | undefined;
  return async ({ operation, input, ids }: RequestedWrite, as: ReplayContext): Promise<ApiError | null> => {
    const route = app().routes.find(({ name }) => name === operation);
    // Proposals can be older than this version of the server.
    if (!route) return new ApiError('conflict', `This version of Tatami has no operation ${operation}.`);
    call ??= app().caller(() => ({ taken: null, bytes: 0 }));
    const { params = {}, query = {}, body, ifMatch = null } = input as RecordedInput;
    const bodyInput = body === undefined ? {} : { body };
    const { error } = await call(route, {
      ...as,
      params,
      query,
      ...bodyInput,
      ifMatch,
      ids,
      isCounted: false,
    });
    return error;
  };
}

/** Returns the principal of a context for the in-process route caller. */
export function principalIn(ctx: Context): Principal {
  const { scope, actor, authority, scopes, narrowed, membership, session } = ctx;
  return {
    scope,
    actor,
    authority,
    scopes,
    narrowed,
    ...(membership ? { membership } : {}),
    ...(session ? { session } : {}),
    tokenId: authority.actor.id,
  };
}

/** Replays API writes with the permissions of the approver and the proposer as actor. */
export function sourceOfRequests(app: () => App): Source {
  const replayWrite = createWriteReplay(app);
  const askAs = (
    ctx: Context,
    principal: Principal,
    { cause }: Proposal,
    writes: readonly RequestedWrite[],
  ): Promise<ReplayOutcome> =>
    askAll(ctx.workspaceId, ctx.actor.id, writes, (write, staged) =>
      replayWrite(write, { principal, cause, staged }),
    );
  return {
    ask: (ctx, proposal, writes) =>
      askAs(ctx, { ...principalIn(ctx), actor: proposal.actor }, proposal, writes),
    anew(ctx, proposal, writes) {
      // The recalculated effects need another approval, which needs a recent sign-in, so this needs none.
      const { session: _, ...principal } = principalIn(ctx);
      return askAs(ctx, { ...principal, actor: proposal.actor }, proposal, writes);
    },
  };
}
