// Derives the routes of the default operations from a contract: path, scope, schemas, examples and
// descriptions.
import type { TObject, TString, TUnsafe } from 'typebox';
import {
  scopeOfContract,
  listPathOf,
  type Contract,
  type Created,
  type Patch,
  type PlainOperation,
} from '../contract/contract.ts';
import { schemasOf } from '../contract/schemas.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { Closed, nameOf, pageQuery } from '../../platform/lib/schema.ts';
import { asOfQueryOf, withMoment } from './as-of/list.ts';
import { deletedQueryOf } from './archived.ts';
import { filterQueryOf } from './filter/filter.ts';
import { htmlQueryOf, includedHtml } from './representation.ts';
import type { Operations } from './operations.ts';
import { sortingsOf, sortQueryOf } from './sort.ts';

type IdParams = TObject<{ id: TString }>;

/** Parts of the routes that do not follow from the contract. */
interface Beyond<C extends Contract> {
  /** Parameters of the list in addition to those of the fields. */
  readonly query?: TObject['properties'];
  /** True if a custom list operation supports only its own order. */
  readonly isOrdered?: boolean;
  readonly updateBody?: TUnsafe<Patch<C>>;
}

interface Making<C extends Contract> extends Beyond<C> {
  readonly contract: C;
  readonly operations: Operations<C>;
}

export function plainRoutes<C extends Contract>(
  contract: C,
  operations: Operations<C>,
  beyond: Beyond<C>,
): Route[] {
  const making = { contract, operations, ...beyond };
  return (Object.keys(contract.operations) as PlainOperation[]).map((name) => makers[name](making));
}

const makers: Readonly<Record<PlainOperation, <C extends Contract>(making: Making<C>) => Route>> = {
  list: ({ contract, operations, query, isOrdered = false }) =>
    defineRoute<IdParams | undefined, TObject>({
      ...wordsOf(contract, 'list'),
      ...below(contract),
      method: 'GET',
      limit: 'read',
      query: Closed({
        ...pageQuery,
        ...filterQueryOf(contract),
        ...deletedQueryOf(contract),
        ...asOfQueryOf(contract),
        ...(isOrdered ? {} : sortQueryOf(sortingsOf(contract))),
        ...htmlQueryOf(contract),
        ...query,
      }),
      responses: { 200: contract.asOf ? withMoment(contract).page : schemasOf(contract).page },
      async read(ctx, { params, query }) {
        const addHtml = includedHtml(contract, query);
        const page = await operations.list(ctx, query, params?.id ?? null);
        return { ...page, data: page.data.map(addHtml) };
      },
    }),
  create: <C extends Contract>({ contract, operations }: Making<C>) =>
    defineRoute<IdParams | undefined, undefined, TUnsafe<Created<C>>>({
      ...wordsOf(contract, 'create'),
      ...below(contract),
      ...exampleOf<Created<C>>(contract.examples?.create),
      method: 'POST',
      limit: 'write',
      body: schemasOf(contract).create,
      responses: { 201: schemasOf(contract).response },
      write: (ctx, { params, body }) => operations.create(ctx, body, params?.id ?? null),
    }),
  get: ({ contract, operations }) =>
    defineRoute<IdParams, TObject | undefined>({
      ...wordsOf(contract, 'get'),
      ...one(contract),
      ...queryOf({ ...htmlQueryOf(contract), ...asOfQueryOf(contract) }),
      method: 'GET',
      limit: 'read',
      responses: { 200: contract.asOf ? withMoment(contract).response : schemasOf(contract).response },
      async read(ctx, { params, query = {} }) {
        const addHtml = includedHtml(contract, query);
        return addHtml(await operations.get(ctx, params.id, query.asOf as string | undefined));
      },
    }),
  update: <C extends Contract>({ contract, operations, updateBody }: Making<C>) =>
    defineRoute<IdParams, undefined, TUnsafe<Patch<C>>>({
      ...wordsOf(contract, 'update'),
      ...one(contract),
      ...exampleOf<Patch<C>>(contract.examples?.update),
      method: 'PATCH',
      limit: 'write',
      body: updateBody ?? schemasOf(contract).update,
      responses: { 200: schemasOf(contract).response },
      write: (ctx, { params, body, ifMatch }) => operations.update(ctx, params.id, body, ifMatch),
    }),
  delete: ({ contract, operations }) =>
    defineRoute<IdParams>({
      ...wordsOf(contract, 'delete'),
      ...one(contract),
      ...deletion(contract),
      method: 'DELETE',
      limit: 'write',
      responses: { 204: null },
      write: (ctx, { params, ifMatch }) => operations.delete(ctx, params.id, ifMatch),
    }),
  restore: ({ contract, operations }) =>
    defineRoute<IdParams>({
      ...wordsOf(contract, 'restore'),
      ...one(contract, '/restore'),
      ...deletion(contract),
      method: 'POST',
      limit: 'write',
      responses: { 200: schemasOf(contract).response },
      write: (ctx, { params, ifMatch }) => operations.restore(ctx, params.id, ifMatch),
    }),
};

function wordsOf(contract: Contract, operation: PlainOperation) {
  const { path, operations, ofTeam, ofMember } = contract;
  const facts = operations[operation] ?? '';
  const words = withFinality(contract, operation, typeof facts === 'string' ? { summary: facts } : facts);
  const reads = operation === 'list' || operation === 'get';
  return {
    name: `${path}.${operation}`,
    scope: scopeOfContract(contract, reads ? 'read' : 'write'),
    ...(ofTeam ? { rows: 'team' as const } : ofMember ? { rows: 'member' as const } : {}),
    ...words,
  };
}

/** Adds a note to the description of operations that cannot be undone. */
function withFinality(
  { undo, operations }: Contract,
  operation: PlainOperation,
  words: { readonly summary: string; readonly description?: string },
) {
  const ends = operation === 'delete' && undo === 'operations' && !operations.restore;
  const final = typeof undo === 'object' && (operation === 'delete' || operation === 'update');
  if (!ends && !final) return words;
  const said = typeof undo === 'object' ? undo.never : 'This cannot be undone.';
  return { ...words, description: words.description ? `${words.description} ${said}` : said };
}

function one(contract: Contract, suffix = '') {
  return { path: `/api/v1/${contract.path}/{id}${suffix}`, params: Closed({ id: nameOf(contract) }) };
}

function below(contract: Contract) {
  const { parent } = contract;
  return { path: listPathOf(contract), ...(parent ? { params: Closed({ id: nameOf(parent) }) } : {}) };
}

function queryOf(properties: TObject['properties']): { query?: TObject } {
  return Object.keys(properties).length === 0 ? {} : { query: Closed(properties) };
}

/** The cast is safe: `defineContract` checks that the examples match the fields. */
function exampleOf<B>(example: object | undefined): { example?: B } {
  return example === undefined ? {} : { example: example as B };
}

function deletion({ retainsDeleted }: Contract): { writes?: readonly string[] } {
  return retainsDeleted ? { writes: ['deletedAt'] } : {};
}
