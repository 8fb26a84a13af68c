// Ends proposals without a decision: on expiry, when the credential of the proposer has ended, or when the
// plugin was uninstalled.
import type { Change } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventRow, Actor } from '../../kernel/events/event.ts';
import { rightsNow } from '../me/index.ts';
import { archiveItemsAbout } from '../inbox/index.ts';
import type { DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { nothing, type Reaction } from '../../kernel/event-reactions/reaction.ts';
import type { Authority, Rights } from '../../kernel/rights/rights.ts';
import { allScopes } from '../../kernel/rights/table.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { proposal } from './contract.ts';
import { expiryTimerName, proposalModel, type Proposal } from './model.ts';
import { targetOf } from './make.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import type { proposalTable } from './tables.ts';
import { tableOf } from '../tables.ts';

export const expiryTimer: DueTimer = {
  name: expiryTimerName,
  isSetBy: ({ kind, after }) => kind === proposal.name && (after as Proposal).status === 'open',
  async fire(ctx, id) {
    const current = await proposalModel.find(ctx, id);
    if (!current || current.status !== 'open' || current.expiresAt > ctx.nowMs()) return { changes: [] };
    return { changes: await ended(ctx, current, { status: 'expired', reason: 'expired' }) };
  },
};

type OpenRow = Pick<RowOf<typeof proposalTable>, 'id' | 'actor_json' | 'grant_id'>;

const openOfAuthor = tenantStatement<OpenRow>(
  'proposals.open_of_author',
  `SELECT id, actor_json, grant_id FROM proposals INDEXED BY proposals_author WHERE workspace_id = :ws AND author_id = :author AND status = 'open'`,
);

const installed = tableOf.plugins.select('installed', ['id'], ['id'], 'AND deleted_at IS NULL');

/** Event types that can end the credential or the plugin of a proposal. */
const endings: ReadonlySet<string> = new Set([
  'api_key.revoked',
  'grant.revoked',
  'member.removed',
  'plugin.disabled',
  'plugin.updated',
]);
const everything: Rights = { scopes: new Set(allScopes), narrowed: null };

/**
 * Rejects open proposals of credentials that have ended and plugins that were uninstalled. `decide.ts` checks
 * the credential as well, because this reaction runs later.
 */
export const proposalsOfEnded: Reaction = {
  name: 'proposals',
  subscribesTo: (type) => endings.has(type),
  async react(ctx, event) {
    const author = authorIn(event);
    if (author === null) return nothing;
    const isOfPlugin = event.entityType === 'plugin';
    if (isOfPlugin && (await installed.one(ctx.store, ctx.scope, { id: author }))) return nothing;
    const rows = await ctx.store.read(ctx.scope, openOfAuthor, { author });
    const ids = isOfPlugin ? rows.map(({ id }) => id) : await withoutRights(ctx, rows);
    const changes: Change[] = [];
    for (const one of await proposalModel.findMany(ctx, ids)) {
      const reason = isOfPlugin
        ? `The plugin ${one.authorName} was uninstalled.`
        : `${nameOfProposer(one)} no longer has write access to this workspace.`;
      changes.push(...(await ended(ctx, one, { status: 'rejected', reason })));
    }
    return { changes };
  },
};

/** Returns the ids of the proposals whose credential has ended. Looks up each credential only once. */
async function withoutRights(ctx: Context, rows: readonly OpenRow[]): Promise<string[]> {
  const ids: string[] = [];
  for (const group of Map.groupBy(rows, (row) => `${row.actor_json} ${row.grant_id}`).values()) {
    const [{ actor_json: actor, grant_id: grantId }] = group as [OpenRow];
    const credential = { actor: JSON.parse(actor) as Actor, grantId };
    if (!(await proposerRights(ctx, credential))) ids.push(...group.map(({ id }) => id));
  }
  return ids;
}

interface Proposer {
  readonly actor: Actor;
  readonly grantId: string | null;
}

/** @returns null after the key, grant or membership of the proposer has ended */
export function proposerRights({ store, scope, nowMs }: Context, current: Proposer): Promise<Rights | null> {
  return rightsNow(store, scope, { ...proposerOf(current), rights: everything }, nowMs());
}

export function proposerOf({ actor, grantId }: Proposer): Authority {
  return grantId === null ? { actor } : { actor, grantId };
}

/** Returns the name of the proposer for the start of a sentence. */
export function nameOfProposer({ actor, authorName }: Proposal): string {
  if (actor.kind === 'app') return `The app ${actor.name} of ${authorName}`;
  return actor.kind === 'api_key' ? `The API key ${actor.name} of ${authorName}` : authorName;
}

async function ended(
  ctx: Context,
  current: Proposal,
  how: { readonly status: Proposal['status']; readonly reason: string },
): Promise<Change[]> {
  const now = ctx.nowMs();
  const change = proposalModel.update(current, { ...how, decidedAt: now }, now);
  return [...(change ? [change] : []), ...(await archiveItemsAbout(ctx, targetOf(current)))];
}

function authorIn({ type, entityType, entityId, data }: EventRow): string | null {
  if (type === 'member.removed' || entityType === 'plugin') return entityId;
  return (data as { member?: { id?: string } | null }).member?.id ?? null;
}
