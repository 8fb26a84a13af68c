// A resource: its contract, and in code what it does beyond the plain. What is special stands in the same folder as a plain
// function, and wins over what is derived.
import type { TObject, TUnsafe } from 'typebox';
import type { AnyKind, Kind } from '../changes/kind.ts';
import type { Entity } from '../changes/change.ts';
import type { Contract, Patch, Shown } from '../contract/contract.ts';
import type { Route } from '../http/route.ts';
import { directoryLoaderOf, type DirectoryLoader } from './directory.ts';
import { filteringOf, type Filtering } from './filtering.ts';
import { plainOperations, type Operations, type Rules } from './operations.ts';
import { plainRoutes } from './routes.ts';

export interface Definition<C extends Contract, E extends Entity> extends Rules<C, E> {
  /** Operations that are not the plain ones. */
  readonly operations?: Partial<Operations<C>>;
  /** Routes beyond the plain ones, or in place of those of the same name. */
  readonly routes?: readonly Route[];
  /** Parameters of its list beside those that its fields give. */
  readonly query?: TObject['properties'];
  /** The body of its update, where that is more than its fields. */
  readonly updateBody?: TUnsafe<Patch<C>>;
  /** What it filters by, where that is more than its fields say. */
  readonly filtering?: Filtering;
}

/** A resource with its types erased, as the registry holds it. */
export interface Resource {
  readonly contract: Contract;
  readonly kind: AnyKind;
  /** Where the directory holds its objects. */
  readonly directory: DirectoryLoader | undefined;
  readonly routes: readonly Route[];
  readonly filtering: Filtering;
}

export function defineResource<C extends Contract, E extends Entity>(
  contract: C,
  kind: Kind<E, Shown<C>>,
  definition: Definition<C, E> = {},
): Resource {
  checkPlain(contract, definition.operations ?? {});
  const filtering = definition.filtering ?? filteringOf(contract, kind);
  const plain = plainOperations(contract, kind, definition, filtering);
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
    kind,
    directory: directoryLoaderOf(kind),
    routes: inOrder([...derived.filter(({ name }) => !names.has(name)), ...special]),
    filtering,
  };
}

/** @throws Error where a plain operation could only fail */
function checkPlain({ name, operations, events, keepsDeleted }: Contract, own: object): void {
  const { created, updated, deleted, restored } = events;
  const eventOf = { create: created, update: updated, delete: deleted, restore: restored };
  for (const [operation, event] of Object.entries(eventOf)) {
    if (!(operation in operations) || operation in own) continue;
    if (event === undefined) throw new Error(`${name} has the operation ${operation}: name its event.`);
    if (!keepsDeleted && /^(delete|restore)$/.test(operation))
      throw new Error(
        `${name} has the operation ${operation}: say keepsDeleted, and give its table deleted_at.`,
      );
  }
}

const plainOrder = ['list', 'create', 'get', 'update', 'delete', 'restore'];

/** As people look for them: the plain operations first, whoever defines them. */
function inOrder(routes: readonly Route[]): Route[] {
  const place = ({ name }: Route): number => {
    const at = plainOrder.indexOf(name.slice(name.indexOf('.') + 1));
    return at < 0 ? plainOrder.length : at;
  };
  return routes.toSorted((a, b) => place(a) - place(b));
}
