// Boards. Values that a board names must exist when the board is written. A value that is deleted later
// leaves an empty column or matches nothing.
import { sameValue, type NewEntity } from '../../kernel/changes/change.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import type { Rules } from '../../kernel/resource/operations.ts';
import { didYouMeanAny } from '../../platform/lib/text/words.ts';
import { namesSeen } from '../../kernel/resource/names/names.ts';
import { issueFiltering, issueOrder } from '../issues/index.ts';
import { state } from '../workflows/contract.ts';
import { board, byHand } from './contract.ts';
import { fieldByName, groupingIn, groupingOf, type GroupKey, type BoardVisibility } from './grouping.ts';
import type { Board } from './model.ts';

type Columns = Pick<Board, 'columns' | 'groupBy' | 'teamId'>;

/** Replaces names of labels and members in columns by ids, and names of options by values. */
function resolveColumns(ctx: Context, { columns, groupBy, teamId }: Columns): Board['columns'] {
  const visibility = visibilityOf(ctx, { teamId });
  const grouping = groupingIn(visibility, groupBy);
  if (!columns || !grouping?.resolve) return columns;
  return columns.map((column, index) =>
    column.value === null
      ? column
      : { ...column, value: grouping.resolve!(ctx, visibility, column.value, `columns.${index}.value`) },
  );
}

export const boardRules: Rules<typeof board, Board> = {
  sets: (ctx, { columns = null, groupBy = 'state', team = null }) =>
    columns === null ? {} : { columns: resolveColumns(ctx, { columns, groupBy, teamId: team }) },
  follows: (ctx, patch, before) =>
    patch.columns ? { columns: resolveColumns(ctx, { ...before, ...patch }) } : {},
  async check(ctx, after, before) {
    // A restored board is accepted as it was stored.
    if (after.deletedAt !== null) return;
    const moved = (...names: (keyof Board)[]): boolean =>
      names.some((name) => !before || !sameValue(before[name], (after as Board)[name]));
    if (moved('filter')) await issueFiltering.conditions(ctx, [{ tree: after.filter, at: 'filter' }]);
    if (moved('sort') && after.sort !== byHand) requireSort(after.sort, ctx.directory);
    if (moved('swimlanes', 'groupBy')) requireTwoGroupings(after);
    const visibility = visibilityOf(ctx, after);
    for (const name of ['groupBy', 'swimlanes'] as const)
      if (moved(name, 'teamId')) requireGrouping(visibility, name, after[name]);
    if (moved('columns', 'groupBy', 'teamId')) requireColumns(ctx, visibility, after);
  },
};

/** @throws ApiError validation_failed */
function requireSort(sort: string, directory: Directory): void {
  try {
    issueOrder(sort, directory);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw invalidField(
      'sort',
      'invalid_enum',
      `Use manual or a sort of issues. ${error.details[0]?.fix ?? ''}`,
    );
  }
}

function visibilityOf(
  { directory }: Context,
  { teamId }: { readonly teamId: string | null },
): BoardVisibility {
  return { directory, teams: teamId === null ? null : new Set([teamId]) };
}

/** @throws ApiError validation_failed */
export function requireTwoGroupings({ groupBy, swimlanes }: Pick<Board, 'groupBy' | 'swimlanes'>): void {
  if (swimlanes === groupBy)
    throw invalidField('swimlanes', 'conflict', {
      why: 'The columns are already grouped by this field.',
      fix: 'Use another grouping, or no swimlanes.',
    });
}

/** @throws ApiError validation_failed */
export function requireGrouping(
  visibility: BoardVisibility,
  at: 'groupBy' | 'swimlanes',
  name: string | null,
): void {
  if (name !== null && !groupingIn(visibility, name))
    throw invalidField(at, 'not_found', {
      why: `The issues of this board have no select, member or checkbox field ${name}.`,
      fix: 'Use a field that GET /api/v1/fields lists.',
    });
}

/** Suggests known values that are similar to an unknown one. */
function meant(ctx: Context, visibility: BoardVisibility, groupBy: string, value: string | null): string {
  const { teams } = visibility;
  const known =
    groupBy === 'state'
      ? namesSeen(ctx, state, 'name', { has: ({ teamId }) => !teams || teams.has(String(teamId)), words: '' })
      : groupBy === 'stateType' || groupBy === 'priority'
        ? groupingOf[groupBy].derived(visibility, new Set()).filter((one) => one !== null)
        : (fieldByName(visibility, groupBy)?.options ?? []).flatMap(({ value: own, name }) => [own, name]);
  return didYouMeanAny(value ?? '', known);
}

/** Requires every column to have a known and unique value. @throws ApiError validation_failed */
function requireColumns(
  ctx: Context,
  visibility: BoardVisibility,
  { columns, groupBy }: NewEntity<Board>,
): void {
  const taken = new Map<GroupKey, number>();
  for (const [index, { value }] of (columns ?? []).entries()) {
    const at = `columns.${index}.value`;
    const keys = groupingIn(visibility, groupBy)?.keysOf(visibility, value) ?? [];
    if (keys.length === 0)
      throw invalidField(at, 'not_found', {
        why: `${value ?? 'null'} is not a value of ${groupBy}.`,
        fix: `Use a value of the board's groupBy, or change the columns to fit it.${meant(ctx, visibility, groupBy, value)}`,
      });
    for (const key of keys) {
      const other = taken.get(key);
      if (other !== undefined)
        throw invalidField(at, 'already_exists', {
          why: `Column ${other} has the same value.`,
          fix: 'Use each value once.',
        });
      taken.set(key, index);
    }
  }
}
