// Objects of favorites. Each read checks again that the caller may see them, because an object can be deleted,
// become personal or move to another team after it became a favorite.
import type { Context } from '../../kernel/context.ts';
import { teamsSeen } from '../../kernel/rights/rights.ts';
import { boardModel } from '../boards/index.ts';
import { cycleModel } from '../cycles/index.ts';
import { issueModel } from '../issues/index.ts';
import { projectModel } from '../projects/index.ts';
import { releaseModel } from '../releases/index.ts';
import { isVisibleView, viewModel } from '../views/index.ts';
import type { favoriteTypes } from './contract.ts';

type FavoriteType = (typeof favoriteTypes)[number];

interface Target {
  readonly id: string;
  readonly deletedAt: number | null;
}
interface TargetResponse {
  readonly title?: string;
  readonly name?: string;
  readonly identifier?: string | null;
  readonly url: string | null;
}

interface TargetSource<E extends Target> {
  readonly model: {
    find(ctx: Context, id: string): Promise<E | undefined>;
    findMany(ctx: Context, ids: readonly string[]): Promise<E[]>;
    toResponse(entity: E, ctx: Context): TargetResponse;
  };
  readonly scope: string;
  /** Field that is the title of the favorite. */
  readonly title: 'title' | 'name';
  /** Condition in addition to scope and teams; default true. */
  isVisible?(ctx: Context, entity: E): boolean;
}

interface Finder {
  /** Finds an object by id or identifier; undefined unless the caller may see it. */
  find(ctx: Context, id: string): Promise<Shown | undefined>;
  /** Returns the objects that the caller may see. */
  findMany(ctx: Context, ids: readonly string[]): Promise<Shown[]>;
}

/** Parts of an object that its favorite shows. */
interface Shown {
  readonly id: string;
  readonly title: string;
  readonly identifier: string | null;
  readonly url: string | null;
}

function finderOf<E extends Target>({ model, scope, title, isVisible }: TargetSource<E>): Finder {
  const mayRead = ({ scopes, narrowed }: Context): boolean => {
    if (scopes.has(scope)) return true;
    const narrowing = narrowed?.get(scope);
    return narrowing !== undefined && (narrowing.fields?.includes(title) ?? true);
  };
  const visible = (ctx: Context): Context => ({ ...ctx, visibleTeams: teamsSeen(scope, ctx, ctx.directory) });
  const shownOf = (ctx: Context, entity: E | undefined): Shown[] => {
    if (!entity || entity.deletedAt !== null || isVisible?.(ctx, entity) === false) return [];
    const response = model.toResponse(entity, ctx);
    const { identifier = null, url } = response;
    return [{ id: entity.id, title: response[title] ?? '', identifier, url }];
  };
  return {
    async find(ctx, id) {
      return mayRead(ctx) ? shownOf(ctx, await model.find(visible(ctx), id))[0] : undefined;
    },
    async findMany(ctx, ids) {
      if (ids.length === 0 || !mayRead(ctx)) return [];
      return (await model.findMany(visible(ctx), ids)).flatMap((entity) => shownOf(ctx, entity));
    },
  };
}

export const targetsOf: Readonly<Record<FavoriteType, Finder>> = {
  issue: finderOf({ model: issueModel, scope: 'issues:read', title: 'title' }),
  view: finderOf({ model: viewModel, scope: 'views:read', title: 'name', isVisible: isVisibleView }),
  board: finderOf({ model: boardModel, scope: 'boards:read', title: 'name' }),
  project: finderOf({ model: projectModel, scope: 'projects:read', title: 'name' }),
  cycle: finderOf({ model: cycleModel, scope: 'cycles:read', title: 'name' }),
  release: finderOf({ model: releaseModel, scope: 'releases:read', title: 'name' }),
};
