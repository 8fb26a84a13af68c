// Decides on proposals. What is approved is asked again at the door and commits together with the decision, and only where it does
// exactly what was shown. docs/decisions/0059.
import { withoutCommit, type Change, type ChangeSet } from '../changes/change.ts';
import type { Committer } from '../changes/commit.ts';
import { getEntity, requireVersion } from '../changes/operations.ts';
import type { AskedWrite } from '../changes/staging.ts';
import type { Context } from '../context.ts';
import type { Cause } from '../events/origin.ts';
import { authorityGuards } from '../identity/rights-now.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import { idPrefixes } from '../lib/ids.ts';
import { archiveItemsAbout } from '../inbox/about.ts';
import { authorOf } from '../resource/author.ts';
import { requirePerson } from '../rights/person.ts';
import type { Op, Scope } from '../store/store.ts';
import type { AskedAgain, Source } from './again.ts';
import { diffOf, isSameDiff } from './diff.ts';
import { nameOfProposer, proposerOf, proposerRights } from './ends.ts';
import { proposalKind, showWhole, type KeptEffect, type Proposal } from './kind.ts';
import { contentOf, makingIn, targetOf } from './make.ts';
import { openWrites } from './writes.ts';

export interface Deciding {
  readonly committer: Pick<Committer, 'preview' | 'commit'>;
  readonly sources: Readonly<Record<Proposal['source'], Source>>;
  /** Keeps what an approval changes, for its undo. */
  readonly keep: (scope: Scope, proposalId: string, changes: readonly Change[], of: Kept) => readonly Op[];
}

interface Kept {
  /** Null of a request. */
  readonly installId: string | null;
  readonly cause: Cause;
  readonly nowMs: number;
}

export interface Approval {
  /** Ids of effects; absent: all. */
  readonly effects?: readonly string[];
  /** The one that was looked at; absent: the first. */
  readonly revision?: number;
}

type Again = Extract<AskedAgain, { refusal: null }>;

/** Which proposal is decided on, and the version that it must have; null for any. */
interface Asked {
  readonly id: string;
  readonly ifMatch: number | null;
}

/** @throws ApiError not_found, precondition_failed, and conflict for one that is decided */
async function findOpen(ctx: Context, { id, ifMatch }: Asked): Promise<Proposal> {
  const found = await getEntity(ctx, proposalKind, id);
  requireVersion(found, ifMatch);
  const status = found.status === 'open' && found.expiresAt <= ctx.nowMs() ? 'expired' : found.status;
  if (status === 'open') return found;
  throw new ApiError('conflict', `This proposal is ${status.replace('_', ' ')}: it takes no more decisions.`);
}

/**
 * A member who is signed in is another than the app or the key that acts for them: it proposes so that they look.
 * @throws ApiError forbidden
 */
function requireAnother({ actor: author }: Proposal, { actor }: Context): void {
  const isPerson = actor.kind === 'user' && (author.kind === 'app' || author.kind === 'api_key');
  const isSame =
    author.id === actor.id || (author.memberId !== undefined && author.memberId === actor.memberId);
  if (!isSame || isPerson) return;
  const first = author.kind === 'app' || author.kind === 'api_key' ? 'sign in and open its page, or ' : '';
  throw new ApiError('forbidden', `Nobody approves what they proposed: ${first}ask another who may approve.`);
}

/** @throws ApiError validation_failed for effects that are not there, or cannot be approved without others */
export function chosenWrites(
  { diff }: Pick<Proposal, 'diff'>,
  ids: readonly string[] | undefined,
): ReadonlySet<number> {
  if (ids === undefined) return new Set(diff.map(({ write }) => write));
  const unknown = ids.findIndex((id) => !diff.some((effect) => effect.id === id));
  if (unknown >= 0)
    throw invalidField(
      `effects.${unknown}`,
      'not_found',
      `Give ids of its effects: ${diff.map(({ id }) => id).join(', ')}.`,
    );
  const chosen = new Set(diff.filter(({ id }) => ids.includes(id)).map(({ write }) => write));
  const left = diff.find(({ id, write }) => chosen.has(write) && !ids.includes(id));
  if (left)
    throw invalidField(
      'effects',
      'conflict',
      `Name effect ${left.id} as well: it comes of the same write as one that you named.`,
    );
  return chosen;
}

