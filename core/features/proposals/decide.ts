// Decisions on proposals. Approved writes are replayed and committed together with the decision, but only if
// their effects equal those of the reviewed diff. docs/decisions/0059.
import { withoutCommit, type Change, type ChangeSet } from '../../kernel/changes/change.ts';
import type { Committer } from '../../kernel/changes/commit.ts';
import { getEntity, requireVersion } from '../../kernel/changes/operations.ts';
import type { RequestedWrite } from '../../kernel/changes/staging.ts';
import type { Context } from '../../kernel/context.ts';
import type { Cause } from '../../kernel/events/event.ts';
import { authorityGuards } from '../me/index.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { archiveItemsAbout } from '../inbox/index.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { requirePerson } from '../../kernel/rights/rights.ts';
import type { Op, Scope } from '../../platform/store/store.ts';
import type { ReplayOutcome, Source } from './replay.ts';
import { diffOf, isSameDiff } from './diff.ts';
import { nameOfProposer, proposerOf, proposerRights } from './reactions.ts';
import { proposalModel, showWhole, type StoredEffect, type Proposal } from './model.ts';
import { contentOf, makingIn, targetOf, openWrites } from './make.ts';

export interface Deciding {
  readonly committer: Committer;
  readonly sources: Readonly<Record<Proposal['source'], Source>>;
  /** Returns operations that store the changes of an approval for its undo. */
  readonly storeForUndo: (
    scope: Scope,
    proposalId: string,
    changes: readonly Change[],
    of: UndoOrigin,
  ) => readonly Op[];
}

interface UndoOrigin {
  /** Id of the plugin install; null for an API request. */
  readonly installId: string | null;
  readonly cause: Cause;
  readonly nowMs: number;
}

export interface Approval {
  /** Ids of the approved effects; all effects if absent. */
  readonly effects?: readonly string[];
  /** Revision that the approver reviewed; the first if absent. */
  readonly revision?: number;
}

type Again = Extract<ReplayOutcome, { refusal: null }>;

/** Proposal to decide on, with the required version; null for any version. */
interface DecisionTarget {
  readonly id: string;
  readonly ifMatch: number | null;
}

/** @throws ApiError not_found, precondition_failed; conflict for a decided or expired proposal */
async function findOpen(ctx: Context, { id, ifMatch }: DecisionTarget): Promise<Proposal> {
  const proposal = await getEntity(ctx, proposalModel, id);
  requireVersion(proposal, ifMatch);
  const status =
    proposal.status === 'open' && proposal.expiresAt <= ctx.nowMs() ? 'expired' : proposal.status;
  if (status === 'open') return proposal;
  throw new ApiError(
    'conflict',
    `This proposal is ${status.replace('_', ' ')} and accepts no more decisions. Propose further changes in a new proposal.`,
  );
}

/**
 * Nobody may approve their own proposal. Exception: a signed-in member may approve proposals that an app or a
 * key made on their behalf, because these exist for the member to review.
 * @throws ApiError forbidden
 */
function requireAnother({ actor: author }: Proposal, { actor }: Context): void {
  const isPerson = actor.kind === 'user' && (author.kind === 'app' || author.kind === 'api_key');
  const isSame =
    author.id === actor.id || (author.memberId !== undefined && author.memberId === actor.memberId);
  if (!isSame || isPerson) return;
  const first =
    author.kind === 'app' || author.kind === 'api_key' ? 'Sign in and open the proposal, or ask' : 'Ask';
  throw new ApiError('forbidden', `You cannot approve your own proposal. ${first} another approver.`);
}

/**
 * Returns the indexes of the writes with the chosen effects.
 * @throws ApiError validation_failed for unknown effects, and for a part of the effects of one write
 */
export function chosenWrites({ diff }: Proposal, ids: readonly string[] | undefined): ReadonlySet<number> {
  if (ids === undefined) return new Set(diff.map(({ write }) => write));
  const unknown = ids.findIndex((id) => !diff.some((effect) => effect.id === id));
  if (unknown >= 0)
    throw invalidField(
      `effects.${unknown}`,
      'not_found',
      `Use ids of the effects of this proposal: ${diff.map(({ id }) => id).join(', ')}.`,
    );
  const chosen = new Set(diff.filter(({ id }) => ids.includes(id)).map(({ write }) => write));
  const left = diff.find(({ id, write }) => chosen.has(write) && !ids.includes(id));
  if (left)
    throw invalidField(
      'effects',
      'conflict',
      `Add effect ${left.id}: it belongs to the same write as an effect you named.`,
    );
  return chosen;
}

/**
 * Returns the chosen writes, and those without effects (writes of the plugin's own values), which are always
 * applied.
 */
