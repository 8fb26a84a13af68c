// Get and list at a past moment for resources with default operations. The list reads every object of the
// resource from the log, so it is suitable for some hundreds of objects.
import { type TObject, type TSchema, Type } from 'typebox';
import { type CursorValue, decodeCursor, encodeCursor } from '../../../platform/lib/cursor.ts';
import { notFound } from '../../../platform/lib/errors/errors.ts';
import { Closed, limitDefault, namedSchema } from '../../../platform/lib/schema.ts';
import { type Page, pageBytesMax, sortedParameters } from '../../../platform/store/page.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { contentParameters, cursorOf, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { type Contract, isRestorable } from '../../contract/contract.ts';
import type { Field } from '../../contract/field.ts';
import { isReference, schemasOf } from '../../contract/schemas.ts';
import { type Deleted, isListed } from '../archived.ts';
import { createQueryFilter } from '../filter/filter.ts';
import type { Filtering } from '../filter/filtering.ts';
import { endsOf, sortingsOf, sortKeysOf } from '../sort.ts';
import { directoryAt, referredIn, renamed } from './names.ts';
import { objectsAt, type Was } from './objects.ts';
import { AsOf, asOfQuery, type Moment, momentOf, toMomentResponse } from './past.ts';

const everOfEntity = tenantStatement<{ id: string }>(
  'as_of.ever_of_kind',
  `SELECT DISTINCT entity_id AS id FROM events INDEXED BY events_object
   WHERE workspace_id = :ws AND issue_id IS NULL AND entity_type = :kind AND sequence <= :at`,
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
interface ReadsAt<W> {
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

/** Identifies the list that a cursor is valid for. */
const listOf = ({ workspaceId }: Context, { path }: Contract, query: PageParameters): string =>
  `${workspaceId} ${path} as of ${JSON.stringify(sortedParameters(contentParameters(query)))}`;

/**
 * Returns the position at which the page starts; null at the start of the list.
 * @throws ApiError invalid_cursor
 */
export function beginOf(ctx: Context, contract: Contract, query: PageParameters): CursorValue[] | null {
  const after = cursorOf(query);
  return after === undefined ? null : decodeCursor(ctx.sealing, listOf(ctx, contract, query), after);
}

interface PageCandidates {
  /** Candidates for the page, in any order. */
  readonly all: readonly Was[];
  readonly keys: readonly AsOfSortKey[];
  /** Result of `beginOf`. */
  readonly begin: readonly CursorValue[] | null;
  /** True if the candidates include the rest of the list. */
  readonly isWhole: boolean;
}

/** Returns a page of a list whose objects are all read from the event log. */
export function pageOfAll(
  ctx: Context,
  contract: Contract,
  query: PageParameters,
  { all, keys, begin, isWhole }: PageCandidates,
): Page<Was> {
  const placed = all
    .map((response) => ({ response, sortValues: sortValuesOf(keys, response) }))
    .filter(({ sortValues }) => begin === null || compared(keys, sortValues, begin) > 0)
    .sort((a, b) => compared(keys, a.sortValues, b.sortValues));
  const page: typeof placed = [];
  let bytes = 0;
  for (const one of placed) {
    if (page.length === (query.limit ?? limitDefault) || bytes > pageBytesMax) break;
    page.push(one);
    bytes += String(one.response.description ?? '').length;
  }
  const last = page.at(-1);
  return {
    data: page.map(({ response }) => response),
    pageInfo: {
      hasNextPage: !isWhole || placed.length > page.length,
      endCursor: last ? encodeCursor(ctx.sealing, listOf(ctx, contract, query), last.sortValues) : null,
    },
  };
}

/** Sort value, never null, with its direction. */
export interface AsOfSortKey {
  readonly of: (response: Was) => string | number;
  readonly direction: 'asc' | 'desc';
}

/** Ascending and descending keys of the names in `sort` that are not plain fields. */
export type SpecialKeys = Readonly<
  Record<string, readonly [ascending: readonly AsOfSortKey[], descending: readonly AsOfSortKey[]]>
>;

/**
 * Returns the sort keys of objects in their public representation. The order is the same as that of rows by
 * `core/kernel/resource/sort.ts`, so that both can be merged.
 * @param sort value that `sortKeysOf` has validated
 */
export function keysOf(contract: Contract, sort: string, special: SpecialKeys = {}): AsOfSortKey[] {
  return sort.split(',').flatMap((term) => {
    const isDescending = term.startsWith('-');
    const name = isDescending ? term.slice(1) : term;
    const own = special[name];
    if (own) return isDescending ? own[1] : own[0];
    return [
      isDescending
        ? { of: valueOf(contract, name, 'below'), direction: 'desc' }
        : { of: valueOf(contract, name, 'above'), direction: 'asc' },
    ];
  });
}

function valueOf(contract: Contract, name: string, missing: 'above' | 'below'): AsOfSortKey['of'] {
  if (name === 'createdAt' || name === 'updatedAt') return (response) => Date.parse(String(response[name]));
  const field = contract.fields[name];
  if (!field || isReference(field)) throw new Error(`${contract.path} cannot be sorted by ${name}.`);
  const [above, below] = endsOf(field);
  const compare = comparedOf(field);
  const end = missing === 'above' ? above : below;
  return ({ [name]: value }) => (value == null ? end : compare(value));
}

const sortedCharacters = 200;

function comparedOf({ type, response }: Field): (value: unknown) => string | number {
  const { enum: words = [] } = response as { enum?: readonly string[] };
  if (type === 'choice') return (value) => words.indexOf(String(value));
  if (type === 'number') return Number;
  if (type === 'day') return String;
  if (type === 'time') return (value) => Date.parse(String(value));
  return (value) => [...String(value)].slice(0, sortedCharacters).join('');
}

/** Returns the sort values of an object, followed by its id. */
export function sortValuesOf(keys: readonly AsOfSortKey[], response: Was): CursorValue[] {
  return [...keys.map(({ of }) => of(response)), response.id];
}

/** Compares two positions by the keys, then by the id, in the direction of the last key. */
export function compared(
  keys: readonly AsOfSortKey[],
  a: readonly CursorValue[],
  b: readonly CursorValue[],
): number {
  for (let at = 0; at < a.length; at++) {
    const order = comparedValues(a[at]!, b[at]!);
    if (order !== 0) return (keys[at] ?? keys.at(-1))?.direction === 'desc' ? -order : order;
  }
  return 0;
}

/** Compares texts by their bytes, as SQLite does. */
function comparedValues(a: CursorValue, b: CursorValue): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}
