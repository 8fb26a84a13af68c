// Defines a resource by its contract and the code beyond the default operations. Custom code is in the folder
// of the resource as plain functions, and overrides derived code.
import type { TObject, TUnsafe } from 'typebox';
import type { AnyModel, EntityModel } from '../changes/model.ts';
import type { Entity } from '../changes/change.ts';
import type { Contract, Patch, EntityResponse } from '../contract/contract.ts';
import type { Route } from '../http/route.ts';
import { directoryLoaderOf, type DirectoryLoader } from './directory.ts';
import { filteringOf, type Filtering } from './filter/filtering.ts';
import { plainOperations, type Operations, type Rules } from './operations.ts';
import { plainRoutes } from './routes.ts';

export interface Definition<C extends Contract, E extends Entity> extends Rules<C, E> {
  /** Operations that replace the default ones. */
  readonly operations?: Partial<Operations<C>>;
  /** Routes that are added, or replace default ones of the same name. */
  readonly routes?: readonly Route[];
  /** Parameters of the list in addition to those of the fields. */
  readonly query?: TObject['properties'];
  /** Body of the update, if it has more than the fields. */
  readonly updateBody?: TUnsafe<Patch<C>>;
  /** Filters, if there are more than the fields define. */
  readonly filtering?: Filtering;
}

/** Resource with its types erased, for the registry. */
export interface Resource {
  readonly contract: Contract;
  readonly model: AnyModel;
  /** Loader of the directory section; undefined for a resource that is not in the directory. */
  readonly directory: DirectoryLoader | undefined;
  readonly routes: readonly Route[];
  readonly filtering: Filtering;
}

export function defineResource<C extends Contract, E extends Entity>(
  contract: C,
  model: EntityModel<E, EntityResponse<C>>,
  definition: Definition<C, E> = {},
): Resource {
  checkPlain(contract, definition.operations ?? {});
  const filtering = definition.filtering ?? filteringOf(contract, model);
  const plain = plainOperations(contract, model, definition, filtering);
  const operations = { ...plain, ...definition.operations };
  const special = definition.routes ?? [];
  const names = new Set(special.map(({ name }) => name));
  const { query, updateBody } = definition;
  const derived = plainRoutes(contract, operations, {
    ...(query && { query }),
    ...(updateBody && { updateBody }),
    isOrdered: definition.operations?.list !== undefined,
  });
  return {
    contract,
    model,
    directory: directoryLoaderOf(model),
    routes: inOrder([...derived.filter(({ name }) => !names.has(name)), ...special]),
    filtering,
  };
}

/** @throws Error if a default operation lacks its event, or the column for deleted rows */
function checkPlain({ name, operations, events, retainsDeleted }: Contract, own: object): void {
  const { created, updated, deleted, restored } = events;
  const eventOf = { create: created, update: updated, delete: deleted, restore: restored };
  for (const [operation, event] of Object.entries(eventOf)) {
    if (!(operation in operations) || operation in own) continue;
    if (event === undefined) throw new Error(`${name} has the operation ${operation}: name its event.`);
    if (!retainsDeleted && /^(delete|restore)$/.test(operation))
      throw new Error(
        `${name} has the operation ${operation}: set retainsDeleted, and give its table deleted_at.`,
      );
  }
}

const plainOrder = ['list', 'create', 'get', 'update', 'delete', 'restore'];

/** Lists the default operations first, even if custom routes replace them. */
function inOrder(routes: readonly Route[]): Route[] {
  const rank = ({ name }: Route): number => {
    const at = plainOrder.indexOf(name.slice(name.indexOf('.') + 1));
    return at < 0 ? plainOrder.length : at;
  };
  return routes.toSorted((a, b) => rank(a) - rank(b));
}