/** Of those writes, and the plugin's own values, which go along. */
function partOf(
  writes: readonly AskedWrite[],
  { diff }: Proposal,
  chosen: ReadonlySet<number>,
): AskedWrite[] {
  const shown = new Set(diff.map(({ write }) => write));
  return writes.filter((_, at) => chosen.has(at) || !shown.has(at));
}

const movesSame = (a: KeptEffect, b: KeptEffect): boolean =>
  a.entityId === b.entityId && Object.keys(a.values).some((name) => name in b.values);

/** @throws ApiError for effects that build on others which are left out */
function requireGrounds(
  writes: readonly AskedWrite[],
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
        `Name effect ${ground.id} as well: effect ${effect?.id} builds on it.`,
      );
  }
}

/** Whether the approver may not do it, as opposed to that it cannot be done. */
const isDenied = ({ code }: ApiError): boolean => code === 'insufficient_scope' || code === 'forbidden';

/**
 * What is approved is written in the name of whoever proposed it, so that their credential must still be good.
 * @throws ApiError forbidden where the key, the grant or the membership has ended
 */
async function requireProposer(ctx: Context, found: Proposal): Promise<void> {
  if (found.source === 'plugin_run') return;
  if ((await proposerRights(ctx, found)) === null)
    throw new ApiError(
      'forbidden',
      `${nameOfProposer(found)} may not write here any more. Reject the proposal, and make the change yourself if it is still wanted.`,
    );
}

export async function approve(
  ctx: Context,
  asked: Asked,
  { effects, revision = 1 }: Approval,
  deciding: Deciding,
): Promise<ChangeSet> {
  requirePerson(ctx, 'approve proposals');
  const found = await findOpen(ctx, asked);
  requireAnother(found, ctx);
  if (revision !== found.revision)
    throw new ApiError(
      'conflict',
      `This is revision ${found.revision}: look at it, and give its number with your approval.`,
    );
  await requireProposer(ctx, found);
  const chosen = chosenWrites(found, effects);
  const writes = openWrites(ctx.sealing, ctx.workspaceId, found);
  requireGrounds(writes, found, chosen);
  const since = ctx.nowMs();
  const again = await deciding.sources[found.source].ask(ctx, found, partOf(writes, found, chosen));
  if (again.refusal && isDenied(again.refusal)) throw again.refusal;
  const shown = found.diff.filter(({ write }) => chosen.has(write));
  if (again.refusal || !isSameDiff(shown, diffNow(ctx, again, since, deciding)))
    return moved(ctx, found, writes, deciding);
  return approved(ctx, found, chosen, again, deciding);
}

function diffNow(ctx: Context, { writes }: Again, since: number, { committer }: Deciding): KeptEffect[] {
  const planned = { since, until: ctx.nowMs() };
  return diffOf(writes, { committer, directory: ctx.directory, planned });
}

/** All in one batch: the effects in the name of whoever proposed them, and the decision in that of whoever approves. */
async function approved(
  ctx: Context,
  found: Proposal,
  chosen: ReadonlySet<number>,
  again: Again,
  { keep, sources }: Deciding,
): Promise<ChangeSet> {
  const now = ctx.nowMs();
  const named = again.changes.map((change) => inNameOf(ctx, found, change));
  const diff = found.diff.map((effect) => ({
    ...effect,
    decision: chosen.has(effect.write) ? ('approved' as const) : ('rejected' as const),
  }));
  const isWhole = diff.every(({ decision }) => decision === 'approved');
  const events = named.flatMap((one) => one.events);
  const decision = proposalKind.update(
    found,
    {
      status: isWhole ? 'approved' : 'partly_approved',
      diff,
      ...authorOf(ctx, 'decidedBy'),
      decidedAt: now,
      events,
    },
    now,
  )!;
  const items = await archiveItemsAbout(ctx, targetOf(found));
  const beside = isWhole ? ((await sources[found.source].approved?.(ctx, found)) ?? []) : [];
  const kept = { installId: found.installId, cause: found.cause ?? begunBy(events), nowMs: now };
  return {
    changes: [...named.map(({ change }) => change), { ...decision, ...causeOf(found) }, ...beside, ...items],
    ops: [
      ...authorityGuards(ctx.scope, proposerOf(found), now),
      ...again.ops,
      ...keep(ctx.scope, found.id, again.changes, kept),
    ],
    body: showWhole(decision.after, ctx),
  };
}

