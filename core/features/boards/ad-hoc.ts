// Boards of one request: the issues of a list in columns, without a stored board. A card has no position of its
// own, because only stored boards have ranks.
import type { Context } from '../../kernel/context.ts';
import { findTeam } from '../../kernel/resource/names/teams.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import {
  issueOrder,
  selectionConditions,
  selectionQuery,
  withIssueVisibility,
  type SelectionQuery,
} from '../issues/index.ts';
import { cardsOfColumn, firstCards, type CardsQuery, type OfColumn } from './cards.ts';
import { byHand } from './contract.ts';
import { resolveSettings, type BoardSettings, type ResolvedBoard } from './layout.ts';
import { requireGrouping, requireTwoGroupings } from './operations.ts';

interface SettingsQuery extends SelectionQuery {
  groupBy?: string;
  swimlanes?: string;
  sort?: string;
}

/** @throws ApiError validation_failed, budget_exceeded */
export async function issueBoard(ctx: Context, query: SettingsQuery & CardsQuery) {
  const visibleCtx = withIssueVisibility(ctx);
  return firstCards(visibleCtx, await resolveQuery(visibleCtx, query), query);
}

/**
 * @throws ApiError not_found, also for a column or lane that the board does not have; validation_failed,
 * invalid_cursor, budget_exceeded
 */
export async function issueBoardColumn(ctx: Context, key: string, query: SettingsQuery & OfColumn) {
  const visibleCtx = withIssueVisibility(ctx);
  return cardsOfColumn(visibleCtx, await resolveQuery(visibleCtx, query), key, query);
}

/**
 * @param ctx context whose `visibleTeams` are the teams in which the caller may read issues
 * @throws ApiError validation_failed, budget_exceeded
 */
async function resolveQuery(ctx: Context, query: SettingsQuery): Promise<ResolvedBoard> {
  const { team, groupBy = 'state', swimlanes = null, sort = '-createdAt' } = query;
  requireTwoGroupings({ groupBy, swimlanes });
  requireSort(ctx, sort);
  const conditions = await selectionConditions(ctx, query);
  const teamId = team === undefined ? null : (findTeam(ctx.directory, team)?.id ?? null);
  const settings: BoardSettings = { id: null, teamId, groupBy, columns: null, swimlanes, sort };
  const selection = Object.keys(selectionQuery).map((name) => [name, query[name as keyof SelectionQuery]]);
  const contents = { ...Object.fromEntries(selection), groupBy, swimlanes, sort };
  const resolved = resolveSettings(ctx, settings, { conditions, contents });
  requireGrouping(resolved, 'groupBy', groupBy);
  requireGrouping(resolved, 'swimlanes', swimlanes);
  return resolved;
}

/** @throws ApiError validation_failed */
function requireSort({ directory }: Context, sort: string): void {
  if (sort === byHand)
    throw invalidField('sort', 'invalid_enum', {
      why: 'Only stored boards have a manual order.',
      fix: 'Use a sort of issues such as -priority, or create a board.',
    });
  issueOrder(sort, directory);
}
