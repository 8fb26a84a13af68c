// Get and list at a past moment for resources with default operations. The list reads every object of the
// resource from the log, so it is suitable for some hundreds of objects.
import { Type, type TObject, type TSchema } from 'typebox';
import type { PageParameters } from '../../changes/read/list.ts';
import type { Context } from '../../context.ts';
import { isRestorable, type Contract } from '../../contract/contract.ts';
import { schemasOf } from '../../contract/schemas.ts';
import { notFound } from '../../../platform/lib/errors/errors.ts';
import { Closed, namedSchema } from '../../../platform/lib/schema.ts';
import type { Page } from '../../../platform/store/page.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { isListed, type Deleted } from '../deleted.ts';
import { createQueryFilter } from '../filter/filter.ts';
import type { Filtering } from '../filter/filtering.ts';
import { sortingsOf, sortKeysOf } from '../sort.ts';
import { beginOf, pageOfAll } from './list.ts';
import { AsOf, asOfQuery, momentOf, toMomentResponse, type Moment } from './moment.ts';
import { directoryAt, referredIn, renamed } from './names.ts';
import { objectsAt, type Was } from './objects.ts';
import { keysOf } from './sorting.ts';

const everOfEntity = tenantStatement<{ id: string }>(
  'as_of.ever_of_kind',
  `SELECT DISTINCT entity_id AS id FROM events INDEXED BY events_object
   WHERE workspace_id = :ws AND issue_id IS NULL AND entity_kind = :kind AND sequence <= :at`,
);

/** Returns the parameter of get and list; none for a resource that cannot be read at a past moment. */
export function asOfQueryOf({ asOf }: Contract): TObject['properties'] {
  return asOf ? asOfQuery : {};
}

/** Returns the response schemas with the optional `asOf`: the time of the shown state. */
export function withMoment(contract: Contract): { response: TSchema; page: TSchema } {
  const asOf = { asOf: Type.Optional(AsOf) };
  const schemas = schemasOf(contract);
  const { properties: own } = schemas.response as TSchema as TObject;
  const response = namedSchema(`${contract.title}AsOf`, Closed({ ...own, ...asOf }));
  const { properties } = schemas.page as TObject;
  return { response, page: namedSchema(`${contract.title}AsOfPage`, Closed({ ...properties, ...asOf })) };
}

/** @throws ApiError not_found, validation_failed, invalid_cursor */
export interface ReadsAt<W> {
  get(ctx: Context, id: string, asOf: string): Promise<W>;
  list(ctx: Context, query: Query, asOf: string): Promise<Page<W>>;
}

type Query = PageParameters & { readonly deleted?: Deleted } & Readonly<Record<string, unknown>>;

/** @param isAmong applies the list's own parameters to an object at a past moment */
export function readsAt<W>(
  contract: Contract,
  filtering: Filtering,
  isAmong: (query: Query, was: Was) => boolean = () => true,
): ReadsAt<W> {
  const filterIn = createQueryFilter(contract);
  const isListedAt = (was: Was, deleted: Deleted | undefined): boolean =>
    !isRestorable(contract) || isListed(deleted, deletedIn(was));
  return {
    async get(ctx, id, asOf) {
      const moment = await momentOf(ctx, asOf);
      const was = (await objectsAt(ctx, contract, [id], moment)).get(id);
      if (!was || !isListedAt(was, 'exclude') || !isSeen(ctx, contract, was)) throw notFound();
      const directory = await directoryAt(ctx, moment, referredIn(contract, was));
      return { ...renamed(contract, was, directory), asOf: toMomentResponse(moment) } as W;
    },
    async list(ctx, query, asOf) {
      const moment = await momentOf(ctx, asOf);
      const then = await contextAt(ctx, moment);
      const tree = filterIn(then.directory, query);
      const passes = await filtering.passes(then, tree === null ? [] : [{ tree, at: '' }]);
      const sort = typeof query.sort === 'string' ? query.sort : sortOf(contract);
      // An invalid `sort` is rejected as in a list of the current state.
      if (query.sort !== undefined) sortKeysOf(sortingsOf(contract), sort);
      const begin = beginOf(then, contract, query);
      const params = { kind: contract.name, at: moment.sequence };
      const ids = (await ctx.store.read(ctx.scope, everOfEntity, params)).map(({ id }) => id);
      const all = [...(await objectsAt(ctx, contract, ids, moment)).values()]
        .filter((was) => isSeen(ctx, contract, was) && isListedAt(was, query.deleted) && isAmong(query, was))
        .map((was) => renamed(contract, was, then.directory))
        .filter(passes);
      const keys = keysOf(contract, sort);
      const page = pageOfAll(then, contract, query, { all, keys, begin, isWhole: true });
      return { ...page, asOf: toMomentResponse(moment) } as Page<W>;
    },
  };
}

/** Returns the default order of the list in the syntax of `sort`. */
function sortOf({ order = 'oldest' }: Contract): string {
  if (typeof order !== 'string') return order.join();
  return order === 'newest' ? '-createdAt' : 'createdAt';
}

/** Returns the context of the caller at a moment, with the names and the time of that moment. */
export async function contextAt(ctx: Context, moment: Moment): Promise<Context> {
  return {
    ...ctx,
    directory: await directoryAt(ctx, moment),
    nowMs: () => moment.atMs,
    asOf: moment.sequence,
  };
}

/** Returns true if the caller can see the team that the object had, or if the object had no team. */
export function isSeen({ visibleTeams, directory }: Context, { ofTeam }: Contract, { team }: Was): boolean {
  if (!ofTeam || visibleTeams === null || team === null) return true;
  const id = typeof team === 'object' ? (team as { id: string }).id : idOfKey(directory, String(team));
  return visibleTeams.has(id);
}

function idOfKey({ teams }: Context['directory'], key: string): string {
  return [...teams.values()].find((one) => one.key === key)?.id ?? '';
}

/** Returns the time of deletion as rows store it, in milliseconds. */
export const deletedIn = ({ deletedAt }: Was): { deletedAt: number | null } => ({
  deletedAt: typeof deletedAt === 'string' ? Date.parse(deletedAt) : null,
});
