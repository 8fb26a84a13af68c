// Asks the writes of a proposal again at the door, into a fresh staging: with the ids that they made, by the rights of now.
import { Staging, stagedCharsMax, type AskedWrite, type StagedWrite } from '../changes/staging.ts';
import type { Change } from '../changes/change.ts';
import type { Context } from '../context.ts';
import type { App, Caller } from '../http/app.ts';
import type { Principal } from '../http/principal.ts';
import type { ValueCall } from '../http/values.ts';
import { ApiError } from '../lib/errors.ts';
import { Shares } from '../lib/fairness/shares.ts';
import type { Op } from '../store/store.ts';
import type { Proposal } from './kind.ts';

/** What came of asking again; of a refusal, nothing is kept. */
export type AskedAgain =
  | {
      readonly refusal: null;
      readonly writes: readonly StagedWrite[];
      /** What they come to, one change for each object. */
      readonly changes: readonly Change[];
      readonly ops: readonly Op[];
    }
  | { readonly refusal: ApiError };

/** How the writes of one source of proposals are asked again. */
export interface Source {
  ask(ctx: Context, proposal: Proposal, writes: readonly AskedWrite[]): Promise<AskedAgain>;
  /** What it would ask for now, where the state that it saw has moved. */
  anew(ctx: Context, proposal: Proposal, writes: readonly AskedWrite[]): Promise<AskedAgain>;
  /** Changes beside the writes, for the commit that approves a whole proposal. */
  approved?(ctx: Context, proposal: Proposal): Promise<readonly Change[]>;
}

/** Asks one write. @returns why it is refused; null where it is staged */
export type Ask = (write: AskedWrite, staged: Staging) => Promise<ApiError | null>;

const room = new Shares(stagedCharsMax);

/** @param owner whose room it takes: an install, a token */
export async function askAll(
  workspaceId: string,
  owner: string,
  writes: readonly AskedWrite[],
  ask: Ask,
): Promise<AskedAgain> {
  const staged = new Staging(room, workspaceId, owner, { takesOps: true });
  try {
    for (const write of writes) {
      const refusal = await ask(write, staged);
      if (refusal) return { refusal };
    }
    const { changes, writes: made } = staged;
    return { refusal: null, writes: made, changes, ops: made.flatMap(({ ops }) => ops) };
  } finally {
    staged.release();
  }
}

/** The input of a write of the API, as it was recorded. */
type RecordedInput = Partial<
  Readonly<Record<'params' | 'query', Readonly<Record<string, string>>>> & {
    body: unknown;
    ifMatch: number | null;
  }
>;

/** Whose rights a write is asked by, what caused it, and where it is staged. */
type AskedAs = Pick<ValueCall, 'principal' | 'cause' | 'staged'>;

/** Asks writes of the API at the door. */
export function createDoorAsk(app: () => App) {
  let call: Caller<null> | undefined;
  return async ({ operation, input, ids }: AskedWrite, as: AskedAs): Promise<ApiError | null> => {
    const route = app().routes.find(({ name }) => name === operation);
    // A proposal outlives the version that made it.
    if (!route) return new ApiError('conflict', `This version of Tatami has no operation ${operation}.`);
    call ??= app().caller(() => ({ taken: null, bytes: 0 }));
    const { params = {}, query = {}, body, ifMatch = null } = input as RecordedInput;
    const given = body === undefined ? {} : { body };
    const { error } = await call(route, { ...as, params, query, ...given, ifMatch, ids, isCounted: false });
    return error;
  };
}

/** Whoever acts in a context, as a caller of the door. */
export function principalIn({ scope, actor, authority, scopes, narrowed, standing }: Context): Principal {
  return {
    ...{ scope, actor, authority, scopes, narrowed },
    ...(standing ? { standing } : {}),
    tokenId: authority.actor.id,
  };
}

/** The writes of a request, asked by whoever approves and in the name of whoever proposed. */
export function sourceOfRequests(app: () => App): Source {
  const askAtDoor = createDoorAsk(app);
  const ask: Source['ask'] = (ctx, { actor, cause }, writes) => {
    const principal: Principal = { ...principalIn(ctx), actor };
    return askAll(ctx.workspaceId, ctx.actor.id, writes, (write, staged) =>
      askAtDoor(write, { principal, cause, staged }),
    );
  };
  return { ask, anew: ask };
}