/** The change with its author, and the ids of its events, which the decision names. */
function inNameOf(ctx: Context, found: Proposal, change: Change) {
  const events = change
    .events(withoutCommit(ctx))
    .map(({ id = ctx.ids.next(idPrefixes.event), type }) => ({ id, type }));
  return {
    events,
    change: {
      ...change,
      actor: found.actor,
      ...causeOf(found),
      events: (view: Parameters<Change['events']>[0]) =>
        change.events(view).map((draft, at) => ({ ...draft, id: events[at]!.id })),
    },
  };
}

/** What a request proposed has no earlier cause: its undo comes of the first event of its approval. */
function begunBy(events: readonly { readonly id: string }[]): Cause {
  return { rootEventId: events[0]?.id ?? null, parentRunId: null, depth: 0, path: [] };
}

function causeOf({ cause }: Proposal): Pick<Change, 'cause'> {
  return cause ? { cause } : {};
}

/** Nothing is written but the new diff, for another look; the approval is answered `conflict`. */
async function moved(
  ctx: Context,
  found: Proposal,
  writes: readonly AskedWrite[],
  deciding: Deciding,
): Promise<ChangeSet> {
  const { change, isOver } = await renewed(ctx, found, writes, deciding);
  const said = isOver
    ? 'What it was made on has moved, and nothing of it is left to do: it was closed.'
    : `What it was made on has moved. Look at revision ${found.revision + 1}, which shows what it would do now.`;
  return {
    changes: [],
    ops: [],
    body: showWhole(change.after, ctx),
    async beforeCommit() {
      const items = isOver ? await archiveItemsAbout(ctx, targetOf(found)) : [];
      await deciding.committer.commit(ctx, [change, ...items]);
      throw new ApiError('conflict', said);
    },
  };
}

/** @throws ApiError conflict where it cannot be worked out anew */
async function renewed(ctx: Context, found: Proposal, writes: readonly AskedWrite[], deciding: Deciding) {
  const since = ctx.nowMs();
  const again = await deciding.sources[found.source].anew(ctx, found, writes);
  if (again.refusal)
    throw isDenied(again.refusal)
      ? again.refusal
      : new ApiError('conflict', `It cannot be applied any more: ${again.refusal.message} Reject it.`);
  const diff = diffNow(ctx, again, since, deciding);
  const now = ctx.nowMs();
  const isOver = diff.length === 0;
  const patch = isOver
    ? { status: 'rejected' as const, reason: 'Nothing of it is left to do.', decidedAt: now }
    : {
        ...contentOf(again.writes, diff, { making: makingIn(ctx), id: found.id, actor: found.actor }),
        revision: found.revision + 1,
      };
  const change = proposalKind.update(found, patch, now)!;
  return { isOver, change: { ...change, actor: found.actor, ...causeOf(found) } };
}

/** Works it out anew by the state of now. */
export async function rerun(ctx: Context, asked: Asked, deciding: Deciding): Promise<ChangeSet> {
  requirePerson(ctx, 'run proposals again');
  const found = await findOpen(ctx, asked);
  await requireProposer(ctx, found);
  const writes = openWrites(ctx.sealing, ctx.workspaceId, found);
  const { change, isOver } = await renewed(ctx, found, writes, deciding);
  const items = isOver ? await archiveItemsAbout(ctx, targetOf(found)) : [];
  return { changes: [change, ...items], body: showWhole(change.after, ctx) };
}

export async function reject(ctx: Context, asked: Asked, reason: string): Promise<ChangeSet> {
  requirePerson(ctx, 'reject proposals');
  const found = await findOpen(ctx, asked);
  const now = ctx.nowMs();
  const diff = found.diff.map((effect) => ({ ...effect, decision: 'rejected' as const }));
  const decided = {
    status: 'rejected' as const,
    reason,
    diff,
    ...authorOf(ctx, 'decidedBy'),
    decidedAt: now,
  };
  const change = proposalKind.update(found, decided, now)!;
  return {
    changes: [{ ...change, ...causeOf(found) }, ...(await archiveItemsAbout(ctx, targetOf(found)))],
    body: showWhole(change.after, ctx),
  };
}
