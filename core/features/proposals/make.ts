// Creates a proposal with its sealed writes, and inbox items for the members who may decide on it.
import type { RequestedWrite, StagedWrite } from '../../kernel/changes/staging.ts';
import { sealedFor, type SealedFor, type Sealing } from '../../platform/lib/secrets/sealing.ts';
import type { Change } from '../../kernel/changes/change.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import type { Actor, Cause } from '../../kernel/events/event.ts';
import { adminsOf, itemsFor } from '../inbox/index.ts';
import type { Ids } from '../../platform/lib/ids.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { proposal } from './contract.ts';
import { diffOf, titleOf, type Differ } from './diff.ts';
import { proposalModel, showWhole, type Proposal } from './model.ts';
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Propose } from '../../kernel/http/write.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';

/** Time until an undecided proposal expires. */
const openMs = 7 * dayMs;

interface SealingDeps {
  readonly sealing: Sealing;
  readonly workspaceId: string;
}

interface Making extends SealingDeps {
  readonly ids: Ids;
  readonly directory: Directory;
  readonly nowMs: number;
}

interface Proposing {
  readonly committer: Differ['committer'];
  readonly planned: Differ['planned'];
  readonly actor: Actor;
  /** Id of the grant of a proposing app. */
  readonly grantId?: string | undefined;
  readonly cause: Cause | null;
  /** Plugin run that proposed; null for an API request. */
  readonly run: { readonly id: string; readonly installId: string } | null;
  readonly writes: readonly StagedWrite[];
  /** Additional sentence for the inbox items. */
  readonly note?: string | undefined;
}

interface ProposalChanges {
  readonly proposal: Change & { readonly after: Proposal };
  readonly items: readonly Change[];
}

/** @returns null if the writes have no effects */
export function makeProposal(proposing: Proposing, making: Making): ProposalChanges | null {
  const { actor, cause, run, writes } = proposing;
  const { directory, nowMs } = making;
  const diff = diffOf(writes, { ...proposing, directory });
  if (diff.length === 0) return null;
  const id = making.ids.next(proposal.id);
  const created = proposalModel.create({
    id,
    status: 'open',
    source: run ? 'plugin_run' : 'request',
    ...authorOf({ actor, directory }, 'author'),
    installId: run?.installId ?? null,
    runId: run?.id ?? null,
    ...contentOf(writes, diff, { making, id, actor }),
    revision: 1,
    actor,
    grantId: proposing.grantId ?? null,
    cause,
    decidedByKind: null,
    decidedById: null,
    decidedByName: null,
    decidedAt: null,
    reason: null,
    events: [],
    expiresAt: nowMs + openMs,
    createdAt: nowMs,
    undoneBy: null,
    updatedAt: nowMs,
  });
  return { proposal: created, items: itemsAbout(created.after, proposing.note, making) };
}

export function contentOf(
  writes: readonly StagedWrite[],
  diff: Proposal['diff'],
  { making, id, actor }: { readonly making: SealingDeps; readonly id: string; readonly actor: Actor },
) {
  return {
    title: titleOf(diff, actor.kind === 'plugin' ? actor.name : null),
    diff,
    issueIds: [...new Set(diff.flatMap(({ issueId }) => issueId ?? []))],
    writesSealed: sealWrites(making.sealing, making.workspaceId, id, writes),
  };
}

export function makingIn(ctx: Context): Making {
  const { ids, sealing, workspaceId, directory } = ctx;
  return { ids, sealing, workspaceId, directory, nowMs: ctx.nowMs() };
}

export const targetOf = ({ id }: Proposal) => ({ kind: proposal.name, id });

/** Returns inbox items for the admins, and for the member that a proposing app or key acted for. */
function itemsAbout(
  created: Proposal,
  note: string | undefined,
  { ids, directory, nowMs }: Making,
): Change[] {
  const { kind, memberId, name } = created.actor;
  const who = kind === 'app' ? `${name}, for ${created.authorName},` : created.authorName;
  const item = {
    kind: 'proposal_made' as const,
    reason: 'proposal' as const,
    title: `${who} proposes a change`,
    body: `${created.title}. Approve or reject it; it expires after seven days.${note === undefined ? '' : ` ${note}`}`,
    target: targetOf(created),
  };
  const admins = adminsOf(directory).filter((id) => kind !== 'user' || id !== memberId);
  const requesters = (kind === 'app' || kind === 'api_key') && memberId !== undefined ? [memberId] : [];
  return itemsFor([...new Set([...admins, ...requesters])], item, { ids, nowMs });
}

/** `Tatami-Mode: propose`: stores a planned API write as a proposal. */
export function createPropose(committer: Committer): Propose {
  return (now, write, sinceMs) => {
    const { actor, cause, authority } = now;
    const planned = { since: sinceMs, until: now.nowMs() };
    const created = makeProposal(
      { committer, planned, actor, grantId: authority.grantId, cause, run: null, writes: [write] },
      makingIn(now),
    );
    if (!created)
      throw new ApiError(
        'conflict',
        'Nothing to propose: this request changes no object that a proposal can show. Send it without the header Tatami-Mode.',
      );
    const { after, id } = created.proposal;
    return {
      changes: [created.proposal, ...created.items],
      body: showWhole(after, now),
      status: 202,
      location: `${now.baseUrl}/api/v1/proposals/${id}`,
    };
  };
}

/** Seals the recorded writes, because a body may contain secrets, which the API shows masked. */
export function sealWrites(
  sealing: Sealing,
  workspaceId: string,
  id: string,
  writes: readonly RequestedWrite[],
): string {
  const requests = writes.map(({ operation, input, ids }) => ({ operation, input, ids }));
  return seal(sealing, JSON.stringify(requests), sealedFor('proposal', workspaceId, id));
}

export function openWrites(
  sealing: Sealing,
  workspaceId: string,
  { id, writesSealed }: { readonly id: string; readonly writesSealed: string },
): readonly RequestedWrite[] {
  return JSON.parse(open(sealing, writesSealed, sealedFor('proposal', workspaceId, id))) as RequestedWrite[];
}

const seal = (sealing: Sealing, text: string, purpose: SealedFor): string =>
  Buffer.from(sealing.seal(text, purpose)).toString('base64');
const open = (sealing: Sealing, sealed: string, purpose: SealedFor): string =>
  sealing.open(new Uint8Array(Buffer.from(sealed, 'base64')), purpose);