function partOf(
  writes: readonly RequestedWrite[],
  { diff }: Proposal,
  chosen: ReadonlySet<number>,
): RequestedWrite[] {
  const displayed = new Set(diff.map(({ write }) => write));
  return writes.filter((_, at) => chosen.has(at) || !displayed.has(at));
}

const movesSame = (a: StoredEffect, b: StoredEffect): boolean =>
  a.entityId === b.entityId && Object.keys(a.values).some((name) => name in b.values);

/** @throws ApiError validation_failed for effects that depend on effects that were not chosen */
function requireGrounds(
  writes: readonly RequestedWrite[],
  { diff }: Proposal,
  chosen: ReadonlySet<number>,
): void {
  for (const at of chosen) {
    const text = JSON.stringify(writes[at]!.input);
    const own = diff.filter(({ write }) => write === at);
    const ground = diff.find(
      (earlier) =>
        earlier.write < at &&
        !chosen.has(earlier.write) &&
        ((earlier.baseVersion === null && text.includes(`"${earlier.entityId}"`)) ||
          own.some((effect) => movesSame(earlier, effect))),
    );
    const [effect] = own;
    if (ground)
      throw invalidField(
        'effects',
        'conflict',
        `Add effect ${ground.id}: effect ${effect?.id} depends on it.`,
      );
  }
}

/** Returns true if the approver lacks a permission or a recent sign-in, and false if the change is impossible. */
const isDenied = ({ code }: ApiError): boolean =>
  code === 'insufficient_scope' || code === 'forbidden' || code === 'recent_sign_in_required';

/**
 * Approved changes are attributed to the proposer, whose credential must therefore still be valid.
 * @throws ApiError forbidden if the key, the grant or the membership has ended
 */
async function requireProposer(ctx: Context, proposal: Proposal): Promise<void> {
  if (proposal.source === 'plugin_run') return;
  if ((await proposerRights(ctx, proposal)) === null)
    throw new ApiError(
      'forbidden',
      `${nameOfProposer(proposal)} no longer has write access to this workspace. Reject the proposal, and make the change yourself if you still want it.`,
    );
}

export async function approve(
  ctx: Context,
  target: DecisionTarget,
  { effects, revision = 1 }: Approval,
  deciding: Deciding,
): Promise<ChangeSet> {
  requirePerson(ctx, 'approve proposals');
  const proposal = await findOpen(ctx, target);
  requireAnother(proposal, ctx);
  if (revision !== proposal.revision)
    throw new ApiError(
      'conflict',
      `The proposal is at revision ${proposal.revision}. Review it, and approve that revision.`,
    );
  await requireProposer(ctx, proposal);
  const chosen = chosenWrites(proposal, effects);
  const writes = openWrites(ctx.sealing, ctx.workspaceId, proposal);
  requireGrounds(writes, proposal, chosen);
  const since = ctx.nowMs();
  const again = await deciding.sources[proposal.source].ask(ctx, proposal, partOf(writes, proposal, chosen));
  if (again.refusal && isDenied(again.refusal)) throw again.refusal;
  const displayed = proposal.diff.filter(({ write }) => chosen.has(write));
  if (again.refusal || !isSameDiff(displayed, diffNow(ctx, again, since, deciding)))
    return moved(ctx, proposal, writes, deciding);
  return approved(ctx, proposal, chosen, again, deciding);
}

function diffNow(ctx: Context, { writes }: Again, since: number, { committer }: Deciding): StoredEffect[] {
  const planned = { since, until: ctx.nowMs() };
  return diffOf(writes, { committer, directory: ctx.directory, planned });
}

/**
 * Returns one change set with the effects, whose actor is the proposer, and the decision, whose actor is the
 * approver.
 */
async function approved(
  ctx: Context,
  proposal: Proposal,
  chosen: ReadonlySet<number>,
  again: Again,
  { storeForUndo, sources }: Deciding,
): Promise<ChangeSet> {
  const now = ctx.nowMs();
  const attributed = again.changes.map((change) => inNameOf(ctx, proposal, change));
  const diff = proposal.diff.map((effect) => ({
    ...effect,
    decision: chosen.has(effect.write) ? ('approved' as const) : ('rejected' as const),
  }));
  const isWhole = diff.every(({ decision }) => decision === 'approved');
  const events = attributed.flatMap((one) => one.events);
  const decision = proposalModel.update(
    proposal,
    {
      status: isWhole ? 'approved' : 'partly_approved',
      diff,
      ...authorOf(ctx, 'decidedBy'),
      decidedAt: now,
      events,
    },
    now,
  )!;
  const items = await archiveItemsAbout(ctx, targetOf(proposal));
  const beside = isWhole ? ((await sources[proposal.source].approved?.(ctx, proposal)) ?? []) : [];
  const origin = { installId: proposal.installId, cause: proposal.cause ?? begunBy(events), nowMs: now };
  return {
    changes: [
      ...attributed.map(({ change }) => change),
      { ...decision, ...causeOf(proposal) },
      ...beside,
      ...items,
    ],
    ops: [
      ...authorityGuards(ctx.scope, proposerOf(proposal), now),
      ...again.ops,
      ...storeForUndo(ctx.scope, proposal.id, again.changes, origin),
    ],
    body: showWhole(decision.after, ctx),
  };
}

