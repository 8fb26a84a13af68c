// Operations on the inbox of the calling member.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { listEntities, type PageParameters } from '../../kernel/changes/list.ts';
import { updated } from '../../kernel/changes/operations.ts';
import type { Patch } from '../../kernel/contract/contract.ts';
import type { Context } from '../../kernel/context.ts';
import { invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { readTime } from '../../platform/lib/time/time.ts';
import { requireMember, teamsSeen } from '../../kernel/rights/rights.ts';
import type { Condition } from '../../platform/store/page.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { inboxItem } from './contract.ts';
import { inboxItemModel, type InboxItem, type InboxItemResponse } from './model.ts';

/** Maximum number of items marked as read by one request. */
export const readAtOnce = 500;

/** A guest may have lost access to the team of an issue since the item was created. */
const ofTeams = `(inbox_items.issue_id IS NULL OR EXISTS (SELECT 1 FROM issues AS i
  WHERE i.workspace_id = :ws AND i.id = inbox_items.issue_id AND i.team_id IN (SELECT value FROM json_each(:teams))))`;
/** Condition for the unread items, with `:teams` as `teamsOf` returns them. */
export const isUnread = `read_at IS NULL AND archived_at IS NULL AND snoozed_until IS NULL AND (:teams IS NULL OR ${ofTeams})`;
const unreadIds = tenantStatement<{ id: string }>(
  'inbox_items.unread',
  `SELECT id FROM inbox_items INDEXED BY inbox_items_unread WHERE workspace_id = :ws AND member_id = :memberId AND ${isUnread} LIMIT :limit`,
);
const isOfTeams = tenantStatement<{ id: string }>(
  'inbox_items.of_teams',
  `SELECT id FROM inbox_items WHERE workspace_id = :ws AND id = :id AND ${ofTeams}`,
);

/** Returns the ids of the teams whose issues the caller can see, as JSON; null for all. */
export function teamsOf(ctx: Context): string | null {
  const seen = teamsSeen('issues:read', ctx, ctx.directory);
  return seen && JSON.stringify([...seen]);
}

type Shelf = 'exclude' | 'include' | 'only';

interface InboxQuery extends PageParameters {
  readonly unread?: boolean;
  readonly reason?: string;
  readonly archived?: Shelf;
  readonly snoozed?: Shelf;
}

/** Lists the newest items first. @throws ApiError invalid_cursor, forbidden */
export function listInbox(ctx: Context, query: InboxQuery) {
  const teams = teamsOf(ctx);
  const where: Condition[] = [
    { sql: 'member_id = :memberId', params: { memberId: requireMember(ctx) } },
    ...onShelf('archived_at', query.archived),
    ...onShelf('snoozed_until', query.snoozed),
    ...(teams === null ? [] : [{ sql: ofTeams, params: { teams } }]),
  ];
  if (query.unread !== undefined)
    where.push({ sql: `read_at IS ${query.unread ? '' : 'NOT '}NULL`, params: {} });
  if (query.reason !== undefined) where.push({ sql: 'reason = :reason', params: { reason: query.reason } });
  return listEntities(ctx, inboxItemModel, query, {
    where,
    order: [{ sql: 'happened_at', direction: 'desc' }],
  });
}

function onShelf(column: string, shelf: Shelf = 'exclude'): Condition[] {
  if (shelf === 'include') return [];
  return [{ sql: `${column} IS ${shelf === 'only' ? 'NOT ' : ''}NULL`, params: {} }];
}

/** @throws ApiError not_found, also for items of other members */
async function findOwn(ctx: Context, id: string): Promise<InboxItem> {
  const item = await inboxItemModel.find(ctx, id);
  if (!item || item.memberId !== requireMember(ctx)) throw notFound();
  const teams = teamsOf(ctx);
  if (teams !== null && !(await ctx.store.readOne(ctx.scope, isOfTeams, { id, teams }))) throw notFound();
  return item;
}

export async function getItem(ctx: Context, id: string): Promise<InboxItemResponse> {
  return inboxItemModel.toResponse(await findOwn(ctx, id), ctx);
}

type ItemPatch = Patch<typeof inboxItem> & { readonly read?: boolean; readonly archived?: boolean };

/** Archiving marks an item as read and ends its snooze. */
export async function updateItem(
  ctx: Context,
  id: string,
  { read, archived, snoozedUntil }: ItemPatch,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const item = await findOwn(ctx, id);
  const now = ctx.nowMs();
  const patch: { -readonly [K in keyof InboxItem]?: InboxItem[K] } = {};
  if (read !== undefined) patch.readAt = read ? (item.readAt ?? now) : null;
  if (archived !== undefined) patch.archivedAt = archived ? (item.archivedAt ?? now) : null;
  if (snoozedUntil !== undefined) patch.snoozedUntil = restsUntil(snoozedUntil, now);
  if (archived) Object.assign(patch, { readAt: item.readAt ?? now, snoozedUntil: null });
  return updated(ctx, inboxItemModel, item, patch, ifMatch);
}

/** @throws ApiError validation_failed */
function restsUntil(input: string | null, now: number): number | null {
  if (input === null) return null;
  const until = readTime(input, 'snoozedUntil');
  if (until > now) return until;
  throw invalidField('snoozedUntil', 'too_small', 'Use a time in the future, or null to end the snooze.');
}

/** Marks up to `readAtOnce` unread items as read. Items created in the meantime stay unread. */
export async function readAll(ctx: Context): Promise<ChangeSet> {
  const memberId = requireMember(ctx);
  const rows = await ctx.store.read(ctx.scope, unreadIds, {
    memberId,
    teams: teamsOf(ctx),
    limit: readAtOnce + 1,
  });
  const ids = rows.slice(0, readAtOnce).map(({ id }) => id);
  const now = ctx.nowMs();
  const items = await inboxItemModel.findMany(ctx, ids);
  const changes = items.flatMap(
    (item) => inboxItemModel.update(item, { readAt: item.readAt ?? now }, now) ?? [],
  );
  return { changes, body: { read: changes.length, hasMore: rows.length > readAtOnce } };
}