/**
 * Attributes a change to the proposer.
 * @returns the change, and the ids of its events, which the decision lists
 */
function inNameOf(ctx: Context, proposal: Proposal, change: Change) {
  const events = change
    .events(withoutCommit(ctx))
    .map(({ id = ctx.ids.next(idPrefixes.event), type }) => ({ id, type }));
  return {
    events,
    change: {
      ...change,
      actor: proposal.actor,
      ...causeOf(proposal),
      events: (view: Parameters<Change['events']>[0]) =>
        change.events(view).map((draft, at) => ({ ...draft, id: events[at]!.id })),
    },
  };
}

/** Requests have no earlier cause, so an undo refers to the first event of the approval as root cause. */
function begunBy(events: readonly { readonly id: string }[]): Cause {
  return { rootEventId: events[0]?.id ?? null, parentRunId: null, depth: 0, path: [] };
}

function causeOf({ cause }: Proposal) {
  return cause ? { cause } : {};
}

/** Commits the recalculated diff for another review, and fails the approval with `conflict`. */
async function moved(
  ctx: Context,
  proposal: Proposal,
  writes: readonly RequestedWrite[],
  deciding: Deciding,
): Promise<ChangeSet> {
  const { change, isOver } = await renewed(ctx, proposal, writes, deciding);
  const said = isOver
    ? 'The data has changed and nothing is left to do, so the proposal was closed. No decision is needed.'
    : `The data has changed since the proposal was made. Review revision ${proposal.revision + 1}, which shows the new effects.`;
  return {
    changes: [],
    ops: [],
    body: showWhole(change.after, ctx),
    async beforeCommit() {
      const items = isOver ? await archiveItemsAbout(ctx, targetOf(proposal)) : [];
      await deciding.committer.commit(ctx, [change, ...items]);
      throw new ApiError('conflict', said);
    },
  };
}

/** @throws ApiError conflict if the effects cannot be recalculated */
async function renewed(
  ctx: Context,
  proposal: Proposal,
  writes: readonly RequestedWrite[],
  deciding: Deciding,
) {
  const since = ctx.nowMs();
  const again = await deciding.sources[proposal.source].anew(ctx, proposal, writes);
  if (again.refusal)
    throw isDenied(again.refusal)
      ? again.refusal
      : new ApiError(
          'conflict',
          `The proposal can no longer be applied: ${again.refusal.message} Reject the proposal.`,
        );
  const diff = diffNow(ctx, again, since, deciding);
  const now = ctx.nowMs();
  const isOver = diff.length === 0;
  const patch = isOver
    ? { status: 'rejected' as const, reason: 'Nothing is left to change.', decidedAt: now }
    : {
        ...contentOf(again.writes, diff, { making: makingIn(ctx), id: proposal.id, actor: proposal.actor }),
        revision: proposal.revision + 1,
      };
  const change = proposalModel.update(proposal, patch, now)!;
  return { isOver, change: { ...change, actor: proposal.actor, ...causeOf(proposal) } };
}

/** Recalculates the effects against the current state, for another review. */
export async function rerun(ctx: Context, target: DecisionTarget, deciding: Deciding): Promise<ChangeSet> {
  requirePerson(ctx, 'run proposals again');
  const proposal = await findOpen(ctx, target);
  await requireProposer(ctx, proposal);
  const writes = openWrites(ctx.sealing, ctx.workspaceId, proposal);
  const { change, isOver } = await renewed(ctx, proposal, writes, deciding);
  const items = isOver ? await archiveItemsAbout(ctx, targetOf(proposal)) : [];
  return { changes: [change, ...items], body: showWhole(change.after, ctx) };
}

export async function reject(ctx: Context, target: DecisionTarget, reason: string): Promise<ChangeSet> {
  requirePerson(ctx, 'reject proposals');
  const proposal = await findOpen(ctx, target);
  const now = ctx.nowMs();
  const diff = proposal.diff.map((effect) => ({ ...effect, decision: 'rejected' as const }));
  const decided = {
    status: 'rejected' as const,
    reason,
    diff,
    ...authorOf(ctx, 'decidedBy'),
    decidedAt: now,
  };
  const change = proposalModel.update(proposal, decided, now)!;
  return {
    changes: [{ ...change, ...causeOf(proposal) }, ...(await archiveItemsAbout(ctx, targetOf(proposal)))],
    body: showWhole(change.after, ctx),
  };
}
